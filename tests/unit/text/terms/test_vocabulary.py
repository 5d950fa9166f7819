"""Equal words have equal numbers, whatever batch they come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pgs_neo4j.text.terms import vocabulary as module
from pgs_neo4j.text.terms.spans import WordSpans, split_words
from pgs_neo4j.text.terms.vocabulary import Vocabulary


@given(st.lists(st.lists(st.text("abcé1日 ", max_size=20), max_size=5), max_size=5))
def test_a_number_stands_for_one_word(batches: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    numbers: dict[str, int] = {}
    for texts in batches:
        spans = split_words(texts).words
        numbered = vocabulary.number(spans)
        assert numbered.texts.tolist() == spans.texts.tolist()
        for place, number in enumerate(numbered.numbers.tolist()):
            word = spans.spell(place)
            assert numbers.setdefault(word, number) == number
            assert vocabulary.spell(number) == word
    assert sorted(numbers.values()) == list(range(len(vocabulary)))


def test_many_words_are_numbered_without_mistakes() -> None:
    vocabulary = Vocabulary()
    for first in (0, 3_000, 2_000, 40_000):
        texts = [f"w{number}" for number in range(first, first + 10_000)]
        numbers = vocabulary.number(split_words(texts).words).numbers.tolist()
        assert [vocabulary.spell(number) for number in numbers] == texts
    assert len(vocabulary) == 23_000


def test_hashes_that_meet_in_the_table_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    # All begin with the same bits, as in a table of one slot and its neighbors.
    monkeypatch.setattr(module, "hash_words", lambda words: np.uint64(7) + words.texts.view("u8"))
    vocabulary = Vocabulary()
    texts = ["zero", "one", "two", "three"]
    for _ in range(2):
        assert vocabulary.number(split_words(texts).words).numbers.tolist() == [0, 1, 2, 3]


def test_a_column_computes_each_word_once() -> None:
    seen: list[str] = []

    def lengths(words: WordSpans) -> NDArray[Any]:
        seen.extend(map(words.spell, range(len(words))))
        return words.lengths

    vocabulary = Vocabulary()
    assert vocabulary.column(lengths).tolist() == []
    first = vocabulary.number(split_words(["ice melts, ice"]).words)
    assert first.column(lengths).tolist() == [3, 5, 3]
    again = vocabulary.number(split_words(["melts slowly"]).words)
    assert again.column(lengths).tolist() == [5, 6]
    assert sorted(seen) == ["ice", "melts", "slowly"]


@pytest.mark.parametrize("bound", ["MOST_WORDS", "MOST_LETTERS"])
def test_a_vocabulary_is_full_from_a_number_of_words_or_letters(
    monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(module, bound, 3)
    vocabulary = Vocabulary()
    assert not vocabulary.full
    vocabulary.number(split_words(["one two three four"]).words)
    assert vocabulary.full
