from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.model.documents import Sentence
from pgs_neo4j.text.chunk_groups import (
    LAST,
    SizedSentence,
    cut_sentence,
    divide,
    end_groups,
    fill_groups,
    hash_ranks,
    similarity_ranks,
    sized,
)
from pgs_neo4j.text.sentences import split_sentences


def ending(text: str, *ends: int) -> list[list[str]]:
    """The sentences of each chunk that ends at these places."""
    parts = end_groups(text, split_sentences(text), ends)
    return [[text[one.sentence.start : one.sentence.end] for one in part] for part in parts]


def test_chunks_end_where_they_are_told_to_also_within_a_sentence() -> None:
    text = "It is. So it was. All."
    assert ending(text, 7, 22) == [["It is. "], ["So it was. ", "All."]]
    assert ending(text, 10, 12, 22) == [["It is. ", "So "], ["it"], [" was. ", "All."]]
    assert ending("") == []
    sizes = [one.size for part in end_groups(text, split_sentences(text), [10, 22]) for one in part]
    assert sizes == [7, 3, 8, 4]


@pytest.mark.parametrize("ends", [(), (5,), (23,), (7, 7, 22), (8, 7, 22), (0, 22), (-1, 22)])
def test_ends_that_do_not_ascend_to_the_end_are_refused(ends: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="must increase, and the last must be 22"):
        ending("It is. So it was. All.", *ends)


@pytest.mark.parametrize(
    ("sizes", "room", "ranks", "groups"),
    [
        # The lowest rank is cut first, of equal ones the middle; half the room stays on both sides.
        ([10] * 6, 30, [5, 5, 0, 5, 5, 5], [(0, 3), (3, 6)]),
        ([10] * 6, 30, [5, 0, 5, 5, 5, 5], [(0, 2), (2, 6)]),
        ([10] * 6, 30, [0, 5, 5, 4, 0, 5], [(0, 4), (4, 6)]),
        ([10] * 8, 40, [1] * 8, [(0, 4), (4, 8)]),
        # What is small, one sentence, or larger than the room is not divided.
        ([10, 10], 20, [0, 0], [(0, 2)]),
        ([1000], 20, [0], [(0, 1)]),
        ([100, 100, 100], 10, [3, 2, 1], [(0, 1), (1, 2), (2, 3)]),
        ([], 20, [], []),
    ],
)
def test_sentences_are_divided_by_rank_and_room(
    sizes: list[int], room: int, ranks: list[int], groups: list[tuple[int, int]]
) -> None:
    found = divide(np.array(sizes, np.int64), room, np.array(ranks, np.int64))
    assert list(found) == groups


@pytest.mark.parametrize("seed", range(5))
def test_groups_cover_all_sentences_within_bounds(seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes, ranks = chance.integers(1, 10, 500), chance.integers(0, 50, 500)
    parts = list(divide(sizes, 60, ranks))
    assert [first for first, _ in parts] == [0, *(last for _, last in parts[:-1])]
    assert parts[-1][1] == 500
    totals = [sizes[first:last].sum() for first, last in parts]
    assert min(totals) >= 30
    assert max(totals) <= 90


def test_many_equal_ranks_are_divided_quickly() -> None:
    parts = list(divide(np.full(50_000, 10, np.int64), 100, np.zeros(50_000, np.int64)))
    assert len(parts) > 3000


def sized_sentences(text: str) -> list[SizedSentence]:
    return list(sized(text, split_sentences(text)))


def test_groups_are_filled_with_whole_sentences() -> None:
    text = "One two. Three four. Five six. "
    filled = list(fill_groups(text, sized_sentences(text), 21, cut=False))
    assert [len(group) for group in filled] == [2, 1]
    alone = list(fill_groups(text, sized_sentences(text), 3, cut=False))
    assert [len(group) for group in alone] == [1, 1, 1]


def test_sentences_are_cut_where_a_group_is_full() -> None:
    text = "One two three four five."
    filled = list(fill_groups(text, sized_sentences(text), 9, cut=True))
    pieces = [text[g[0].sentence.start : g[-1].sentence.end] for g in filled]
    assert pieces == ["One two ", "three ", "four ", "five."]
    assert [g[0].sentence.opens for g in filled] == [True, False, False, False]


def test_a_word_is_cut_only_if_nothing_else_stands_in_the_group() -> None:
    text = "abcdefgh"
    (whole,) = sized_sentences(text)
    assert cut_sentence(text, whole, 3, inside_words=False) is None
    parts = cut_sentence(text, whole, 3, inside_words=True)
    assert parts is not None
    assert [(part.sentence.start, part.sentence.end) for part in parts] == [(0, 3), (3, 8)]


def test_headings_rank_last() -> None:
    text = "# Head\nOne. One.\nTwo."
    split = list(split_sentences(text))
    ranks = hash_ranks(text, split)
    assert ranks[0] == LAST
    assert ranks[1] == ranks[2] != ranks[3]
    vectors = np.eye(len(split))
    assert similarity_ranks(vectors, split)[0] == LAST


def test_the_least_similar_sides_rank_first() -> None:
    rows = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1], [0, 0]], float)
    split = [Sentence(number, number + 1) for number in range(5)]
    ranks = similarity_ranks(rows, split)
    assert ranks.shape == (5,)
    assert int(np.argmin(ranks[:3])) == 1


def test_no_place_is_looked_up_by_converting_all_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = np.searchsorted

    def search(sums: Any, value: Any, **given: Any) -> Any:
        assert np.result_type(sums, value) == sums.dtype
        return looked_up(sums, value, **given)

    monkeypatch.setattr(np, "searchsorted", search)
    sizes, ranks = np.full(1000, 7), np.arange(1000) * 7919 % 1000
    parts = list(divide(sizes, 100, ranks))
    assert [first for first, _ in parts[1:]] == [last for _, last in parts[:-1]]
    assert all(50 <= 7 * (last - first) <= 150 for first, last in parts)
