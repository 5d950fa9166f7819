"""Analogies by blocks, compared with all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.graph import pairs
from pgs_neo4j.graph.pairs import (
    LEAST_DELTA,
    LEAST_SKELETON,
    PARTNERS,
    find_pairs,
)
from pgs_neo4j.graph.vectors import unit


def planted(mechanisms: int, domains: int, chance: np.random.Generator) -> tuple[NDArray[Any], ...]:
    """Texts of their own words, and skeletons that share a mechanism with some noise."""
    count = mechanisms * domains
    texts = unit(chance.normal(size=(count, 64)).astype(np.float32))
    centers = chance.normal(size=(mechanisms, 64))
    noise = 0.5 * chance.normal(size=(count, 64))
    skeletons = unit((np.repeat(centers, domains, axis=0) + noise).astype(np.float32))
    return texts, skeletons


def by_brute_force(texts: NDArray[Any], skeletons: NDArray[Any]) -> set[tuple[int, int]]:
    alike, raw = skeletons @ skeletons.T, texts @ texts.T
    delta = np.where(alike >= LEAST_SKELETON, alike - raw, -np.inf)
    np.fill_diagonal(delta, -np.inf)
    kept = set()
    for row in range(len(texts)):
        best = sorted(range(len(texts)), key=lambda column: -delta[row, column])[:PARTNERS]
        kept |= {
            (min(row, column), max(row, column))
            for column in best
            if delta[row, column] >= LEAST_DELTA
        }
    return kept


@pytest.mark.parametrize("block", [7, 64, 1024])
def test_blocks_find_what_all_pairs_find(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "BLOCK", block)
    texts, skeletons = planted(30, 5, np.random.default_rng(3))
    found = find_pairs(texts, skeletons)
    assert {*zip(found.first.tolist(), found.second.tolist(), strict=True)} == by_brute_force(
        texts, skeletons
    )
    assert len(found.commonplace) == 0
    assert (found.first < found.second).all()
    assert (found.delta >= LEAST_DELTA - 1e-6).all()


def test_a_skeleton_that_many_match_links_nothing() -> None:
    chance = np.random.default_rng(4)
    texts, skeletons = planted(20, 4, chance)
    empty = np.repeat(unit(chance.normal(size=(1, 64)).astype(np.float32)), 80, axis=0)
    plain = unit(chance.normal(size=(80, 64)).astype(np.float32))
    found = find_pairs(np.vstack([texts, plain]), np.vstack([skeletons, empty]))
    assert found.commonplace.tolist() == [*range(80, 160)]
    true = {(i, j) for i in range(80) for j in range(i + 1, 80) if i // 4 == j // 4}
    kept = {*zip(found.first.tolist(), found.second.tolist(), strict=True)}
    assert len(kept & true) / len(kept) >= 0.9
    assert len(kept & true) / len(true) >= 0.95


def test_what_is_commonplace_depends_on_the_whole_graph() -> None:
    """Twenty alike are many among two hundred nodes, and few among a thousand."""
    chance = np.random.default_rng(5)
    alike = np.repeat(unit(chance.normal(size=(1, 64)).astype(np.float32)), 20, axis=0)
    texts = unit(chance.normal(size=(20, 64)).astype(np.float32))
    assert len(find_pairs(texts, alike, nodes=200).commonplace) == 20
    assert len(find_pairs(texts, alike, nodes=1_000).first) > 0
    assert len(find_pairs(texts, alike).commonplace) == 20
