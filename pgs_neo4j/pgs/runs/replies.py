"""Reads what models replied in a run: accepted replies, and rejected ones with the reason."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database

WHOLE = 10_000_000
"""Characters; no stored reply is longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReply:
    """A reply of a model that a run has paid for, as it is stored.

    ``error`` is why it was rejected, None if it was accepted. ``partition`` and ``number`` name the
    pass that it answers, None for another call. ``size`` is that of the whole text in bytes.
    ``text`` may be its beginning alone. ``created_at`` is in ISO 8601.
    """

    text: str
    model: str
    size: int
    output_tokens: int
    error: str | None
    partition: int | None
    number: int | None
    created_at: str


async def read_replies(db: Database, run: str, most: int = WHOLE) -> list[StoredReply]:
    """Return the stored replies of a run, in the order in which they arrived.

    Of each text, at most ``most`` characters. Replies that came from the cache are not among them:
    they are those of the run that paid for them. Raises DatabaseError.
    """
    rows = await db.read(queries.get("pgs/runs/read_run_replies"), run=run, most=most)
    return [StoredReply(**row) for row in rows]
