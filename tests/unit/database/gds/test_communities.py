"""Which algorithms run on a projection, in which order, and which of their results counts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.database.gds import Projection, detect_communities
from tests.unit.database.gds.conftest import MakeGDS


@pytest.mark.parametrize(
    ("view", "edges", "runs"),
    [
        (
            {},
            4,
            [
                ("leiden", "community", ("*",), None),
                ("louvain", "community_polished", ("*",), "community"),
            ],
        ),
        (
            {"types": ("TIES",), "seeded": True},
            4,
            [("wcc", "seed", ("PGS_IN",), None), ("louvain", "community", ("TIES",), "seed")],
        ),
        # Without relationships each component is a community.
        ({}, 0, [("wcc", "community", (), None)]),
    ],
)
async def test_the_last_algorithm_decides_communities_and_modularity(
    make_gds: MakeGDS, view: dict[str, Any], edges: int, runs: list[tuple[Any, ...]]
) -> None:
    ran: list[tuple[Any, ...]] = []

    def client(name: str) -> Any:
        def mutate(graph: object, target: str, **options: Any) -> object:
            types = tuple(options.get("relationship_types", ()))
            ran.append((name, target, types, options.get("seed_property")))
            assert options.get("random_seed", 7) == 7
            return SimpleNamespace(modularity=len(ran) / 10)

        return SimpleNamespace(mutate=mutate)

    algorithms = SimpleNamespace(**{name: client(name) for name in ("leiden", "louvain", "wcc")})
    gds = make_gds(algorithms, read_labels=[{"ids": [9, 2, 5], "communities": [1, 0, 1]}])
    graph: Any = SimpleNamespace(relationship_count=lambda: edges, name=lambda: "pgs_1")
    found = await detect_communities(
        gds, Projection(graph, **view), "leiden-louvain", seed=7, concurrency=2
    )
    assert ran == runs
    assert found.modularity == pytest.approx(len(runs) / 10 if edges else 0.0)
    assert (found.ids.tolist(), found.labels.tolist()) == ([2, 5, 9], [0, 1, 1])
    db: Any = gds.db
    assert db.params("read_labels") == [{"name": "pgs_1", "property": runs[-1][1]}]
