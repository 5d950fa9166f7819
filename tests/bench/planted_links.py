"""Ways through hubs and analogies that are known because they were planted."""

from __future__ import annotations

from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.pairs import (
    LEAST_DELTA,
    LEAST_SKELETON,
    PARTNERS,
    find_pairs,
)
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.neighbors import find_neighbors, find_through_hubs

Rows = NDArray[np.float32]

HUBS, LEAVES, TURNS = 200, 10_000, 15
MAPPING = GraphMapping(labels=("Spoke",), text=("text",), title="name", embedding="vector")
QUESTION = np.array([1.0, 0.0], np.float32)
# Every second way leads against its relationships, every third through two hubs.
CREATE_HUBS = """
UNWIND range(0, $hubs - 1) AS i
CREATE (a:Spoke {name: 'hit ' + i, text: 'seen', vector: [0.2, 1.0]})
CREATE (b:Spoke {name: 'target ' + i, text: 'unseen', vector: [1.0, 0.2]})
CREATE (h:Hub {name: 'hub ' + i})
CREATE (a)-[:CITES]->(:Spoke {name: 'plain ' + i, text: 'a neighbor', vector: [0.1, 1.0]})
FOREACH (_ IN CASE WHEN i % 2 = 0 THEN [1] ELSE [] END | CREATE (a)-[:ABOUT]->(h))
FOREACH (_ IN CASE WHEN i % 2 = 1 THEN [1] ELSE [] END | CREATE (a)<-[:ABOUT]-(h))
FOREACH (_ IN CASE WHEN i % 3 > 0 THEN [1] ELSE [] END | CREATE (h)<-[:NAMES]-(b))
FOREACH (_ IN CASE WHEN i % 3 = 0 THEN [1] ELSE [] END |
  CREATE (h)-[:BROADER]->(:Hub {name: 'wide ' + i})<-[:NAMES]-(b))
"""
CREATE_LEAVES = """
CREATE (:Spoke {name: 'source', text: 'seen', vector: [0.2, 1.0]})-[:ABOUT]->(h:Hub {name: 'all'})
WITH h UNWIND range(1, $leaves) AS i
CREATE (h)<-[:ABOUT]-(:Spoke {name: 'leaf ' + i, text: 'one of many', vector: [i / 10000.0, 1.0]})
"""
READ_SPOKES = "MATCH (s:Spoke) RETURN s.name AS name, elementId(s) AS id"
DELETE = (
    "MATCH (n) WHERE n:Spoke OR n:Hub CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS"
)

NODES, DIMENSIONS, MECHANISMS, DOMAINS = 20_000, 256, 500, 4
NOISE = 0.35
"""Of a planted skeleton beside its mechanism, so that pairs have a cosine of about 0.9."""


async def measure_hubs(database: Database) -> dict[str, float]:
    """Shares of planted targets that are found, and seconds through a hub with many leaves."""
    await database.call(CREATE_HUBS, {"hubs": HUBS}, "write")
    await database.call(CREATE_LEAVES, {"leaves": LEAVES}, "write")
    _, rows = await database.call(READ_SPOKES, {}, "read")
    ids = {row["name"]: row["id"] for row in rows}
    true = without = 0
    for i in range(HUBS):
        entry = {ids[f"hit {i}"]: 1.0}
        hits = await find_through_hubs(database, MAPPING, entry, QUESTION, 10)
        true += hits.ways.get(ids[f"target {i}"], "") == _way(i)
        near = await find_neighbors(database, MAPPING, entry, 10)
        without += ids[f"target {i}"] in near.scores
    seconds = []
    for _ in range(TURNS):
        began = perf_counter()
        await find_through_hubs(database, MAPPING, {ids["source"]: 1.0}, QUESTION, 100)
        seconds.append(perf_counter() - began)
    await database.call(DELETE, {}, "write")
    return {
        "targets with their true path": true / HUBS,
        "targets without pass-through": without / HUBS,
        f"seconds through a hub of {LEAVES:,} leaves": median(seconds),
    }


def _way(i: int) -> str:
    first = "--[ABOUT]-->" if i % 2 == 0 else "<--[ABOUT]--"
    wide = "" if i % 3 else f"--[BROADER]--> (wide {i}) "
    return f"hit {i} {first} (hub {i}) {wide}<--[NAMES]-- target {i}"


def measure_pairs() -> dict[str, float]:
    """Precision and recall of planted analogies, and seconds beside all pairs at once."""
    chance = np.random.default_rng(13)
    texts = unit(chance.normal(size=(NODES, DIMENSIONS)).astype(np.float32))
    skeletons = unit(chance.normal(size=(NODES, DIMENSIONS)).astype(np.float32))
    count = MECHANISMS * DOMAINS
    centers = unit(chance.normal(size=(MECHANISMS, DIMENSIONS)))
    noise = NOISE * unit(chance.normal(size=(count, DIMENSIONS)))
    skeletons[:count] = unit((np.repeat(centers, DOMAINS, axis=0) + noise).astype(np.float32))
    skeletons[count : 2 * count] = centers[0]  # a commonplace: so many say just this
    began = perf_counter()
    found = find_pairs(texts, skeletons)
    seconds = perf_counter() - began
    true = {
        (first, second)
        for start in range(DOMAINS, count, DOMAINS)  # the first mechanism is the commonplace
        for first in range(start, start + DOMAINS)
        for second in range(first + 1, start + DOMAINS)
    }
    pairs = set(zip(found.first.tolist(), found.second.tolist(), strict=True))
    everything = _all_pairs(texts, skeletons, found.commonplace)
    return {
        "precision of planted analogies": len(pairs & true) / len(pairs),
        "recall": len(pairs & true) / len(true),
        f"equal to all pairs of {NODES:,} at once": float(pairs == everything),
        "seconds": seconds,
    }


def _all_pairs(
    texts: Rows, skeletons: Rows, commonplace: NDArray[np.int64]
) -> set[tuple[int, int]]:
    """Compare all nodes at once, without those that are commonplace."""
    places = np.setdiff1d(np.arange(len(texts)), commonplace)
    delta = skeletons[places] @ skeletons[places].T
    unlike = delta < LEAST_SKELETON
    delta -= texts[places] @ texts[places].T
    delta[unlike] = -np.inf
    np.fill_diagonal(delta, -np.inf)
    best = np.argsort(-delta, axis=1)[:, :PARTNERS]
    kept = np.take_along_axis(delta, best, axis=1) >= LEAST_DELTA
    rows, columns = np.broadcast_to(np.arange(len(places))[:, None], best.shape)[kept], best[kept]
    low, high = places[np.minimum(rows, columns)], places[np.maximum(rows, columns)]
    return set(zip(low.tolist(), high.tolist(), strict=True))
