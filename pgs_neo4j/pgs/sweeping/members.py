"""Reads a partition's members and their relationships, heaviest first."""

from __future__ import annotations

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.stored_data import COUNT, check_stored
from pgs_neo4j.database.typed_columns import FIX
from pgs_neo4j.model import GraphMapping, Node, Partition, Relationship
from pgs_neo4j.text import node_text

# Ranks per statement, a deadline and a retry each: all of a partition within the usual limits,
# since every statement looks at all of its members.
CHUNK = 2000
MOST_CHARACTERS = 500  # of a relationship's name; prompts show fewer


async def read_members(
    db: Database,
    partition: Partition,
    mapping: GraphMapping,
    skip: frozenset[int] = frozenset(),
) -> list[Node]:
    """Return a partition's nodes by rank, without those in ``skip``. Raises StoredDataError."""
    nodes: list[Node] = []
    for first in range(0, partition.size, CHUNK):
        last = min(first + CHUNK, partition.size)
        if skip.issuperset(range(first, last)):
            continue
        rows = await db.read(
            queries.get("pgs/sweeping/read_members"),
            partition=partition.uid,
            first=first,
            last=last,
            text=mapping.text_properties,
            facts=mapping.facts,
            title=mapping.title_properties,
            key=mapping.key_properties,
        )
        nodes += [
            node_text.node(
                rank=check_stored(COUNT, rank, "the rank of a node", FIX),
                element_id=element_id,
                labels=labels,
                text=text,
                title=title,
                key=key,
            )
            for rank, element_id, labels, text, title, key in rows[0]["members"]
            if rank not in skip
        ]
    return nodes


async def read_relationships(
    db: Database, partition: Partition, mapping: GraphMapping
) -> list[Relationship]:
    """Return relationships among a partition's members, by rank.

    Parallel relationships of one type count once, unless their names differ. The facts that they
    state are part of the text of their sources.
    """
    if mapping.relationship_name:
        return await _read_named(db, partition, mapping)
    rows = await db.read(
        queries.get("pgs/sweeping/read_relationships"),
        partition=partition.uid,
        types=list(mapping.relationship_types),
    )
    columns = zip(rows[0]["sources"], rows[0]["targets"], rows[0]["types"], strict=True)
    return [Relationship(*triple) for triple in dict.fromkeys(columns)]


async def _read_named(
    db: Database, partition: Partition, mapping: GraphMapping
) -> list[Relationship]:
    rows = await db.read(
        queries.get("pgs/sweeping/read_named_relationships"),
        partition=partition.uid,
        types=list(mapping.relationship_types),
        name=mapping.relationship_name or "",
        length=MOST_CHARACTERS,
    )
    names = ("sources", "targets", "types", "names")
    columns = zip(*(rows[0][name] for name in names), strict=True)
    return [Relationship(*values) for values in dict.fromkeys(columns)]
