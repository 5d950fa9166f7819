"""Finds relationships between cited nodes of different partitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pgs_neo4j.checking.convergences import Place
from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping

MOST_LINKS = 5_000  # more than any answer can tell
MOST_DEGREE = 10_000  # relationships of a node up to which they are followed from it


async def read_links(
    db: Database, generation: str, mapping: GraphMapping, cited: Iterable[Place]
) -> list[tuple[Place, Place]]:
    """Return connected pairs of ``cited`` nodes, each once, in order.

    There are at most ``MOST_LINKS``. The node of the lower partition comes first; directions do not
    matter, and only the mapping's relationship types count. A pair whose nodes both have more than
    ``MOST_DEGREE`` relationships is not found. Raises DatabaseError.
    """
    ranks: dict[int, set[int]] = defaultdict(set)
    for partition, rank in cited:
        ranks[partition].add(rank)
    if len(ranks) < 2:
        return []
    rows = await db.read(
        queries.get("checking/read_links"),
        generation=generation,
        cited={str(partition): sorted(ranks[partition]) for partition in sorted(ranks)},
        types=list(mapping.relationship_types),
        degree=MOST_DEGREE,
        most=MOST_LINKS,
    )
    return [
        ((row["partition"], row["rank"]), (row["other_partition"], row["other_rank"]))
        for row in rows
    ]
