"""Reads the members of a current partition in pages."""

from __future__ import annotations

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.stored_data import COUNT, check_stored
from pgs_neo4j.database.typed_columns import FIX
from pgs_neo4j.engine.browse.view import HEAD, GraphView, check_limit, title_of, weight_of
from pgs_neo4j.model import MemberPage, PartitionMember

LARGEST = 2**31  # of an id or a rank; the database takes no number of any size


async def read_members(
    db: Database, view: GraphView, partition_id: int, *, after: int | None = None, limit: int = 50
) -> MemberPage | None:
    """Return a page of a partition's members, None without such a partition.

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
    page = tuple(map(_member, members[:limit]))
    return MemberPage(
        partition=partition_id,
        size=rows[0]["size"],
        members=page,
        after=page[-1].rank if len(members) > limit else None,
    )


def _member(row: Row) -> PartitionMember:
    return PartitionMember(
        element_id=row["element_id"],
        title=title_of(row),
        labels=tuple(row["labels"]),
        rank=check_stored(COUNT, row["rank"], "the rank of a node", FIX),
        weight=weight_of(row),
    )
