"""Shapes that break partitioners, through Neo4j and GDS from the scan to the flip."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable
from itertools import combinations, pairwise
from random import Random

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import GDS, list_leftovers
from pgs_neo4j.engine import catalog
from pgs_neo4j.events import ignore
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.ensure import ensure_partitions
from pgs_neo4j.pgs.partitioning.order import PartitionOrder, PartitionTools
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.search.space import Space
from tests.database import alter, fetch
from tests.graphs import count

DOTS = GraphMapping(labels=("Dot",), relationship_types=("TO",))
WEIGHTED = GraphMapping(labels=("Dot",), relationship_types=("TO",), relationship_weight="w")
CREATE = """
UNWIND range(0, $nodes - 1) AS i CREATE (d:Dot {i: i})
WITH collect(d) AS dots
UNWIND $links AS link
WITH dots[link[0]] AS a, dots[link[1]] AS b, link[2] AS w
CREATE (a)-[:TO {w: w}]->(b)
"""
TINY = """
UNWIND range(1, $pairs) AS i
CREATE (:Dot)-[:TO]->(:Dot) CREATE (:Dot)-[:TO]->(:Dot)-[:TO]->(:Dot)
"""
HOMES = """
MATCH (:PgsGeneration {id: $id})<-[:PGS_PART_OF]-(:PgsPartition)<-[:PGS_IN]-(n:Dot)
WITH n, count(*) AS homes
RETURN homes, count(*) AS nodes
"""
MEMBERS = """
MATCH (:PgsGeneration {id: $id})<-[:PGS_PART_OF]-(p:PgsPartition {level: 0})
RETURN p.id AS id, COUNT { (p)<-[:PGS_IN]-() } AS members ORDER BY id
"""
TORN = """
MATCH (p)<-[:PGS_IN]-(:Dot)-[r:TO]->(:Dot)-[:PGS_IN]->(q) WHERE p <> q
RETURN count(r) AS torn
"""
Link = tuple[int, int] | tuple[int, int, object]
Ensure = Callable[..., Awaitable[Partitioning]]


async def load(db: Database, nodes: int, links: Iterable[Link] = ()) -> None:
    """Nodes 0 to n - 1 and their relationships, the weight of which may be left out."""
    rows = [[*link, None][:3] for link in links]
    await alter(db, CREATE, nodes=nodes, links=rows)


@pytest.fixture
def ensure(db: Database, gds: GDS) -> Ensure:
    """Partitions all dots, after the checks that hold for any graph."""

    async def opened() -> GDS:
        return gds

    async def run(mapping: GraphMapping = DOTS, least: int = 30, most: int = 1800) -> Partitioning:
        config = PGSConfig(min_community_size=least, target_partition_max=most)
        await catalog.add(db, "odd", mapping)
        order = PartitionOrder(graph="odd", mapping=mapping, config=config)
        tools = PartitionTools(db=db, open_gds=opened, space=Space("none"), on_event=ignore)
        made = await ensure_partitions(order, tools)
        await holds_together(db, made, least, most)
        assert await list_leftovers(gds) == []
        again = await ensure_partitions(order, tools)
        assert again.reused
        assert again.generation.id == made.generation.id
        return made

    return run


async def holds_together(db: Database, made: Partitioning, least: int, most: int) -> None:
    """Every node is in exactly one partition, and sizes are what is said and within limits."""
    current = made.generation
    total = await count(db, "(x:Dot)")
    rows = await fetch(db, HOMES, id=current.id)
    assert rows == [{"homes": 1, "nodes": total}]
    rows = await fetch(db, MEMBERS, id=current.id)
    sizes = [row["members"] for row in rows]
    assert sizes == [part.size for part in made.partitions] == list(current.sizes)
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == current.node_count == total
    assert sizes[0] <= most
    small = [part for part in made.partitions if part.size < least and not part.pool]
    assert not small or total < least
    assert current.pooled_nodes == sum(part.size for part in made.partitions if part.pool)
    assert -0.5 <= current.modularity <= 1.0


async def torn(db: Database) -> int:
    """How many relationships lead from one partition to another."""
    rows = await fetch(db, TORN)
    return int(rows[0]["torn"])


def ring(first: int, size: int, *steps: int) -> list[tuple[int, int]]:
    """Links of ``size`` nodes from ``first`` on, each to those so many places further."""
    return [(first + i, first + (i + step) % size) for i in range(size) for step in steps]


@pytest.mark.thorough
async def test_a_star_of_ten_thousand_leaves(db: Database, ensure: Ensure) -> None:
    await load(db, 10_001, ((0, leaf) for leaf in range(1, 10_001)))
    made = await ensure()
    assert 6 <= made.generation.partition_count <= 10
    assert made.generation.pooled_nodes == 0
    torn_ones = made.generation.partition_count - 1  # all but the one that holds the hub
    assert made.generation.issues == {
        "nodes_without_text": 10_001,
        "partitions_in_pieces": torn_ones,
    }


@pytest.mark.thorough
async def test_a_clique_without_a_seam(db: Database, ensure: Ensure) -> None:
    await load(db, 120, combinations(range(120), 2))
    made = await ensure(least=10, most=50)
    assert 3 <= made.generation.partition_count <= 6
    assert made.generation.split == 1
    assert made.generation.issues == {"nodes_without_text": 120}
    links = {len(part.adjacent) for part in made.partitions}
    assert links == {made.generation.partition_count - 1}


@pytest.mark.thorough
async def test_a_path_falls_into_stretches(db: Database, ensure: Ensure) -> None:
    await load(db, 3_000, pairwise(range(3_000)))
    made = await ensure()
    assert 10 <= made.generation.partition_count <= 100
    assert await torn(db) == made.generation.partition_count - 1
    assert made.generation.modularity > 0.9


@pytest.mark.thorough
async def test_two_giant_components_never_share_a_partition(db: Database, ensure: Ensure) -> None:
    random = Random(3)
    links = [*ring(0, 2_500, 1), *ring(2_500, 2_500, 1)]
    for first in (0, 2_500):
        links += [(first + random.randrange(2_500), first + random.randrange(2_500))] * 2
        links += [
            (first + random.randrange(2_500), first + random.randrange(2_500))
            for _ in range(10_000)
        ]
    await load(db, 5_000, links)
    made = await ensure(most=900)
    mixed = (
        "(p:PgsPartition)<-[:PGS_IN]-(x:Dot) WHERE x.i < 2500 "
        "AND EXISTS { (p)<-[:PGS_IN]-(y:Dot) WHERE y.i >= 2500 }"
    )
    assert await count(db, mixed) == 0
    assert made.generation.partition_count >= 6
    assert made.generation.pooled_nodes == 0
    assert made.generation.issues["parallel_relationships"] >= 2


async def test_nothing_but_isolated_nodes(db: Database, ensure: Ensure) -> None:
    await load(db, 5_000)
    made = await ensure()
    assert made.generation.sizes == (1_667, 1_667, 1_666)
    assert all(part.pool for part in made.partitions)
    assert made.generation.issues == {"isolated_nodes": 5_000, "nodes_without_text": 5_000}
    assert made.generation.modularity == 0.0


@pytest.mark.parametrize(
    ("nodes", "links", "issues"),
    [
        (1, [], {"isolated_nodes": 1}),
        (1, [(0, 0)], {"isolated_nodes": 1, "self_loops": 1}),
        (2, [(0, 1), (0, 1)], {"parallel_relationships": 1}),
    ],
)
async def test_one_or_two_nodes(
    db: Database, ensure: Ensure, nodes: int, links: list[Link], issues: dict[str, int]
) -> None:
    await load(db, nodes, links)
    made = await ensure()
    assert made.generation.sizes == (nodes,)
    assert made.generation.issues == {"nodes_without_text": nodes} | issues


def rings(weight: float) -> list[tuple[int, int, float]]:
    """Four rings of 40 with chords, and one link from each to the next."""
    inside = [link for first in range(0, 160, 40) for link in ring(first, 40, 1, 2, 5)]
    return [(a, b, weight) for a, b in [*inside, (0, 40), (40, 80), (80, 120)]]


BAD = (1.0, math.nan, math.inf, -math.inf, "heavy", True, None)
RINGS = rings(1.0)
AGAINST = [(i, (i + 40) % 160, -1e6) for i in range(160)] * 3


@pytest.mark.parametrize(
    ("links", "between", "issues"),
    [
        (rings(0.0), 3, {"zero_relationship_weights": 483}),
        (
            [(a, b, BAD[i % len(BAD)]) for i, (a, b, _) in enumerate(RINGS)],
            3,
            {"relationships_without_weight": 483 * 6 // 7},
        ),
        ([*RINGS, *AGAINST], 483, {"negative_relationship_weights": 480}),
    ],
    ids=["all zero", "no numbers", "negative"],
)
async def test_weights_that_cannot_bind_leave_four_rings(
    db: Database, ensure: Ensure, links: list[Link], between: int, issues: dict[str, int]
) -> None:
    await load(db, 160, links)
    made = await ensure(WEIGHTED, least=10, most=60)
    assert made.generation.sizes == (40, 40, 40, 40)
    assert await torn(db) == between
    assert made.generation.modularity > 0.7
    assert made.generation.issues.items() >= issues.items()


async def test_nodes_that_only_negative_weights_link_tear_nobody_apart(
    db: Database, ensure: Ensure
) -> None:
    await load(db, 200, [*RINGS, *((160 + i, i, -1.0) for i in range(40))])
    made = await ensure(WEIGHTED, least=10, most=60)
    assert made.generation.partition_count == 5
    assert made.generation.modularity > 0.7
    rows = await fetch(
        db,
        "MATCH (p:PgsPartition)<-[:PGS_IN]-(x:Dot) WHERE x.i < 160 "
        "WITH x.i / 40 AS ring, count(DISTINCT p) AS homes RETURN collect(homes) AS homes",
    )
    assert rows == [{"homes": [1, 1, 1, 1]}]


@pytest.mark.thorough
async def test_a_hundred_thousand_tiny_components_stay_whole(db: Database, ensure: Ensure) -> None:
    for _ in range(10):
        await alter(db, TINY, pairs=5_000)
    made = await ensure()
    assert made.generation.node_count == 250_000
    assert made.generation.issues == {"nodes_without_text": 250_000}
    assert all(part.pool for part in made.partitions)
    assert made.generation.partition_count == 140
    assert await torn(db) == 0
