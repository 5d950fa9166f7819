"""Which algorithms run on a projection, in which order, with which options."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import Algorithm
from pgs_neo4j.gds import Projection, detect_communities
from tests.unit.gds.conftest import MakeGDS

COMMON = {"concurrency": 2, "relationship_types": ["*"], "relationship_weight_property": "weight"}
LEIDEN = ("leiden", "community", COMMON | {"random_seed": 7})
COMPONENTS = ("wcc", "community", {"concurrency": 2})


def louvain(target: str, seeds: str | None, **more: Any) -> Any:
    return ("louvain", target, COMMON | {"seed_property": seeds} | more)


@pytest.mark.parametrize(
    ("algorithm", "view", "runs"),
    [
        ("leiden", {}, [LEIDEN]),
        ("louvain", {}, [louvain("community", None)]),
        (
            "louvain",
            {"weight": None},
            [louvain("community", None, relationship_weight_property=None)],
        ),
        ("leiden-louvain", {}, [LEIDEN, louvain("community_polished", "community")]),
        (
            "leiden-louvain",
            {"types": ("TIES",), "seeded": True},
            [
                ("wcc", "seed", {"concurrency": 2, "relationship_types": ["PGS_IN"]}),
                louvain("community", "seed", relationship_types=["TIES"]),
            ],
        ),
        # Without relationships each component is a community.
        ("leiden", {"edges": 0}, [COMPONENTS]),
        ("louvain", {"edges": 0}, [COMPONENTS]),
        ("leiden-louvain", {"edges": 0}, [COMPONENTS]),
    ],
)
async def test_the_last_algorithm_decides_communities_and_modularity(
    make_gds: MakeGDS, algorithm: Algorithm, view: dict[str, Any], runs: list[Any]
) -> None:
    ran: list[Any] = []

    def client(name: str) -> Any:
        def mutate(graph: object, target: str, **options: Any) -> object:
            ran.append((name, target, options))
            return SimpleNamespace(modularity=len(ran) / 10)

        return SimpleNamespace(mutate=mutate)

    algorithms = SimpleNamespace(**{name: client(name) for name in ("leiden", "louvain", "wcc")})
    gds = make_gds(algorithms, read_labels=[{"ids": [9, 2, 5], "communities": [1, 0, 1]}])
    parts = dict(view)
    edges = parts.pop("edges", 4)
    graph: Any = SimpleNamespace(relationship_count=lambda: edges, name=lambda: "pgs_1")
    found = await detect_communities(
        gds, Projection(graph, **parts), algorithm, seed=7, concurrency=2
    )
    assert ran == runs
    assert found.modularity == pytest.approx(len(runs) / 10 if edges else 0.0)
    assert (found.ids.tolist(), found.labels.tolist()) == ([2, 5, 9], [0, 1, 1])
    db: Any = gds.db
    assert db.params("read_labels") == [{"name": "pgs_1", "property": runs[-1][1]}]
