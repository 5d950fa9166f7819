"""How graphs stand: partitioned when, changed since, and being worked on."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.lease import LONGEST_S
from pgs_neo4j.database.schema import read_change_token


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphState:
    """The state of a graph; figures of partitions are None before there are any.

    ``age_s`` are the seconds since the current partitions were made. ``changed``: another program
    has committed since they were last seen to be valid; None if that is unknown. ``drift`` is the
    share that had changed (0 to 1) when a job last measured it. ``leased``: a job holds the lease.
    """

    graph: str
    age_s: float | None
    nodes: int | None
    partitions: int | None
    changed: bool | None
    drift: float | None
    leased: bool


async def read_graph_states(db: Database) -> list[GraphState]:
    """Return the state of all graphs by name, without a scan of any."""
    rows = await db.read(queries.get("engine/browse/read_graph_states"), longest=LONGEST_S)
    token = await read_change_token(db) if rows else None
    states = []
    for row in rows:
        verified = row.pop("verified")
        known = None not in (token, verified)
        states.append(GraphState(changed=token != verified if known else None, **row))
    return states
