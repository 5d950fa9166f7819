"""Reads nodes of a view with their texts."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping, Node
from pgs_neo4j.text import node_text

NAMES = ("element_id", "labels", "text", "title", "key")


async def read_nodes(
    db: Database, mapping: GraphMapping, element_ids: Sequence[str]
) -> tuple[Node, ...]:
    """Return nodes with their texts, in order; a node that is gone by now is left out."""
    rows = await db.read(
        queries.get("search/read_nodes"),
        nodes=list(element_ids),
        text=mapping.text_properties,
        facts=mapping.facts,
        title=mapping.title_properties,
        key=mapping.key_properties,
    )
    return tuple(
        node_text.node(rank=rank, **{name: row[name] for name in NAMES})
        for rank, row in enumerate(rows[0]["nodes"])
    )
