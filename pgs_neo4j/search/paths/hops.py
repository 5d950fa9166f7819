"""Finds the neighbors of nodes that were found, ordered by the question and never by degree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.scores.fusion import SPREADERS
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.hits import Hits
from pgs_neo4j.search.paths.text import scores_of


async def find_neighbors(
    db: Database, mapping: GraphMapping, scores: Mapping[str, float], k: int
) -> Hits:
    """Return what the best nodes of ``scores`` add to their neighbors, the ``k`` with most.

    ``scores`` are by element id, best first. A neighbor m gets s(n) · w(n, m) / √(d(n) · d(m)) from
    each of them, with the relationship's weight w and the degrees d. Raises DatabaseError.
    """
    sources = dict(islice(scores.items(), SPREADERS))
    if not sources:
        return Hits("no nodes to walk from")
    rows = await db.read(
        queries.get("search/find_neighbors"),
        sources=list(sources),
        scores=list(map(float, sources.values())),
        types=list(mapping.relationship_types),
        labels=list(mapping.labels),
        weight=mapping.relationship_weight or "",
        k=k,
    )
    return Hits(f"relationships of the {len(sources)} best nodes", scores_of(rows))
