"""Finds pairs of names whose entities are near each other by their vectors: Big Blue and IBM."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.ingest.arbiter.pairs import Pair
from pgs_neo4j.ingest.embed.texts import read_space
from pgs_neo4j.ingest.fold.contribution import Named

LEAST_COSINE = 0.85
"""Cosine from which two entities of a type are near."""
MOST_READ = 20_000
"""Entities of a graph whose vectors are compared; in a larger graph, none are."""
NEAREST = 5
"""Pairs of each entity with entities that come after it in the alphabet."""
PAGE = 1000

Vectors = Mapping[Named, NDArray[np.float32]]


async def read_vectors(db: Database, graph: str) -> dict[Named, NDArray[np.float32]]:
    """Return the vectors ``(d,)`` of entities by the names that lead them.

    None are returned if there are more than ``MOST_READ``. Raises DatabaseError.
    """
    found: dict[Named, NDArray[np.float32]] = {}
    space = await read_space(db, graph)
    if space is None:
        return found
    after, query = "", queries.get("ingest/names/read_vectors")
    while True:
        rows = await db.read(query, graph=graph, model=space.model, after=after, limit=PAGE)
        for row in rows:
            found[row["key"], row["type"]] = np.asarray(row["vector"], np.float32)
        if len(found) > MOST_READ:
            return {}
        if len(rows) < PAGE:
            return found
        after = rows[-1]["id"]


def near_pairs(vectors: Vectors) -> dict[Pair, float]:
    """Return pairs of one type whose cosine is at least ``LEAST_COSINE``, with their cosines.

    An entity has at most ``NEAREST`` with those after it, the nearest ones.
    """
    by_type: dict[tuple[str, int], list[Named]] = defaultdict(list)
    for named in sorted(vectors):
        by_type[named[1], len(vectors[named])].append(named)
    found: dict[Pair, float] = {}
    for names in by_type.values():
        rows = np.stack([vectors[named] for named in names])
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        for at, row in enumerate(rows[:-1]):
            cosines = rows[at + 1 :] @ row
            for place in np.argsort(-cosines, kind="stable")[:NEAREST]:
                if cosines[place] >= LEAST_COSINE:
                    found[names[at], names[at + 1 + place]] = float(cosines[place])
    return found
