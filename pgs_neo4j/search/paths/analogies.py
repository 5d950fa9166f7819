"""Finds the analogies of nodes: texts with the same mechanism in other words."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.hits import Hits
from pgs_neo4j.search.paths.through import ENTRIES, TITLE
from pgs_neo4j.text.shown import one_line


async def find_analogies(
    db: Database, graph: str | None, mapping: GraphMapping, scores: Mapping[str, float], k: int
) -> Hits:
    """Return the ``k`` best analogies of the best nodes of ``scores``.

    The score of one is that of the node times the cosine of both skeletons. Raises DatabaseError.
    """
    entries = dict(islice(scores.items(), ENTRIES))
    if graph is None or not entries:
        return Hits("no stored graph" if graph is None else "no nodes to begin at")
    rows = await db.read(
        queries.get("search/find_analogies"),
        graph=graph,
        entries=[*entries],
        scores=[float(score) for score in entries.values()],
        labels=list(mapping.labels),
        title=mapping.name_properties,
        k=k,
    )
    if not rows[0]["made"]:
        return Hits(f"no analogies were made; 'pgs analogies --graph {graph}' makes them")
    alike = rows[0]["analogies"]
    return Hits(
        "skeletons of the best nodes",
        {one["element_id"]: one["score"] for one in alike},
        {one["element_id"]: _way(one) for one in alike},
    )


def _way(row: Row) -> str:
    entry, title = (_name(row[end]) for end in ("entry", "title"))
    return f"{entry} ~~[analogy, delta {row['delta']:.2f}]~~ {title}"


def _name(title: object) -> str:
    return one_line(str(title), TITLE) if title is not None else "?"
