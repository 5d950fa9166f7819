"""A whole generation built from a scan, with communities a test wrote down."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.gds import Communities
from pgs_neo4j.model import Drift
from pgs_neo4j.partitioning import build
from pgs_neo4j.partitioning.build import build_generation
from pgs_neo4j.partitioning.drift import Comparison
from pgs_neo4j.partitioning.order import BuildTools
from pgs_neo4j.partitioning.predecessor import Predecessor
from tests.unit.partitioning.conftest import (
    build_order,
    build_tools,
    generation_of_sizes,
    ints,
    partition,
    view_of,
)
from tests.unit.partitioning.test_writing import ANSWERS

# Two cliques of four, joined once.
CLIQUES = [(a + f, b + f) for f in (0, 4) for a in range(4) for b in range(a)]
VIEW = view_of(list(range(8)), [*CLIQUES, (3, 4)], tokens=ints(*range(1, 9)))
CONFIG = PGSConfig(min_community_size=2, target_partition_max=8, algorithm="louvain")
ORDER = build_order(CONFIG)


class Communing:
    """Stands in for GDS: notes how it was asked, and answers the communities of a test."""

    def __init__(self, labels: list[int]) -> None:
        self.labels = labels
        self.asked: list[dict[str, Any]] = []

    async def refuse(self, gds: Any, nodes: int, relationships: int, algorithm: str) -> None:
        self.asked.append({"nodes": nodes, "relationships": relationships})

    @asynccontextmanager
    async def project(self, gds: Any, mapping: Any, ids: Any, **how: Any) -> AsyncIterator[Any]:
        self.asked.append(how)
        yield SimpleNamespace()

    async def detect(self, gds: Any, projection: Any, algorithm: str, **how: Any) -> Communities:
        return Communities(VIEW.ids, np.asarray(self.labels), 0.4)


@pytest.fixture
def communing(monkeypatch: pytest.MonkeyPatch) -> Communing:
    communing = Communing([5, 5, 5, 5, 2, 2, 2, 2])
    monkeypatch.setattr(build, "refuse_if_too_large", communing.refuse)
    monkeypatch.setattr(build, "project_view", communing.project)
    monkeypatch.setattr(build, "detect_communities", communing.detect)
    return communing


@pytest.fixture
def tools() -> BuildTools:
    answers = ANSWERS | {
        "create_generations": lambda params: [{"id": params["id"]}],
        "set_current": lambda params: [{"generation": params["generation"]}],
        "read_member_count": [{"members": 8}],
        "set_seeds": [{"marked": 2}],
    }
    return build_tools(**answers)


def previous_of(labels: list[int], *touched: int) -> Predecessor:
    sizes = np.bincount(labels).tolist()
    parts = tuple(partition(n, size, keywords=("old",)) for n, size in enumerate(sizes, 1))
    drift = Drift(committed=True, texts_changed=1, nodes=8, grown=0.25)
    return Predecessor(
        generation_of_sizes(*sizes, common=("data",)),
        parts,
        Comparison(drift, ints(*labels), touched),
    )


def current(tools: BuildTools) -> dict[str, Any]:
    """The properties of the generation that was made current."""
    db: Any = tools.db
    (params,) = db.params("set_current")
    properties: dict[str, Any] = params["properties"]
    return properties


async def test_communities_become_partitions_with_their_figures(
    tools: BuildTools, communing: Communing
) -> None:
    assert await build_generation(ORDER, tools, VIEW, None, seeded=False)
    stored = current(tools)
    assert (stored["origin"], stored["grown"]) == ("cold", 0.0)
    assert stored["fingerprint"] == VIEW.fingerprint("s")
    assert (stored["settings"], stored["token"], stored["embedder"]) == ("s", "t", None)
    assert (stored["node_count"], stored["relationship_count"]) == (8, 13)
    assert (stored["partition_count"], stored["sizes"]) == (2, [4, 4])
    assert stored["raw_modularity"] == 0.4
    assert stored["modularity"] == pytest.approx(12 / 13 - 0.5)
    assert stored["conductance"] == pytest.approx(1 / 13)
    assert communing.asked[0] == {"nodes": 8, "relationships": 13}


async def test_partitions_carry_sizes_tokens_and_neighbors(
    tools: BuildTools, communing: Communing
) -> None:
    await build_generation(ORDER, tools, VIEW, None, seeded=False)
    db: Any = tools.db
    drafts = db.params("write_partitions")[0]["rows"]
    assert [(row["id"], row["size"], row["tokens"]) for row in drafts] == [(1, 4, 10), (2, 4, 26)]
    assert [row["lineage"] for row in drafts] == [row["uid"] for row in drafts]
    links = db.params("write_adjacents")[0]["rows"]
    assert [(link["edges"], link["weight"]) for link in links] == [(1, 1.0), (1, 1.0)]


async def test_a_partition_continues_the_lineage_of_most_of_its_nodes(
    tools: BuildTools, communing: Communing
) -> None:
    previous = previous_of([0, 0, 0, 1, 1, 1, 1, 1])
    await build_generation(ORDER, tools, VIEW, previous, seeded=False)
    db: Any = tools.db
    drafts = db.params("write_partitions")[0]["rows"]
    assert [row["lineage"] for row in drafts] == ["g0:1", "g0:2"]
    assert db.params("write_shared") == []
    assert current(tools)["grown"] == 0.0


async def test_a_seeded_build_shares_what_did_not_change(
    tools: BuildTools, communing: Communing
) -> None:
    previous = previous_of([0, 0, 0, 0, 1, 1, 1, 1], 2)
    await build_generation(ORDER, tools, VIEW, previous, seeded=True)
    db: Any = tools.db
    assert db.params("write_shared")[0]["partitions"] == [1]
    assert [row["id"] for row in db.params("write_partitions")[0]["rows"]] == [2]
    stored = current(tools)
    assert stored["origin"] == "seeded"
    assert stored["grown"] == pytest.approx(0.25 + 1 / 8)
    assert communing.asked[1]["seeds"].count == 2
    assert db.params("delete_seeds") != []


@pytest.mark.parametrize("issues", [{}, {"self_loops": 1}], ids=["clean", "unclean"])
async def test_only_a_clean_view_is_left_to_gds(
    tools: BuildTools, communing: Communing, issues: dict[str, int]
) -> None:
    view = view_of(list(range(8)), CLIQUES, issues=issues)
    previous = previous_of([0] * 4 + [1] * 4)
    await build_generation(ORDER, tools, view, previous, seeded=True)
    assert communing.asked[1]["direct"] is (not issues)
    assert (communing.asked[1]["seeds"] is None) is bool(issues)


async def test_weights_that_are_all_zero_are_projected_alike(
    tools: BuildTools, communing: Communing
) -> None:
    view = view_of(list(range(8)), CLIQUES, weight=np.zeros(12))
    await build_generation(ORDER, tools, view, None, seeded=False)
    assert communing.asked[1]["uniform"] is True
    assert current(tools)["modularity"] == pytest.approx(0.5)


async def test_a_node_that_vanished_leaves_the_current_generation(
    tools: BuildTools, communing: Communing
) -> None:
    db: Any = tools.db
    db.answers["read_member_count"] = [{"members": 7}]
    assert not await build_generation(ORDER, tools, VIEW, None, seeded=False)
    assert db.params("set_current") == []
    assert len(db.params("mark_abandoned")) == 1


async def test_every_step_is_timed_and_stored_but_the_last(
    tools: BuildTools, communing: Communing
) -> None:
    await build_generation(ORDER, tools, VIEW, None, seeded=False)
    steps = ["communities", "enrich", "estimate", "limits", "project", "write"]
    assert sorted(tools.timer.seconds) == sorted([*steps, "flip"])
    assert all(f'"{step}"' in current(tools)["seconds"] for step in steps)
