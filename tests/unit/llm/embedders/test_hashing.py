"""Vectors of hashed words, by arrays or of one word after the other."""

from __future__ import annotations

import math
import zlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.embedders import hashing
from pgs_neo4j.llm.embedders.hashing import CJK_GRAM, GRAM, GRAM_NORM, HashingEmbedder, TextHasher
from pgs_neo4j.llm.protocol import Embedder
from pgs_neo4j.text.matching import UNSPACED
from pgs_neo4j.text.terms.spans import split_words
from pgs_neo4j.text.terms.vocabulary import Vocabulary
from pgs_neo4j.text.words import stem, words
from tests.thorough import tries

SIZE = 64
TEXTS = st.lists(st.text("abcdeEé 12_.日語\U0001d518", max_size=40), max_size=12)


def slow_row(text: str) -> NDArray[np.float64]:
    """The vector of a text, word by word and feature by feature."""
    row = np.zeros(SIZE)
    for word, times in Counter(words(text)).items():
        length = CJK_GRAM if any(ord(letter) > UNSPACED for letter in word) else GRAM
        marked = f"<{word}>"
        grams = [marked[i : i + length] for i in range(max(1, len(marked) - length + 1))]
        values = [(f"={stem(word)}", 1.0)]
        values += [(gram, GRAM_NORM / math.sqrt(len(grams))) for gram in grams]
        for feature, value in values:
            check = zlib.crc32(feature.encode())
            sign = 1 if check & 1 else -1
            row[(check >> 1) % SIZE] += sign * value * (1 + math.log(times))
    norm = float(np.linalg.norm(row))
    return row / norm if norm > 1e-9 else np.zeros(SIZE)


@settings(max_examples=tries(25, 100))
@given(TEXTS)
def test_rows_are_those_of_a_plain_reading(texts: list[str]) -> None:
    rows = TextHasher(SIZE).rows(texts)
    for text, row in zip(texts, rows, strict=True):
        assert np.allclose(row, slow_row(text), atol=1e-6)


@settings(max_examples=tries(25, 100))
@given(TEXTS)
def test_sums_are_those_of_the_rows_of_each_owner(texts: list[str]) -> None:
    owners = np.arange(len(texts)) // 3 + 5
    hasher = TextHasher(SIZE)
    sums = np.zeros((9, SIZE))
    for owner, total in hasher.sums(Vocabulary().number(split_words(texts).words), owners):
        sums[owner] += total
    for owner in range(9):
        own = [slow_row(texts[place]) for place in np.flatnonzero(owners == owner)]
        assert np.allclose(sums[owner], sum(own, np.zeros(SIZE)), atol=1e-6)


@pytest.mark.parametrize("name", ["BLOCK_NUMBERS", "BLOCK_FEATURES"])
def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    texts = [f"node {i} about sockets number{i} and {'parsers ' * i}" for i in range(30)]
    whole = TextHasher(SIZE).rows(texts)
    monkeypatch.setattr(hashing, name, 3 * SIZE)
    hasher = TextHasher(SIZE)
    assert np.array_equal(hasher.rows(texts), whole)
    assert np.array_equal(hasher.rows(texts), whole)


def test_a_vocabulary_that_is_replaced_makes_no_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = ["glaciers melt", "courts decide", "ice and glaciers"]
    whole = TextHasher(SIZE).rows(texts)
    monkeypatch.setattr("pgs_neo4j.text.terms.vocabulary.MOST_WORDS", 1)
    hasher = TextHasher(SIZE)
    assert np.array_equal(np.concatenate([hasher.rows([text]) for text in texts]), whole)


async def test_rows_are_unit_float32_and_zero_without_content() -> None:
    embedder = HashingEmbedder()
    assert isinstance(embedder, Embedder)
    rows = await embedder.embed(["sockets and events", "the of and", "", "events"])
    assert rows.shape == (4, 2048)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 0, 0, 1])


async def test_values_are_the_same_everywhere_and_nearer_for_shared_words() -> None:
    [row] = await HashingEmbedder(8).embed(["socket"])
    expected = [0.0, 0.0, -0.9325, 0.2085, 0.0, 0.2085, -0.2085, 0.0]
    assert np.allclose(row, expected, atol=1e-3)
    texts = ["parsing of XML documents", "The XML parser reads a document.", "A mutex for threads"]
    rows = await HashingEmbedder().embed(texts)
    near, far = float(rows[0] @ rows[1]), float(rows[0] @ rows[2])
    assert near > 0.5
    assert abs(far) < 0.15


def test_too_few_dimensions_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="PGS_EMBEDDING_DIMENSIONS"):
        HashingEmbedder(4)
