from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.text.extraction.places import FoldedText, roots_of


def exact(text: str, name: str) -> list[str]:
    folded = FoldedText(text)
    spans = folded.spans(folded.exact(name, 0, len(folded.text)))
    return [text[start:end] for start, end in spans]


@settings(deadline=None)
@given(st.text(max_size=60))
def test_each_folded_letter_has_a_place(text: str) -> None:
    folded = FoldedText(text)
    assert len(folded.places) == len(folded.text) + 1
    assert folded.places[len(folded.text)] == len(text)
    assert all(one <= other for one, other in pairwise(folded.places))


def test_two_blanks_are_one_and_places_stay_true() -> None:
    text = "New   York\n\n New York"
    assert exact(text, "new york") == ["New   York", "New York"]
    wide = "N\u00e9w   York\n\n N\u00e9w York"
    assert exact(wide, "n\u00e9w york") == ["N\u00e9w   York", "N\u00e9w York"]


def test_forms_are_looked_for_between_two_places() -> None:
    folded = FoldedText("engines and engines and engines")
    assert folded.inflected("engine", 5, 25) == [(12, 19)]
    assert folded.exact("engines", 1, 20) == [(12, 19)]


def test_roots_are_of_content_words_and_of_pairs_without_blanks() -> None:
    assert roots_of("The engines of the") == {"engin"}
    assert {"北京", "京大"} <= roots_of("北京大学")
