from __future__ import annotations

from itertools import pairwise

import pytest

from pgs_neo4j.text.sentences.ends import LONGEST, cut_long, sentence_starts


def split(text: str) -> list[str]:
    starts = [start for start, _ in sentence_starts(text, 0, len(text))]
    return [text[one:other].strip() for one, other in pairwise([*starts, len(text)])]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("See e.g. The Times", 1),
        ("No. 5 is alive", 1),
        ("J. R. R. Tolkien", 1),
        ("In the U.S. Congress", 1),
        ("Gen. Lee and Capt. Kirk", 1),
        ("what? no capital follows", 1),
        ("version 1.2. of it", 1),
        ("1. First item", 1),
        ("http://a.b/c.D", 1),
        ("One. 2 more.", 2),
        ("One.) Two.", 2),
        ("One. (Two.) [Three.]", 3),
        ("One. *Two.* `Three.`", 3),
        ("Is it? Yes! Fine… Good.", 4),
        ("One. ¿Dos? Tres.", 3),
        ("3. One. Two.", 2),
    ],
)
def test_sentences_end_where_a_reader_sees_an_end(text: str, count: int) -> None:
    assert len(split(text)) == count


def test_a_part_of_the_text_is_split_without_the_rest() -> None:
    text = "Aa. Bb. Cc. Dd."
    assert [start for start, _ in sentence_starts(text, 4, 11)] == [4, 8]


def test_short_text_is_not_cut() -> None:
    assert list(cut_long("x" * LONGEST, 0, LONGEST)) == [(0, False)]


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("word " * 1000, " "),
        ("row of words\n" * 300, "\n"),
        ("x" * 5000, "x"),
        ("ab" * 3000, "a"),
    ],
)
def test_long_text_is_cut_before_lines_words_or_letters(text: str, before: str) -> None:
    places = [start for start, long in cut_long(text, 0, len(text)) if long]
    assert len(places) > 1
    assert all(other - one <= LONGEST for one, other in pairwise([*places, len(text)]))
    assert {text[place - 1] for place in places[1:]} == {before}
