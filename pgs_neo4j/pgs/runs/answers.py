"""Answers in the database: written as nodes, read back from details."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import NoAnswerError
from pgs_neo4j.model import Answer, Sweep, Synthesis
from pgs_neo4j.pgs.runs.answer_rows import answer_rows
from pgs_neo4j.pgs.runs.details import Details, read_details
from pgs_neo4j.pgs.runs.rows import CitedRow
from pgs_neo4j.pgs.runs.runs import Handle, StoredRun, write_as_holder
from pgs_neo4j.pgs.runs.sweeps import recorded_sweeps
from pgs_neo4j.pgs.runs.verdicts import Name, located


async def write(db: Database, handle: Handle, answer: Answer) -> None:
    """Write thesis, connections, convergences, and checked absences as linked nodes.

    Raises RunLostError when the run was deleted or taken over by another process.
    """
    await write_as_holder(db, handle, queries.get("pgs/runs/write_answers"), **answer_rows(answer))


async def load(db: Database, stored: StoredRun) -> Answer:
    """Read the answer of a run in its original form.

    Raises NoAnswerError. Citations get the element ids that their nodes
    have now, None where a node is gone.
    """
    properties = stored.properties
    if not properties.get("details"):
        raise NoAnswerError(
            f"run {stored.id} has no answer yet (status: {stored.status}); "
            f"continue it with 'pgs resume {stored.id}'"
        )
    details = read_details(properties["details"])
    generation_id = stored.generation or ""
    return Answer(
        question=properties["question"],
        graph=stored.graph,
        session=stored.session,
        run=stored.id,
        mode=properties["mode"],
        model=properties["model"],
        synthesis=await _synthesis(db, stored.id, details.synthesis),
        routing=details.routing,
        sweeps=await _sweeps(db, stored.id, generation_id, details),
        coverage=details.coverage,
        own_coverage=details.own_coverage,
        usage=details.usage,
        seconds=dict(details.seconds),
        warnings=tuple(properties["warnings"]),
        crosscheck=details.crosscheck,
        generation=generation_id,
        stopped=properties["stopped"],
        cost=properties.get("cost"),
        shown=details.shown,
        contexts=details.contexts,
    )


async def _sweeps(
    db: Database, run: str, generation_id: str, details: Details
) -> tuple[Sweep, ...]:
    """Return the sweeps in the order of their routes."""
    recorded = await recorded_sweeps(db, run, generation_id)
    # A run that was resumed and then killed has recorded what its last answer calls unread.
    recorded_ids = {sweep.partition for sweep in recorded}
    unread = [sweep for sweep in details.unread if sweep.partition not in recorded_ids]
    order = {route.partition: place for place, route in enumerate(details.routing.routes)}
    sweeps = [*recorded, *unread]
    return tuple(sorted(sweeps, key=lambda sweep: order.get(sweep.partition, len(order))))


async def _synthesis(db: Database, run: str, synthesis: Synthesis) -> Synthesis:
    rows = cast("list[CitedRow]", await db.read(queries.get("pgs/runs/read_cited"), run=run))
    element_ids: dict[Name, str] = {
        (row["partition"], row["alias"]): row["element_id"] for row in rows
    }
    return replace(synthesis, citations=located(synthesis.citations, element_ids))
