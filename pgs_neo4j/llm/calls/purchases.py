"""Lets one run at a time buy a reply, while the others wait for it.

A run claims the key of a reply before it buys it. Other runs that need the same reply wait until
it is stored, or until the buyer gives it up, ends, or gives no sign of life.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.heartbeat import SILENT_S
from pgs_neo4j.database.holder import Holder
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import poll_pauses

FIRST_POLL_S = 0.1


@dataclass(slots=True)
class Claims:
    """The outcome of claiming keys for a run.

    This run is to buy the replies of ``own``. Those of ``stored`` are in the database. ``busy``
    maps each other key to the run that is buying its reply.
    """

    own: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    busy: dict[str, str] = field(default_factory=dict)


async def claim_purchases(db: Database, run: str, keys: Iterable[str]) -> Claims:
    """Claim keys for a run; buyers whose process has ended are ignored. Raises DatabaseError."""
    wanted, ended = sorted(keys), list[str]()
    claims = Claims()
    while wanted:
        rows = await db.write(
            queries.get("llm/calls/claim_purchases"),
            keys=wanted,
            run=run,
            ended=ended,
            silent_s=SILENT_S,
        )
        claims.own |= {row["key"] for row in rows if row["state"] == "own"}
        claims.stored |= {row["key"] for row in rows if row["state"] == "stored"}
        busy = [row for row in rows if row["state"] == "busy"]
        dead = [row for row in busy if _has_ended(row)]
        claims.busy |= {row["key"]: row["buyer"] for row in busy if row not in dead}
        wanted = [row["key"] for row in dead]
        ended = [*ended, *(row["buyer"] for row in dead)]
    return claims


async def wait_for_purchase(db: Database, run: str, key: str, stopped: Callable[[], bool]) -> bool:
    """Wait for the buyer of a key; return whether this run is to buy it now.

    Returns False when its reply is stored, or when ``stopped`` says that nothing more may be
    bought. Raises DatabaseError.
    """
    pauses = poll_pauses(FIRST_POLL_S)
    while not stopped():
        claims = await claim_purchases(db, run, [key])
        if not claims.busy:
            return key in claims.own
        await asyncio.sleep(next(pauses))
    return False


async def free_purchases(db: Database, run: str, keys: Iterable[str]) -> None:
    """Give up purchases, so that other runs need not wait for them."""
    given_up = sorted(keys)
    if given_up:
        await db.write(queries.get("llm/calls/set_free_purchases"), keys=given_up, run=run)


def _has_ended(row: Row) -> bool:
    holder = Holder.parse(row["holder"])
    return holder is not None and holder.has_ended()
