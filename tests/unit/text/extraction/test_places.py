from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.text.extraction.places import FoldedText, fold_name, is_form, roots_of


def exact(text: str, name: str) -> list[str]:
    folded = FoldedText(text)
    spans = folded.spans(folded.exact(name, 0, len(folded.text)))
    return [text[start:end] for start, end in spans]


def inflected(text: str, name: str) -> list[str]:
    folded = FoldedText(text)
    spans = folded.spans(folded.inflected(name, 0, len(folded.text)))
    return [text[start:end] for start, end in spans]


def misspelled(text: str, name: str) -> list[str]:
    folded = FoldedText(text)
    return [text[start:end] for start, end in folded.spans(folded.misspelled(name))]


@settings(deadline=None)
@given(st.text(max_size=60))
def test_each_folded_letter_has_a_place(text: str) -> None:
    folded = FoldedText(text)
    assert len(folded.places) == len(folded.text) + 1
    assert folded.places[len(folded.text)] == len(text)
    assert all(one <= other for one, other in pairwise(folded.places))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Ada", "ada"),
        ("A\n\t b", "a b"),
        ("  A  ", " a "),
        ("Stra\u00dfe", "strasse"),
        ("A\u200bb", "ab"),
        ("a\u2014b", "a-b"),
        ("\u201ca\u201d", '"a"'),
        ("\u00a0 x", " x"),
    ],
)
def test_text_is_folded(text: str, folded: str) -> None:
    assert FoldedText(text).text == folded


def test_two_blanks_are_one_and_places_stay_true() -> None:
    text = "New   York\n\n New York"
    assert exact(text, "new york") == ["New   York", "New York"]
    wide = "N\u00e9w   York\n\n N\u00e9w York"
    assert exact(wide, "n\u00e9w york") == ["N\u00e9w   York", "N\u00e9w York"]


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("engines run", "engine", ["engines"]),
        ("query planners", "query planner", ["query planners"]),
        ("query and planner", "query planner", []),
        ("query, planner", "query planner", []),
        ("query-planner", "query planner", ["query-planner"]),
        ("a planner queries", "query planner", []),
        ("the x100s", "x100", []),
    ],
)
def test_other_forms_stand_side_by_side(text: str, name: str, found: list[str]) -> None:
    assert inflected(text, name) == found


def test_forms_are_looked_for_between_two_places() -> None:
    folded = FoldedText("engines and engines and engines")
    assert folded.inflected("engine", 5, 25) == [(12, 19)]
    assert folded.exact("engines", 1, 20) == [(12, 19)]


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("NewYork is", "New York", ["NewYork"]),
        ("by A. Lovelase there", "Lovelace", ["Lovelase"]),
        ("by Lovealce there", "Lovelace", ["Lovealce"]),
        ("by Lovelacee there", "Lovelace", ["Lovelacee"]),
        ("by Ada Lovelase there", "Ada Lovelace", ["Ada Lovelase"]),
        ("by Bda Lovelase there", "Ada Lovelace", []),
        ("by Kovelace there", "Lovelace", []),
        ("by Loveless there", "Lovelace", []),
        ("in Irak there", "Iraq", []),
    ],
)
def test_one_typing_error_in_a_long_word_is_forgiven(
    text: str, name: str, found: list[str]
) -> None:
    assert misspelled(text, name) == found


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("The  Engine", "engine"),
        ("Ada's", "ada"),
        ("The", "the"),
        ("A", "a"),
        ("", ""),
    ],
)
def test_names_are_folded_without_article(name: str, folded: str) -> None:
    assert fold_name(name) == folded


@pytest.mark.parametrize(
    ("word", "other", "same"),
    [
        ("engine", "engines", True),
        ("engine", "engine's", True),
        ("cat", "car", False),
        ("x1000000", "x1000001", False),
        ("receive", "recieve", True),
        ("transformer", "transformed", True),
    ],
)
def test_forms_of_a_word(word: str, other: str, same: bool) -> None:
    assert is_form(word, other) is same


def test_roots_are_of_content_words_and_of_pairs_without_blanks() -> None:
    assert roots_of("The engines of the") == {"engin"}
    assert {"北京", "京大"} <= roots_of("北京大学")
