"""Which algorithms run on a projection, in which order, with which options."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import Algorithm
from pgs_neo4j.gds import Communities, Projection, detect_communities
from tests.unit.gds.conftest import MakeGDS

Ran = list[tuple[str, str, dict[str, Any]]]


class FakeClient:
    """Notes each algorithm with its target and options; modularity is 0.1 per call so far."""

    def __init__(self) -> None:
        self.ran: Ran = []
        for name in ("leiden", "louvain", "wcc"):
            setattr(self, name, SimpleNamespace(mutate=self._mutate(name)))

    def _mutate(self, name: str) -> Any:
        def mutate(graph: object, target: str, **options: Any) -> object:
            self.ran.append((name, target, options))
            return SimpleNamespace(modularity=len(self.ran) / 10)

        return mutate


async def detect(
    make_gds: MakeGDS, algorithm: Algorithm, edges: int = 4, **view: Any
) -> tuple[Communities, Ran, Any]:
    client = FakeClient()
    gds = make_gds(client, read_labels=[{"ids": [9, 2, 5], "communities": [1, 0, 1]}])
    graph: Any = SimpleNamespace(relationship_count=lambda: edges, name=lambda: "pgs_1")
    result = await detect_communities(
        gds, Projection(graph, **view), algorithm, seed=7, concurrency=2
    )
    return result, client.ran, gds.db


async def test_communities_come_in_the_order_of_ids(make_gds: MakeGDS) -> None:
    result, _, db = await detect(make_gds, "louvain")
    assert (result.ids.tolist(), result.labels.tolist()) == ([2, 5, 9], [0, 1, 1])
    assert db.params("read_labels") == [{"name": "pgs_1", "property": "community"}]


async def test_leiden_takes_the_seed(make_gds: MakeGDS) -> None:
    result, ran, _ = await detect(make_gds, "leiden")
    assert [(name, target) for name, target, _ in ran] == [("leiden", "community")]
    assert ran[0][2] == {
        "random_seed": 7,
        "relationship_types": ["*"],
        "relationship_weight_property": "weight",
        "concurrency": 2,
    }
    assert result.modularity == pytest.approx(0.1)


async def test_louvain_begins_from_nothing(make_gds: MakeGDS) -> None:
    _, ran, _ = await detect(make_gds, "louvain", weight=None)
    assert [name for name, _, _ in ran] == ["louvain"]
    assert ran[0][2]["seed_property"] is None
    assert ran[0][2]["relationship_weight_property"] is None


async def test_louvain_polishes_leiden_and_its_result_counts(make_gds: MakeGDS) -> None:
    result, ran, db = await detect(make_gds, "leiden-louvain")
    assert [(name, target) for name, target, _ in ran] == [
        ("leiden", "community"),
        ("louvain", "community_polished"),
    ]
    assert ran[1][2]["seed_property"] == "community"
    assert result.modularity == pytest.approx(0.2)
    assert db.params("read_labels")[0]["property"] == "community_polished"


@pytest.mark.parametrize("algorithm", ["leiden", "louvain", "leiden-louvain"])
async def test_without_relationships_each_component_is_a_community(
    make_gds: MakeGDS, algorithm: Algorithm
) -> None:
    result, ran, _ = await detect(make_gds, algorithm, edges=0)
    assert ran == [("wcc", "community", {"concurrency": 2})]
    assert result.modularity == 0.0


async def test_a_seeded_projection_grows_from_its_partitions(make_gds: MakeGDS) -> None:
    result, ran, _ = await detect(make_gds, "leiden-louvain", types=("TIES",), seeded=True)
    assert ran[0] == ("wcc", "seed", {"concurrency": 2, "relationship_types": ["PGS_IN"]})
    assert [(name, target) for name, target, _ in ran[1:]] == [("louvain", "community")]
    assert ran[1][2]["seed_property"] == "seed"
    assert ran[1][2]["relationship_types"] == ["TIES"]
    assert result.modularity == pytest.approx(0.2)
