"""Lists recorded runs, and reads the stored replies of a run."""

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
"""A number of characters greater than the length of any stored reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """A summary of a recorded run.

    ``silent`` means that the run is recorded as running, but has given no sign of life lately.
    ``answered`` means that its answer is stored. Figures are None until the run ends; ``cost`` is
    also None without prices. ``structure_only`` means that the question was about a graph without
    text. ``outcome`` is the feedback on the run, None without any. ``nodes_shown`` counts the nodes
    that the prompt of a search showed, None for other runs. ``nodes_unproven`` counts nodes that
    were shown without proof, in addition to the nodes read.
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
    """Return at most ``limit`` runs, the latest first.

    ``graphs`` and ``session`` restrict the runs; None means all. ``sessions_of`` is the prefix that
    the names of their sessions must have. With ``answered``, only runs with an answer are listed.
    ``modes`` restricts the modes; without it, answers from searches are listed as well, under the
    mode of the search.
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
        suffix=db.scope.suffix,
    )
    return [_parse_info({**row["run"], "graph": row["graph"]}) for row in rows]


def _parse_info(stored: Row) -> RunInfo:
    what = f"run {str(stored['id'])[:SHOWN]}"
    request = parse_stored(_REQUEST, stored["request"], f"{what}, request", FIX)
    facts: dict[str, Any] = {field.name: stored.get(field.name) for field in fields(RunInfo)}
    facts["structure_only"] = bool(request.get("structure_only"))
    return check_fields(RunInfo, facts, what, FIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReply:
    """A stored reply of a model that a run has paid for.

    ``error`` says why it was rejected, None if it was accepted. ``partition`` and ``number``
    identify the pass that it answers, None for other calls. ``size`` is the length of the complete
    text in bytes, while ``text`` may be only its beginning. ``created_at`` is in ISO 8601.
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

    Each text is cut to ``most`` characters. Replies from the cache are left out, because they
    belong to the run that paid for them. Raises DatabaseError.
    """
    rows = await db.read(queries.get("pgs/runs/read_run_replies"), run=run, most=most)
    return [StoredReply(**row) for row in rows]
