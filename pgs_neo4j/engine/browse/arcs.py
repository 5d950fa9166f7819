"""Reads what links partitions beyond relationships: analogies, and flags of a session."""

from __future__ import annotations

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine.browse.view import HEAD, GraphView, title_of
from pgs_neo4j.model import PartitionAnalogy, PartitionFlag
from pgs_neo4j.pgs.runs import keys

MOST_ARCS = 300
"""Of each kind."""


async def read_analogies(db: Database, view: GraphView) -> tuple[PartitionAnalogy, ...]:
    """Return the pairs of current partitions that analogies link, most links first."""
    rows = await db.read(
        queries.get("engine/browse/read_analogies"),
        graph=view.name,
        labels=list(view.mapping.labels),
        text=view.mapping.text_properties,
        title=view.mapping.title_properties,
        key=view.mapping.key_properties,
        head=HEAD,
        limit=MOST_ARCS,
    )
    return tuple(
        PartitionAnalogy(
            first=row["first"],
            second=row["second"],
            links=row["links"],
            titles=(title_of(row["ends"][0]), title_of(row["ends"][1])),
        )
        for row in rows
    )


async def read_flags(db: Database, graph: str, session: str) -> tuple[PartitionFlag, ...]:
    """Return the flags of a session between current partitions, those of the latest run first."""
    rows = await db.read(
        queries.get("engine/browse/read_flags"),
        graph=graph,
        session=keys.session_uid(graph, session),
        limit=MOST_ARCS,
    )
    return tuple(PartitionFlag(**row) for row in rows)
