"""The words of texts are read in order, and those of recent texts are kept."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pgs_neo4j.search.paths import own_index
from pgs_neo4j.search.paths.own_index import PER_TEXT, RecentTokens
from pgs_neo4j.text.terms.rescoring import Tokens, read_tokens

TEXTS = ["The co-operation of high glaciers", "", "maxRetries", "氷河が溶ける", "glaciers"] * 2
COLUMNS = ("families", "terms", "texts", "common", "in_row")


def are_same(one: Tokens, other: Tokens) -> bool:
    """Whether two texts have the same words."""
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)


@pytest.mark.parametrize("most", [0, 3 * PER_TEXT, 10_000])
def test_kept_words_are_those_that_are_read(most: int) -> None:
    recent = RecentTokens(most)
    for texts in (TEXTS[:2], TEXTS, TEXTS[::-1], [], TEXTS[3:]):
        assert are_same(recent.read(texts), read_tokens(texts))
        assert recent.size <= most


def test_a_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def read(texts: Sequence[str]) -> Tokens:
        asked.extend(texts)
        return read_tokens(texts)

    monkeypatch.setattr(own_index, "read_tokens", read)
    recent = RecentTokens(2 * PER_TEXT + 2)
    for texts in (["ice", "court"], ["ice", "ice"], ["moraine"], ["ice"], ["court"]):
        recent.read(texts)
    assert asked == ["ice", "court", "moraine", "court"]


def test_a_word_is_common_or_followed_by_the_next_in_its_own_text_only() -> None:
    tokens = read_tokens(["high glacier", "glacier, high"])
    assert tokens.common.tolist() == [True, False, False, True]
    assert tokens.in_row.tolist() == [True, False, True, False]
    assert tokens.texts.tolist() == [0, 0, 1, 1]
    assert tokens.families[1] == tokens.families[2]


def test_threads_share_what_is_kept() -> None:
    recent = RecentTokens(20 * PER_TEXT)
    texts = [f"glacier{number} and court{number % 7}" for number in range(60)]
    parts = [texts[start : start + 9] for start in range(50)] * 4
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(recent.read, parts)]
    assert all(map(are_same, found, map(read_tokens, parts)))
    assert recent.size <= 20 * PER_TEXT
