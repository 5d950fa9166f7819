"""Recognizes requests that were made before, by their idempotency keys."""

from __future__ import annotations

from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import IdempotencyError, UsageError
from pgs_neo4j.pgs.runs import runs
from pgs_neo4j.pgs.runs.runs import StoredRun

MAX_KEY = 200


def check_key(key: str | None) -> None:
    """Raise UsageError for an idempotency key that is empty, overlong, or not printable."""
    if key is not None and not (key.strip() and len(key) <= MAX_KEY and key.isprintable()):
        raise UsageError(f"an idempotency key has 1 to {MAX_KEY} printable characters")


async def find_former(
    db: Database, graph: str, session: str, key: str | None, request: dict[str, Any]
) -> StoredRun | None:
    """Return the session's run under an idempotency key; None without a key, or such a run.

    Raises IdempotencyError when the key belongs to another request.
    """
    former = await runs.by_key(db, graph, session, key) if key else None
    if former is None:
        return None
    stored = await runs.read(db, former)
    if stored.request != request:
        raise IdempotencyError(
            f"the idempotency key was used for run {former} with another request; choose another "
            "key, or repeat that request"
        )
    return stored
