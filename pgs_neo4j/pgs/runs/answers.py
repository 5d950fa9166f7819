"""Stores answers in the database, and reads them back.

An answer is stored as one JSON document on the node of its run, without the properties of the run
(question, mode, status) and its recorded sweeps, which are stored separately. The nodes of
``answer_rows`` repeat parts of the answer for queries and are never read back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, cast

from pydantic import TypeAdapter

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import NoAnswerError
from pgs_neo4j.model import (
    Answer,
    Coverage,
    Crosscheck,
    Routing,
    Shown,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from pgs_neo4j.pgs.runs.answer_rows import answer_rows
from pgs_neo4j.pgs.runs.runs import Handle, StoredRun, write_as_holder
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.runs.sweep_rows import Name, locate_citations
from pgs_neo4j.pgs.runs.sweeps import read_recorded_sweeps


class CitedRow(TypedDict):
    """A row of ``read_cited``: a node that a synthesis cites."""

    partition: int
    alias: str
    element_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Everything in an answer except the properties of its run and its recorded sweeps.

    ``unread`` are the sweeps that a limit prevented; they are recorded nowhere else. By partition
    id, ``nodes_read`` counts the nodes that the session had read by then, and ``texts_read`` the
    nodes with text among them; ``nodes_unproven`` counts further nodes that were shown without
    proof. ``shown`` is None unless the answer is from a search.
    """

    routing: Routing
    coverage: Coverage
    usage: Usage
    seconds: dict[str, float]
    crosscheck: Crosscheck
    unread: tuple[Sweep, ...]
    nodes_read: dict[int, int]
    texts_read: dict[int, int]
    own_coverage: Coverage
    shown: Shown | None
    synthesis: Synthesis
    nodes_unproven: dict[int, int] = field(default_factory=dict)
    contexts: tuple[tuple[str, str], ...] = ()


DETAILS = TypeAdapter(Details)


async def write(db: Database, handle: Handle, answer: Answer) -> None:
    """Write thesis, connections, convergences, and checked absences as linked nodes.

    Raises RunLostError when the run was deleted or taken over by another process.
    """
    await write_as_holder(db, handle, queries.get("pgs/runs/write_answers"), **answer_rows(answer))


async def load(db: Database, stored: StoredRun) -> Answer:
    """Return the stored answer of a run.

    Citations get the current element ids of their nodes, None for a deleted node. Raises
    NoAnswerError.
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
        synthesis=await _locate_synthesis(db, stored.id, details.synthesis),
        routing=details.routing,
        sweeps=await _read_sweeps(db, stored.id, generation_id, details),
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


async def _read_sweeps(
    db: Database, run: str, generation_id: str, details: Details
) -> tuple[Sweep, ...]:
    """Return the sweeps of an answer in the order of their routes; flagged partitions come last."""
    recorded = await read_recorded_sweeps(db, run, generation_id)
    # If a run was resumed and then killed, it may have recorded sweeps that its answer lists as
    # unread.
    recorded_ids = {sweep.partition for sweep in recorded}
    unread = [sweep for sweep in details.unread if sweep.partition not in recorded_ids]
    order = {route.partition: place for place, route in enumerate(details.routing.routes)}
    sweeps = [*recorded, *unread]
    return tuple(sorted(sweeps, key=lambda sweep: order.get(sweep.partition, len(order))))


async def _locate_synthesis(db: Database, run: str, synthesis: Synthesis) -> Synthesis:
    rows = cast("list[CitedRow]", await db.read(queries.get("pgs/runs/read_cited"), run=run))
    element_ids: dict[Name, str] = {
        (row["partition"], row["alias"]): row["element_id"] for row in rows
    }
    return replace(synthesis, citations=locate_citations(synthesis.citations, element_ids))


def details_json(answer: Answer, read: Read) -> str:
    """Return the details as JSON, without element ids, because these may change."""
    details = Details(
        routing=answer.routing,
        coverage=answer.coverage,
        usage=answer.usage,
        seconds=answer.seconds,
        crosscheck=answer.crosscheck,
        unread=tuple(sweep for sweep in answer.sweeps if sweep.status is SweepStatus.UNREAD),
        nodes_read=read.counts,
        texts_read=read.text_counts,
        own_coverage=answer.own_coverage,
        shown=answer.shown,
        synthesis=answer.synthesis,
        nodes_unproven=read.unproven_counts,
        contexts=answer.contexts,
    )
    data = DETAILS.dump_python(details, mode="json")
    return json.dumps(_without_element_ids(data), ensure_ascii=False)


def result_properties(answer: Answer, read: Read) -> Row:
    """Return the final properties of an answered run."""
    return {
        "status": "partial" if answer.partial else "complete",
        "answer": answer.text,
        "thesis": answer.synthesis.thesis,
        "model": answer.model,
        "seconds": round(answer.seconds["total"], 3),
        "nodes_read": sum(sweep.nodes_read for sweep in answer.sweeps),
        "texts_read": sum(sweep.texts_read for sweep in answer.sweeps),
        "nodes_unproven": sum(sweep.nodes_unproven for sweep in answer.sweeps),
        "warnings": list(answer.warnings),
        "stopped": answer.stopped,
        "details": details_json(answer, read),
        **({"nodes_shown": len(answer.shown.nodes)} if answer.shown else {}),
    }


def read_details(stored: str) -> Details:
    """Parse the stored details of a run."""
    return DETAILS.validate_json(stored)


def _without_element_ids(value: Any) -> Any:
    """Return JSON data without any key ``element_id``.

    Element ids identify nodes only in this database, and only for now.
    """
    if isinstance(value, dict):
        return {
            key: _without_element_ids(item) for key, item in value.items() if key != "element_id"
        }
    return [_without_element_ids(item) for item in value] if isinstance(value, list) else value
