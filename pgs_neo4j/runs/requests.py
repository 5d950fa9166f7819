"""Recognizes requests that were made before, by their idempotency keys."""

from __future__ import annotations

from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import IdempotencyError, UsageError
from pgs_neo4j.runs import runs
from pgs_neo4j.runs.runs import StoredRun

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
    if not _is_repeated(stored.request, request):
        raise IdempotencyError(
            f"the idempotency key was used for run {former} with another request; choose another "
            "key, or repeat that request"
        )
    return stored


def check_resumable(stored: StoredRun) -> None:
    """Raise UsageError unless enough of a run is stored to resume it."""
    if not stored.request or not stored.properties.get("config"):
        raise UsageError(
            f"run {stored.id} was made by an older release and cannot be resumed; ask again in "
            "mode 'continue'"
        )


def _is_repeated(stored: dict[str, Any], request: dict[str, Any]) -> bool:
    """Return whether a request is the stored one.

    A knob that the release of the stored request did not have is left aside.
    """
    former = stored.get("knobs", {})
    knobs = {name: value for name, value in request["knobs"].items() if name in former}
    return stored == {**request, "knobs": knobs}
