"""The same word has the same code points, whatever they were in its text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.search.lookup import sought_terms
from pgs_neo4j.text.gist import search_terms
from pgs_neo4j.text.matching import Page, SearchTerms
from pgs_neo4j.text.normal_form import fold_case, joined_words, normal_form
from pgs_neo4j.text.terms.postings import count_terms, terms_by_text
from tests.scripts import SPELLINGS, Spelling

ODD = st.text(
    "aBe1,. -\n\u00e9\u00dfe\u0301\u0308\ufb01\uff21\u00b2\u2082\u2122\u00ad\u200b\u200d"
    "\u0130\u0131\u03c2\u0901\u0623\u0d7b\u0153\u0967\u1f82\u0435\u064b\u0640\u093c\ud55c\u1100\u1161\u00af\u0390\u03b0"
)


@given(ODD | st.text())
def test_the_form_of_a_form_is_itself_and_lowering_keeps_its_length(text: str) -> None:
    form = normal_form(text)
    assert normal_form(form) == form
    lowered = fold_case(form)
    assert len(lowered) == len(form)
    assert normal_form(lowered) == lowered


@given(ODD | st.text(), ODD | st.text())
def test_only_what_stands_around_a_sign_matters_to_it(before: str, after: str) -> None:
    plain = " a caf\u00e9 of plain words" * 9 + " "
    parts = normal_form(before) + plain + normal_form(after)
    assert normal_form(before + plain + after) == parts


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Plain, with commas, in 1999,200 or 3,14", "Plain, with commas, in 1999,200 or 3,14"),
        ("1,200,300 and 12,500.75", "1200300 and 12500.75"),
        ("1\u202f200 km²", "1200 km2"),
        ("maxRetries İki", "maxRetries Iki"),
        ("Weiß ẞ", "Weiss ss"),
        ("\u0390", "\u03ca"),  # without its accent
    ],
)
def test_what_carries_a_meaning_stays(text: str, form: str) -> None:
    assert normal_form(text) == form


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("stake-\nholders sur-  \r\n  vey", ["stakeholders", "survey"]),
        ("State-of-the-art e\u2010mail", ["stateoftheart", "email"]),
        ("a - b, 2020-11-26, x--y, one-and-two-and-three", []),
        ("well-known", ["wellknown"]),
    ],
)
def test_words_are_joined_where_hyphens_divide_them(text: str, joined: list[str]) -> None:
    assert joined_words(normal_form(text)) == joined


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_word_is_found_in_any_code_points_or_proves_nothing(spelling: Spelling) -> None:
    search = search_terms(spelling.absence)
    assert search.segmented == spelling.found
    if spelling.found:
        assert Page.of(spelling.text).counts(search)
        assert holds_enough(spelling.text, search)
    if spelling.other:
        other = search_terms(spelling.other)
        assert not Page.of(spelling.text).counts(other)
        assert other.segmented == spelling.found


def holds_enough(text: str, search: SearchTerms) -> bool:
    """Whether the index finds a text for a search."""
    held = set(count_terms([text]).terms.tolist())
    sought = sought_terms(search)
    assert sought is not None
    fulfilled = [
        any(all(held.intersection(word) for word in form) for form in term.forms) for term in sought
    ]
    return sum(fulfilled) >= search.needed


def test_a_question_has_the_terms_of_the_text() -> None:
    one, other = terms_by_text(["Die Straße 1,200 co-operation", "die STRASSE 1200 cooperation"])
    assert set(other) <= set(one)
