"""Reads who holds the lease of a graph."""

from __future__ import annotations

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.lease import LONGEST_S, LeaseHolder

# The same condition as in merge_leases.
HOLDER = """
MATCH (l:PgsLease {name: $graph})
WITH l, datetime.realtime('Z') AS now
WHERE l.holder IS NOT NULL AND l.expires_at > now
  AND l.expires_at <= now + duration({seconds: $longest})
RETURN l.holder AS holder, l.fence AS fence, toString(l.acquired_at) AS acquired_at,
       toString(l.expires_at) AS expires_at
"""


async def read_holder(db: Database, graph: str) -> LeaseHolder | None:
    """Return the current holder of a lease; None if free or expired."""
    _, rows = await db.call(HOLDER, {"graph": graph, "longest": LONGEST_S}, "read")
    return LeaseHolder(**rows[0]) if rows else None
