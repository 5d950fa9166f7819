"""Many descriptions become one in a tree whose groups depend on their hashes alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.documents.enrich.describe import summarize_tree
from pgs_neo4j.documents.fold.tallies import (
    JOINED_FRAGMENTS,
    JOINED_TOKENS,
    MOST_FRAGMENTS,
    are_long,
)
from pgs_neo4j.graph.hashes import text_hash


async def calls_for(fragments: Sequence[str]) -> list[tuple[str, ...]]:
    """What each call is told. A summary is a word for what it is told."""
    told: list[tuple[str, ...]] = []

    async def summarize(parts: Sequence[str]) -> str:
        told.append(tuple(parts))
        return f"S{text_hash(repr(parts))}"

    text = await summarize_tree(sorted(fragments, key=text_hash), summarize)
    assert text == f"S{text_hash(repr([*told[-1]]))}"
    return told


def said(count: int, words: int = 5) -> list[str]:
    return [f"It is number {n} {'of many things ' * words}".strip() for n in range(count)]


@given(st.integers(1, 200), st.integers(1, 60))
async def test_every_description_is_told_once(count: int, words: int) -> None:
    calls = await calls_for(said(count, words))
    told = [part for call in calls for part in call]
    assert sorted(part for part in told if part.startswith("It")) == sorted(said(count, words))
    assert len([part for part in told if part.startswith("S")]) == len(calls) - 1


async def test_a_hub_takes_few_calls_and_none_but_the_last_is_told_little() -> None:
    assert len(await calls_for(said(MOST_FRAGMENTS))) <= 3
    *groups, _ = await calls_for(said(200, 20))
    assert groups
    assert all(are_long(group) for group in groups)


@pytest.mark.parametrize("count", [30, 64, 200])
async def test_a_change_of_one_redoes_one_path(count: int) -> None:
    before = {*await calls_for(said(count, 30))}
    changed = await calls_for([*said(count, 30)[1:], "It is new and nothing else."])
    # The groups that one description left and came to, each with those above it.
    assert len({*changed} - before) <= 4
    assert len(changed) - len({*changed} - before) >= len(before) - 4


@pytest.mark.parametrize(
    ("fragments", "long"),
    [
        ([], False),
        (["word " * 9999], False),
        (said(JOINED_FRAGMENTS - 1), False),
        (said(JOINED_FRAGMENTS), True),
        (["word " * JOINED_TOKENS, "It is."], True),
    ],
)
def test_from_eight_or_from_1200_tokens_descriptions_are_long(
    fragments: list[str], *, long: bool
) -> None:
    assert are_long(fragments) is long
