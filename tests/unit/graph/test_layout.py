"""Places of partitions on the map."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph import layout
from pgs_neo4j.graph.layout import lay_out


def clique(members: range) -> list[tuple[int, int]]:
    return [(one, other) for one in members for other in members if one < other]


def placed(count: int, pairs: list[tuple[int, int]]) -> np.ndarray:
    return lay_out(count, np.array(pairs, np.int64).reshape(-1, 2), np.ones(len(pairs)))


@pytest.mark.parametrize("count", [0, 1, 2, 7, 300])
def test_places_fill_the_unit_square_and_are_the_same_each_time(count: int) -> None:
    pairs = [(i, i + 1) for i in range(count - 1)]
    places = placed(count, pairs)
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()
    assert (places >= -1e-9).all()
    assert (places <= 1 + 1e-9).all()
    assert np.array_equal(places, placed(count, pairs))


def test_neighbors_are_nearer_than_others() -> None:
    first, second = range(10), range(10, 20)
    places = placed(20, [*clique(first), *clique(second), (0, 10)])
    centers = [places[list(group)].mean(axis=0) for group in (first, second)]
    apart = float(np.linalg.norm(centers[0] - centers[1]))
    spreads = [
        float(np.linalg.norm(places[list(group)] - center, axis=1).mean())
        for group, center in zip((first, second), centers, strict=True)
    ]
    assert max(spreads) < apart / 2


def test_nodes_without_neighbors_do_not_lie_on_each_other() -> None:
    places = placed(50, [])
    apart = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    assert apart[~np.eye(50, dtype=bool)].min() > 0.02


def test_more_nodes_than_forces_can_move_stay_on_the_spiral(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = clique(range(10))
    monkeypatch.setattr(layout, "MOST_PLACED", 9)
    assert np.array_equal(placed(10, pairs), placed(10, []))
