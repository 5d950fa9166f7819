"""Whether a text holds what is wanted: whole words, in any of their forms."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.matching import Page, SearchTerms, filters, forms, pattern

terms = st.text(max_size=40)
texts = st.text(max_size=200)


@pytest.mark.parametrize(
    ("term", "text", "held"),
    [
        ("cat", "Cats sleep.", True),
        ("theories", "a theory", True),
        ("parsing", "the parser", True),
        ("retry", "max_retries", True),
        ("timeout", "asyncio.timeout(3)", True),
        ("timeout", "setTimeout", True),
        ("github", "on GitHub", True),
        ("mRNA", "an mRNA vaccine", True),
        ("catalysis of ammonia", "the catalysis, of Ammonia", True),
        ("max_retries", "max retries", True),
        ("überschuss", "ein ÜBERSCHUSS", True),
        ("量子", "古典と量子もつれ", True),
        ("istanbul", "in İstanbul and Istanbul", True),
        ("cat", "concatenate the catalog", False),
        ("mRNA", "some RNA", False),
        ("orbital debris", "orbital decay and debris", False),
        ("getTimeout", "get a timeout", False),
        ("the of", "the of", False),
        ("", "anything", False),
        ("C++", "C++", False),
    ],
)
def test_a_text_holds_whole_words_in_any_form(term, text, held):
    page = Page.of(text)
    assert page.holds(term) is held
    assert all(part in page.lowered for part in filters(term)) or not held


def test_so_many_terms_as_needed_count():
    page = Page.of("iron and gold")
    assert page.counts(SearchTerms(("iron", "gold", "zinc"), 2))
    assert not page.counts(SearchTerms(("iron", "gold", "zinc"), 3))
    assert not page.counts(SearchTerms(("iron",), 0))
    assert not page.counts(SearchTerms(("iron", "+"), 2))


def test_the_longest_words_are_asked_for_first():
    assert SearchTerms(("ion", "hippocampus", "memory"), 2).usable == (
        "hippocampus",
        "memory",
        "ion",
    )


@pytest.mark.parametrize("text", ["a" * 200_000, "cat" * 60_000, "cat_" * 50_000, "ca t" * 50_000])
@pytest.mark.timeout(5)
def test_a_hostile_text_takes_time_in_proportion(text):
    assert not Page.of(text).holds("cat dog")
    assert not Page.of(text).holds("catdog")


@given(terms, texts)
def test_whatever_a_text_holds_contains_the_filters(term, text):
    page = Page.of(text)
    if page.holds(term):
        assert all(part in page.lowered for part in filters(term))
    page.counts(SearchTerms((term, "other"), 1))
    assert bool(forms(term)) == bool(filters(term))


@given(st.lists(st.sampled_from(["iron", "Gold", "of", "arXiv", "city", "ion"]), max_size=12))
def test_a_text_holds_its_own_words_and_its_phrases(said):
    text = " ".join(said)
    page = Page.of(text)
    assert all(page.holds(word) for word in said if word != "of")
    assert page.holds(text) == bool(forms(text))


def test_a_pattern_is_closer_than_the_filters():
    def matches(term, text):
        spelled = pattern(term).replace("(?sU)", "(?s)")
        return re.fullmatch(spelled, text.lower()) is not None

    assert matches("ion", "an ion.")
    assert matches("ion", "x_ions_y")
    assert matches("orbital debris", "orbital\n debris")
    assert matches("catalysis of ammonia", "catalysis of the ammonia")
    assert matches("量子", "古典と量子もつれ")
    assert not matches("ion", "formation")
    assert not matches("orbital debris", "debris orbital")
