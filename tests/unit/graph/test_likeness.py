"""Documents that mention the same entities are connected."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.graph import bundles
from pgs_neo4j.graph.bundles import Likeness, find_alike


def alike(mentions: list[tuple[int, int]], rarity: list[float]) -> Likeness:
    both = np.asarray(mentions, dtype=np.int64).reshape(-1, 2)
    return find_alike(both[:, 0], both[:, 1], np.asarray(rarity))


def pairs_of(found: Likeness) -> dict[tuple[int, int], float]:
    ends = zip(found.source.tolist(), found.target.tolist(), strict=True)
    return dict(zip(ends, found.cosine.tolist(), strict=True))


def test_likeness_is_the_cosine_of_what_documents_mention() -> None:
    # Document 1 mentions entity 0 twice, and shares only the common entity 2 with document 2.
    found = alike([(0, 0), (0, 1), (1, 0), (1, 0), (1, 1), (1, 2), (2, 2)], [1.0, 0.5, 0.1])
    one, two = np.log(2), np.log(3)
    zeroth = np.array([one, 0.5 * one, 0.0])
    first = np.array([two, 0.5 * one, 0.1 * one])
    near = zeroth @ first / np.linalg.norm(zeroth) / np.linalg.norm(first)
    far = 0.1 * one / np.linalg.norm(first)
    expected = {(0, 1): near, (1, 0): near, (1, 2): far, (2, 1): far}
    assert pairs_of(found) == pytest.approx(expected)


def test_documents_that_share_nothing_are_not_alike() -> None:
    assert pairs_of(alike([(0, 0), (1, 1), (5, 2), (5, 2)], [1.0, 1.0, 1.0])) == {}
    assert pairs_of(alike([], [])) == {}


def test_each_document_has_its_likest_ones() -> None:
    # All 30 share entity 0; documents 2k and 2k + 1 also share the rarer entity k + 1.
    mentions = [(one, 0) for one in range(30)] + [(one, one // 2 + 1) for one in range(30)]
    found = alike(mentions, [0.2] + [1.0] * 15)
    assert np.bincount(found.source).tolist() == [bundles.LIKEST] * 30
    first = found.target[:: bundles.LIKEST]
    assert first.tolist() == [one ^ 1 for one in range(30)]


def test_rare_entities_are_compared_before_common_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "MOST_PAIRS", 12)
    mentions = [(one, 0) for one in range(20)] + [(3, 1), (4, 1)]
    assert pairs_of(alike(mentions, [0.9, 0.1])).keys() == {(3, 4), (4, 3)}


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 8)), max_size=60), st.integers(1, 40))
def test_blocks_change_nothing(mentions: list[tuple[int, int]], size: int) -> None:
    rarity = [1.0 - at / 10 for at in range(9)]
    whole = alike(mentions, rarity)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundles, "BLOCK", size)
        parts = alike(mentions, rarity)
    assert pairs_of(parts) == pytest.approx(pairs_of(whole))
    assert (whole.source != whole.target).all()
    assert all(0 < one <= 1 + 1e-9 for one in whole.cosine.tolist())
    assert all(a <= b for a, b in pairwise(whole.source.tolist()))
