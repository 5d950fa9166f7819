"""Lists recorded runs, the latest first, and reads what models replied in one of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pydantic import TypeAdapter

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.holder import SILENT_S
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.stored_data import FIX, SHOWN, check_fields, parse_stored

_REQUEST = TypeAdapter(dict[str, Any])
WHOLE = 10_000_000
"""Characters; no stored reply is longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """A recorded run in short.

    ``silent``: it is recorded as running, but gave no sign of life lately. ``answered``: its answer
    is stored. Figures are None until the run ends, ``cost`` also without prices. With
    ``structure_only``, it asked a graph without text. ``outcome`` is its feedback, None without.
    ``nodes_shown`` counts what the prompt of a search showed, None for other runs.
    ``nodes_unproven`` counts nodes that were shown without proof, beside those read.
    """

    id: str
    graph: str
    session: str
    mode: str
    status: str
    question: str
    started_at: str
    finished_at: str | None
    answered: bool
    silent: bool
    nodes_read: int | None
    seconds: float | None
    model: str | None
    cost: float | None
    error: str | None
    structure_only: bool
    outcome: str | None = None
    nodes_shown: int | None = None
    nodes_unproven: int | None = None


async def list_runs(
    db: Database,
    graphs: Collection[str] | None,
    session: str | None,
    *,
    sessions_of: str = "",
    answered: bool,
    limit: int,
    modes: Sequence[str] = (),
) -> list[RunInfo]:
    """Return at most ``limit`` runs; without graphs or a session, those of all.

    ``sessions_of`` is the beginning of the names of their sessions. Without ``modes``, answers from
    searches are listed as well, whose modes are those of searches.
    """
    if graphs is not None and not graphs:
        return []

    rows = await db.read(
        queries.get("pgs/runs/read_latest_runs"),
        graphs=sorted(graphs or ()),
        session=session or "",
        sessions_of=sessions_of,
        answered=answered,
        modes=list(modes),
        silent_s=SILENT_S,
        limit=limit,
    )
    return [_parse_info(row["run"]) for row in rows]


def _parse_info(stored: Row) -> RunInfo:
    what = f"run {str(stored['id'])[:SHOWN]}"
    request = parse_stored(_REQUEST, stored["request"], f"{what}, request", FIX)
    facts: dict[str, Any] = {field.name: stored.get(field.name) for field in fields(RunInfo)}
    facts["structure_only"] = bool(request.get("structure_only"))
    return check_fields(RunInfo, facts, what, FIX)


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
