"""Sizes of chunks, and the places at which a sentence may be cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.model.documents import Sentence
from pgs_neo4j.text.chunk_groups import SizedSentence, cut_sentence, size_bytes, sized
from pgs_neo4j.text.chunking import ChunkRules
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN

TEXTS = st.text(st.sampled_from(list("ab .\n\u00e9\u5b57\U0001f600")), min_size=1, max_size=60)


def whole(text: str) -> SizedSentence:
    (one,) = sized(text, [Sentence(0, len(text))])
    return one


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("abc", 3), ("\u00e9", 2), ("\u5b57", 3), ("\U0001f600", 4), ("\ud800", 3)],
)
def test_sizes_are_those_of_utf_8(text: str, count: int) -> None:
    assert size_bytes(text) == count


@given(TEXTS, st.integers(-1, 80), st.booleans())
def test_both_parts_are_the_sentence_and_the_first_fits(
    text: str, room: int, inside_words: bool
) -> None:
    parts = cut_sentence(text, whole(text), room, inside_words=inside_words)
    if parts is None:
        return
    first, rest = parts
    assert (first.sentence.start, rest.sentence.end) == (0, len(text))
    assert 0 < first.sentence.end == rest.sentence.start < len(text)
    assert first.size <= room
    assert first.size + rest.size == size_bytes(text)
    assert first.sentence.opens
    assert not rest.sentence.opens
    if not inside_words:
        assert text[first.sentence.end - 1] in " \n"


@given(TEXTS)
def test_a_letter_always_fits_where_words_may_be_cut(text: str) -> None:
    parts = cut_sentence(text, whole(text), 4, inside_words=True)
    assert parts is not None or size_bytes(text) <= 4


def test_large_documents_have_smaller_chunks_and_less_context() -> None:
    rules = ChunkRules(size=1000, overlap=100, large_size=500, large_bytes=10_000)
    assert (rules.size_for(10_000), rules.size_for(10_001)) == (1000, 500)
    assert rules.room_for(1) == int(1000 * BYTES_PER_TOKEN)
    small, large = rules.overlap_bytes_for(1), rules.overlap_bytes_for(10_001)
    assert large == pytest.approx(small / 2, abs=1)


@given(st.lists(st.integers(0, 10**7), min_size=2), st.integers(0, 5000), st.integers(0, 5000))
def test_chunks_never_grow_with_the_document(sizes: list[int], size: int, large: int) -> None:
    rules = ChunkRules(size=size, large_size=large)
    rooms = [rules.room_for(one) for one in sorted(sizes)]
    assert all(one >= other >= 1 for one, other in pairwise(rooms))
    assert all(rules.overlap_bytes_for(one) >= 0 for one in sizes)


@pytest.mark.parametrize(
    "other",
    [{"strategy": "token"}, {"size": 1}, {"overlap": 1}, {"large_size": 1}, {"large_bytes": 1}],
)
def test_every_rule_is_part_of_the_signature(other: dict[str, object]) -> None:
    assert ChunkRules(**other).signature != ChunkRules().signature  # type: ignore[arg-type]
    assert ChunkRules(**other).signature == ChunkRules(**other).signature  # type: ignore[arg-type]
