"""Answers in the database: written as nodes, read back from details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import (
    Answer,
    Citation,
    Coverage,
    GraphMapping,
    Sweep,
    SweepStatus,
    Synthesis,
)
from pgs_neo4j.partitioning import generation
from pgs_neo4j.runs.answer_rows import answer_rows
from pgs_neo4j.runs.details import Details, read_details
from pgs_neo4j.runs.earlier_answers import parsed_synthesis
from pgs_neo4j.runs.rows import CitedRow
from pgs_neo4j.runs.runs import Handle, StoredRun, write_as_holder
from pgs_neo4j.runs.sweeps import cited_node, recorded_sweeps
from pgs_neo4j.runs.verdicts import Name, located
from pgs_neo4j.synthesis.verdicts import judged


async def write(db: Database, handle: Handle, answer: Answer) -> None:
    """Write thesis, connections, convergences, and checked absences as linked nodes.

    Raises RunLostError when the run was deleted or taken over by another process.
    """
    await write_as_holder(db, handle, queries.get("runs/write_answers"), **answer_rows(answer))


async def load(db: Database, stored: StoredRun, mapping: GraphMapping) -> Answer:
    """Read the answer of a run in its original form.

    Raises UsageError if the run has no answer yet. Citations get the element ids that their nodes
    have now, None where a node is gone.
    """
    properties = stored.properties
    if not properties.get("details"):
        raise UsageError(
            f"run {stored.id} has no answer yet (status: {stored.status}); "
            f"continue it with 'pgs resume {stored.id}'"
        )
    details = read_details(properties["details"])
    generation_id = stored.generation or ""
    sweeps = await _sweeps(db, stored.id, generation_id, mapping, details)
    coverage, own = await _coverages(db, generation_id, details, sweeps)
    return Answer(
        question=properties["question"],
        graph=stored.graph,
        session=stored.session,
        run=stored.id,
        mode=properties["mode"],
        model=properties["model"],
        synthesis=await _synthesis(db, stored, mapping, details),
        routing=details.routing,
        sweeps=sweeps,
        coverage=coverage,
        own_coverage=own,
        usage=details.usage,
        seconds=dict(details.seconds),
        warnings=tuple(properties.get("warnings") or ()),
        crosscheck=details.crosscheck,
        generation=generation_id,
        stopped=properties.get("stopped") or "",
        cost=properties.get("cost"),
        shown=details.shown,
    )


def nodes_read(stored: StoredRun) -> dict[int, int] | None:
    """Nodes that the session had read by an answer, by partition id.

    None if one of the first releases stored the answer, because they stored no such counts.
    """
    return read_details(stored.properties["details"]).nodes_read


def texts_read(stored: StoredRun) -> dict[int, int] | None:
    """Those of ``nodes_read`` that had text; None if an earlier release stored the answer."""
    return read_details(stored.properties["details"]).texts_read


async def _coverages(
    db: Database, generation_id: str, details: Details, sweeps: Sequence[Sweep]
) -> tuple[Coverage, Coverage]:
    """Return the coverage of the session and that of the answer alone.

    Where an earlier release counted no texts, they are known only if all nodes have text, or none.
    """
    coverage, own = details.coverage, details.own_coverage
    if own is not None:
        return coverage, own
    read = [sweep for sweep in sweeps if sweep.nodes_read]
    own = replace(
        coverage,
        partitions_swept=sum(sweep.status is SweepStatus.ACCEPTED for sweep in read),
        nodes_read=sum(sweep.nodes_read for sweep in read),
    )
    found = await generation.read(db, generation_id) if generation_id else None
    if found is None or found.node_count != coverage.nodes_total:
        return coverage, own
    return _with_texts(coverage, found.texts), _with_texts(own, found.texts)


def _with_texts(coverage: Coverage, texts: int) -> Coverage:
    whole = texts == coverage.nodes_total
    count = coverage.nodes_read if whole else None if texts else 0
    return replace(coverage, texts_total=texts, texts_read=count)


async def _sweeps(
    db: Database, run: str, generation_id: str, mapping: GraphMapping, details: Details
) -> tuple[Sweep, ...]:
    """Return the sweeps in the order of their routes."""
    recorded = await recorded_sweeps(db, run, generation_id, mapping)
    # A run that was resumed and then killed has recorded what its last answer calls unread.
    recorded_ids = {sweep.partition for sweep in recorded}
    unread = [sweep for sweep in details.unread if sweep.partition not in recorded_ids]
    order = {route.partition: place for place, route in enumerate(details.routing.routes)}
    sweeps = [*recorded, *unread]
    return tuple(sorted(sweeps, key=lambda sweep: order.get(sweep.partition, len(order))))


async def _synthesis(
    db: Database, stored: StoredRun, mapping: GraphMapping, details: Details
) -> Synthesis:
    cited = await _cited(db, stored.id, mapping)
    synthesis = details.synthesis
    if synthesis is None:
        text = stored.properties.get("answer") or ""
        synthesis = parsed_synthesis(text, details, cited)
    element_ids = {name: node.element_id for name, node in cited.items() if node.element_id}
    # Earlier releases did not put the checks into the answer.
    synthesis = judged(synthesis, details.crosscheck.absences)
    return replace(synthesis, citations=located(synthesis.citations, element_ids))


async def _cited(db: Database, run: str, mapping: GraphMapping) -> dict[Name, Citation]:
    """Read the existing nodes that a run's synthesis cites."""
    rows = cast(
        "list[CitedRow]",
        await db.read(
            queries.get("runs/read_cited"),
            run=run,
            title=mapping.title or "",
            key=mapping.key or "",
            text=list(mapping.text),
        ),
    )
    cited: dict[Name, Citation] = {}
    for row in rows:
        node = cited_node(row)
        cited[row["partition"], row["alias"]] = Citation(
            alias=row["alias"],
            partition=row["partition"],
            node=node.key,
            title=node.title,
            element_id=node.element_id,
            rank=node.rank,
        )
    return cited
