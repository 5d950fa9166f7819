"""Reads the neighbors of a node and the members of a partition, page by page.

A node may have millions of relationships. So at most ``MOST`` of them are considered, which takes a
quarter of a second at most, and only the relationships of one page are read.
"""

from __future__ import annotations

from typing import Any

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.stored_data import COUNT, FIX, check_stored
from pgs_neo4j.database.tasks import together
from pgs_neo4j.engine.browse.nodes import (
    HEAD,
    GraphView,
    check_limit,
    title_of,
    unknown_node,
    weight_of,
)
from pgs_neo4j.errors import UnknownPageError
from pgs_neo4j.model import MemberPage, NeighborCount, NeighborPage, NodeNeighbor, PartitionMember
from pgs_neo4j.text.node_text import stated_text

MOST = 200_000  # relationships of one node
LONGEST_FACT = 1000  # characters
FIRST = 4  # relationships to try in the first round, per neighbor of a page
GROWTH = 20  # factor by which each round considers more relationships than the previous round
LARGEST = 2**31  # id or rank to ask for; the database refuses numbers beyond 64 bits


async def read_neighbors(
    db: Database,
    view: GraphView,
    element_id: str,
    *,
    relationship_type: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> NeighborPage:
    """Return a page of a node's neighbors; the first page also has counts by type.

    Raises UnknownNodeError, UnknownPageError, and UsageError for a malformed ``limit``.
    """
    check_limit(limit)
    start = _parse_position(after)
    page = _read_page(db, view, element_id, relationship_type or "", start, limit)
    if after is not None:
        return await page
    first, counts = await together(page, _count_neighbors(db, view, element_id))
    return NeighborPage(
        neighbors=first.neighbors, counts=counts, after=first.after, complete=first.complete
    )


def _parse_position(after: str | None) -> int:
    if after is None:
        return -1
    if not (after.isascii() and after.isdecimal() and len(after) < 19):
        raise UnknownPageError(f"{after[:40]!r} leads to no page; use 'after' as a page gave it")
    return int(after)


async def _count_neighbors(
    db: Database, view: GraphView, element_id: str
) -> tuple[NeighborCount, ...]:
    rows = await db.read(
        queries.get("engine/browse/count_neighbors"),
        node=element_id,
        labels=list(view.mapping.labels),
        types=list(view.mapping.relationship_types),
        most=MOST,
    )
    return tuple(NeighborCount(**count) for row in rows for count in row["counts"])


async def _read_page(
    db: Database, view: GraphView, element_id: str, kind: str, after: int, limit: int
) -> NeighborPage:
    """Return a page of neighbors.

    Relationships are read in rounds, because many of them may lead out of the view.
    """
    neighbors: list[Row] = []
    candidates, more = FIRST * (limit + 1), True
    while more and len(neighbors) <= limit:
        row = await _read_round(db, view, element_id, kind, after, candidates, limit + 1)
        neighbors += row["neighbors"]
        more, after = row["tried"] == candidates, row["last"]
        candidates *= GROWTH
    page = neighbors[:limit]
    return NeighborPage(
        neighbors=tuple(map(_make_neighbor, page)),
        after=str(page[-1]["place"]) if len(neighbors) > limit else None,
        complete=row["complete"],
    )


async def _read_round(
    db: Database,
    view: GraphView,
    element_id: str,
    kind: str,
    after: int,
    candidates: int,
    limit: int,
) -> Row:
    mapping = view.mapping
    rows = await db.read(
        queries.get("engine/browse/read_neighbors"),
        node=element_id,
        labels=list(mapping.labels),
        types=list(mapping.relationship_types),
        type=kind,
        after=after,
        candidates=candidates,
        limit=limit,
        most=MOST,
        text=mapping.text_properties,
        title=mapping.title_properties,
        key=mapping.key_properties,
        name=mapping.relationship_name or "",
        fact=mapping.relationship_text or "",
        length=LONGEST_FACT,
        head=HEAD,
    )
    if not rows:
        raise unknown_node(view, element_id)
    return rows[0]


def _make_neighbor(row: Row) -> NodeNeighbor:
    return NodeNeighbor(
        element_id=row["element_id"],
        title=title_of(row),
        labels=tuple(row["labels"]),
        type=row["type"],
        outgoing=row["outgoing"],
        name=row["name"],
        fact=_format_fact(row["fact"]),
    )


def _format_fact(value: Any) -> str:
    return value if isinstance(value, str) else stated_text(value)[:LONGEST_FACT]


async def read_members(
    db: Database, view: GraphView, partition_id: int, *, after: int | None = None, limit: int = 50
) -> MemberPage | None:
    """Return a page of a partition's members, or None if there is no such partition.

    Raises UsageError for a ``limit`` out of range, and StoredDataError.
    """
    check_limit(limit)
    mapping = view.mapping
    rows = await db.read(
        queries.get("engine/browse/read_members"),
        graph=view.name,
        partition=min(max(partition_id, 0), LARGEST),
        labels=list(mapping.labels),
        after=-1 if after is None else min(max(after, -1), LARGEST),
        limit=limit + 1,
        text=mapping.text_properties,
        title=mapping.title_properties,
        key=mapping.key_properties,
        weight=mapping.weight or "",
        head=HEAD,
    )
    if not rows:
        return None
    members = rows[0]["members"]
    page = tuple(map(_make_member, members[:limit]))
    return MemberPage(
        partition=partition_id,
        size=rows[0]["size"],
        members=page,
        after=page[-1].rank if len(members) > limit else None,
    )


def _make_member(row: Row) -> PartitionMember:
    return PartitionMember(
        element_id=row["element_id"],
        title=title_of(row),
        labels=tuple(row["labels"]),
        rank=check_stored(COUNT, row["rank"], "the rank of a node", FIX),
        weight=weight_of(row),
    )
