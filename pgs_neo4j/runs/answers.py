"""Answers in the database: as nodes that are linked to what they rest on, and read back whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import (
    Answer,
    Citation,
    Coverage,
    Crosscheck,
    GraphMapping,
    Routing,
    Stated,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from pgs_neo4j.runs.keys import sweep_id
from pgs_neo4j.runs.runs import Handle, StoredRun, taken_away
from pgs_neo4j.runs.session import Read
from pgs_neo4j.runs.sweeps import cited_node, recorded_sweeps
from pgs_neo4j.runs.verdicts import Name, located
from pgs_neo4j.synthesis.prompt import parse_synthesis
from pgs_neo4j.text.citations import resolve_qualified


@dataclass(frozen=True, slots=True)
class Details:
    """What an answer says beside its text and its sweeps.

    ``citations`` are those of the synthesis, ``nodes_read`` how many nodes of each partition the
    session had read by then; both are None in what the first releases stored.
    """

    routing: Routing
    coverage: Coverage
    usage: Usage
    seconds: dict[str, float]
    crosscheck: Crosscheck
    unread: tuple[Sweep, ...]
    complete: bool
    reductions: int
    citations: tuple[Citation, ...] | None = None
    nodes_read: dict[int, int] | None = None


DETAILS = TypeAdapter(Details)


def details_of(answer: Answer, read: Read) -> str:
    """The details as JSON. No id of the database is in it: those do not last."""
    details = Details(
        routing=answer.routing,
        coverage=answer.coverage,
        usage=answer.usage,
        seconds=answer.seconds,
        crosscheck=answer.crosscheck,
        unread=tuple(s for s in answer.sweeps if s.status is SweepStatus.UNREAD),
        complete=answer.synthesis.complete,
        reductions=answer.synthesis.reductions,
        citations=answer.synthesis.citations,
        nodes_read=read.counts,
    )
    return json.dumps(_without_ids(DETAILS.dump_python(details, mode="json")), ensure_ascii=False)


async def write(db: Database, handle: Handle, answer: Answer) -> None:
    """Write thesis, connections, convergences, and what became of absences, with their links.

    Raises DatabaseError when the run was taken away meanwhile.
    """
    run, made = handle.id, answer.synthesis
    known = {(c.partition, c.alias): c for c in made.citations if c.valid}
    connections = _bullets(f"{run}:c", made.connections)
    convergences = [
        *({**row, "kind": "synthesis"} for row in _bullets(f"{run}:v", made.convergences)),
        *_found(run, answer.crosscheck),
    ]
    said = [(f"{run}:thesis", made.text), *((row["id"], row["text"]) for row in connections)]
    said += [(row["id"], row["text"]) for row in convergences if row["kind"] == "synthesis"]
    cited = [(key, c) for key, text in said for c in resolve_qualified(text, known) if c.valid]
    cited += [
        (f"{run}:w{place}", citation)
        for place, each in enumerate(answer.crosscheck.convergences)
        for citation in each.citations
    ]
    rows = await db.write(
        queries.get("runs/write_answers"),
        run=run,
        holder=handle.holder,
        generation=answer.generation,
        thesis={"id": f"{run}:thesis", "text": made.thesis},
        connections=connections,
        convergences=convergences,
        joins=_joins(run, answer.crosscheck),
        absences=_absences(run, answer.crosscheck),
        citations=[_citation_row(key, citation) for key, citation in cited],
        sightings=_sightings(run, answer.crosscheck),
    )
    if not rows:
        raise taken_away()


async def load(db: Database, stored: StoredRun, mapping: GraphMapping) -> Answer:
    """The answer of a run, as it was given. Raises UsageError when the run has none yet."""
    kept = stored.properties
    if not kept.get("details"):
        raise UsageError(
            f"run {stored.id} has no answer ({stored.status}); 'pgs resume {stored.id}' goes on"
        )
    details = DETAILS.validate_json(kept["details"])
    generation = stored.generation or ""
    sweeps = await _sweeps(db, stored.id, generation, mapping, details)
    made = await _synthesis(db, stored, mapping, details)
    return Answer(
        question=kept["question"],
        graph=stored.graph,
        session=stored.session,
        run=stored.id,
        mode=kept["mode"],
        model=kept["model"],
        synthesis=made,
        routing=details.routing,
        sweeps=tuple(sweeps),
        coverage=details.coverage,
        usage=details.usage,
        seconds=dict(details.seconds),
        warnings=tuple(kept.get("warnings") or ()),
        crosscheck=details.crosscheck,
        generation=generation,
        stopped=kept.get("stopped") or "",
        cost=kept.get("cost"),
    )


def nodes_read(stored: StoredRun) -> dict[int, int] | None:
    """How many nodes of each partition the session had read when a run gave its answer.

    None when that was not stored.
    """
    return DETAILS.validate_json(stored.properties["details"]).nodes_read


async def _sweeps(
    db: Database, run: str, generation: str, mapping: GraphMapping, details: Details
) -> list[Sweep]:
    """The sweeps in the order of their routes."""
    recorded = await recorded_sweeps(db, run, generation, mapping)
    # A run that went on, and was killed then, has recorded what its last answer calls unread.
    known = {sweep.partition for sweep in recorded}
    unread = [sweep for sweep in details.unread if sweep.partition not in known]
    order = {route.partition: place for place, route in enumerate(details.routing.routes)}
    return sorted([*recorded, *unread], key=lambda s: order.get(s.partition, len(order)))


async def _synthesis(
    db: Database, stored: StoredRun, mapping: GraphMapping, details: Details
) -> Synthesis:
    cited = await _cited(db, stored.id, mapping)
    made = parse_synthesis(stored.properties.get("answer") or "", cited)
    if details.citations is not None:
        here = {name: each.element_id for name, each in cited.items() if each.element_id}
        made = replace(made, citations=located(details.citations, here))
    return replace(made, complete=details.complete, reductions=details.reductions)


async def _cited(db: Database, run: str, mapping: GraphMapping) -> dict[Name, Citation]:
    rows = await db.read(
        queries.get("runs/read_cited"),
        run=run,
        title=mapping.title or "",
        key=mapping.key or "",
        text=list(mapping.text),
    )
    found: dict[Name, Citation] = {}
    for row in rows:
        node = cited_node(row)
        found[row["partition"], row["alias"]] = Citation(
            alias=row["alias"],
            partition=row["partition"],
            node=node.key,
            title=node.title,
            element_id=node.element_id,
            rank=node.rank,
        )
    return found


def _bullets(prefix: str, texts: Sequence[str]) -> list[Row]:
    return [
        {"id": f"{prefix}{place}", "text": text, "place": place} for place, text in enumerate(texts)
    ]


def _found(run: str, crosscheck: Crosscheck) -> list[Row]:
    """Convergences that were found by looking, after those that the synthesis tells."""
    return [
        {
            "id": f"{run}:w{place}",
            "text": "\n".join(f"P{stated.partition}: {stated.text}" for stated in each.findings),
            "place": place,
            "kind": each.kind,
        }
        for place, each in enumerate(crosscheck.convergences)
    ]


def _joins(run: str, crosscheck: Crosscheck) -> list[Row]:
    return [
        {"id": f"{run}:w{place}", "finding": _key(run, stated, "f")}
        for place, each in enumerate(crosscheck.convergences)
        for stated in each.findings
    ]


def _absences(run: str, crosscheck: Crosscheck) -> list[Row]:
    return [
        {
            "id": _key(run, stated, "a"),
            "status": str(each.status),
            "terms": list(each.terms),
            "searched": each.searched,
            "method": each.method,
            "count": each.count,
            "partitions": len(each.partitions),
        }
        for each in crosscheck.absences
        for stated in each.reported
    ]


def _sightings(run: str, crosscheck: Crosscheck) -> list[Row]:
    return [
        {"id": _key(run, stated, "a"), "partition": seen.partition, "rank": seen.rank}
        for each in crosscheck.absences
        for stated in each.reported
        for seen in each.sightings
    ]


def _key(run: str, stated: Stated, kind: str) -> str:
    """The id of a bullet as it is recorded with its sweep, which may be of an earlier run."""
    return f"{sweep_id(stated.run or run, stated.partition)}:{kind}{stated.place}"


def _citation_row(key: str, citation: Citation) -> Row:
    return {
        "id": key,
        "partition": citation.partition,
        "alias": citation.alias,
        "rank": citation.rank,
    }


def _without_ids(value: Any) -> Any:
    """JSON data without what names a node in this database only."""
    if isinstance(value, dict):
        return {key: _without_ids(each) for key, each in value.items() if key != "element_id"}
    return [_without_ids(each) for each in value] if isinstance(value, list) else value
