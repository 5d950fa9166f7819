"""What GDS computes, and what it refuses before anything is projected."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import Algorithm
from pgs_neo4j.database.gds import Projection, detect_communities, refuse_if_too_large
from pgs_neo4j.errors import GDSMemoryError, QueryError
from tests.unit.database.gds.conftest import MakeGDS

MIB = 2**20
HEAP = [{"max_bytes": 10 * MIB}]
REFUSED = r"1,000 nodes and 5,000 relationships.* 11 MiB.* 10 MiB"


@pytest.mark.parametrize(
    ("algorithm", "louvain_mib", "heap", "refused"),
    [
        ("leiden-louvain", 10, HEAP, False),
        ("leiden-louvain", 11, HEAP, True),
        ("louvain", 11, HEAP, True),
        ("leiden", 11, HEAP, False),
        # A user who may not see the heap is not refused.
        ("louvain", 11, QueryError("not allowed"), False),
        ("louvain", 11, [], False),
    ],
)
async def test_the_largest_need_of_what_runs_is_compared_with_the_heap(
    make_gds: MakeGDS, algorithm: Algorithm, louvain_mib: int, heap: Any, refused: bool
) -> None:
    asked: list[str] = []

    def estimates(name: str, mib: int) -> Any:
        def answer(graph: dict[str, Any], concurrency: int) -> object:
            assert (graph["nodeCount"], graph["relationshipCount"]) == (1000, 5000)
            asked.append(name)
            return SimpleNamespace(bytes_max=mib * MIB)

        return SimpleNamespace(estimate=answer)

    client = SimpleNamespace(
        leiden=estimates("leiden", 5), louvain=estimates("louvain", louvain_mib)
    )
    with pytest.raises(GDSMemoryError, match=REFUSED) if refused else nullcontext():
        await refuse_if_too_large(make_gds(client, read_heap=heap), 1000, 5000, algorithm)
    assert sorted(asked) == algorithm.split("-")


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
