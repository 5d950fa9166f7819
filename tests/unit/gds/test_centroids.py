"""Mean vectors as k-means returns them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.gds import GDS, compute_centroids
from tests.unit.gds.conftest import MakeGDS

MEANS = {"P1": [3.0, -4.0], "P12": [0.0, 0.0]}


def gds_with(make_gds: MakeGDS, matched: bool = True) -> tuple[GDS, list[dict[str, Any]]]:
    projected: list[dict[str, Any]] = []

    def run(text: str, params: dict[str, Any]) -> bool:
        projected.append(params)
        return matched

    def stats(graph: object, feature: str, **options: Any) -> object:
        assert (feature, options["k"]) == ("vector", 1)
        return SimpleNamespace(centroids=[MEANS[options["node_labels"][0]]])

    graph = SimpleNamespace(node_labels=lambda: list(MEANS))
    client = SimpleNamespace(
        graph=SimpleNamespace(get=lambda name: graph), kmeans=SimpleNamespace(stats=stats)
    )
    return make_gds(client, SimpleNamespace(project=run)), projected


async def test_means_come_by_partition_id_as_float32(make_gds: MakeGDS) -> None:
    gds, projected = gds_with(make_gds)
    means = await compute_centroids(gds, "g1", "v", 2, partition_ids=(1, 12))
    assert {key: mean.tolist() for key, mean in means.items()} == {1: [3.0, -4.0], 12: [0.0, 0.0]}
    assert all(mean.dtype == np.float32 for mean in means.values())
    assert projected[0]["partitions"] == [1, 12]
    assert projected[0]["weight"] == ""


async def test_weighted_means_have_a_largest_component_of_one(make_gds: MakeGDS) -> None:
    gds, projected = gds_with(make_gds)
    means = await compute_centroids(gds, "g1", "v", 2, weight="w")
    assert means[1].tolist() == pytest.approx([0.75, -1.0])
    assert means[12].tolist() == [0.0, 0.0]
    assert (projected[0]["partitions"], projected[0]["weight"]) == ([], "w")


async def test_without_a_usable_vector_there_is_no_mean(make_gds: MakeGDS) -> None:
    gds, _ = gds_with(make_gds, matched=False)
    assert await compute_centroids(gds, "g1", "v", 2) == {}
