"""The report of one sweep, whole and with what it cites."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel

from pgs_neo4j.model import Finding, Flag, Report, SweepStatus
from pgs_neo4j.web.access.callers import UnrecordedRunError
from pgs_neo4j.web.routes.router import api_router, failing
from pgs_neo4j.web.routes.runs import RunId, stored_run
from pgs_neo4j.web.shared import CallerNow, ServingNow

router = api_router("runs")

SweptId = Annotated[int, Path(ge=1, le=10**9, description="a partition that was read")]


class ShownReport(BaseModel):
    """What a run has read of a partition, and what the model reported.

    A citation leads to a node by its ``element_id``, null if the node is gone. ``valid`` says
    whether the model was shown it, and ``found`` whether it has the words of a quotation.
    ``nodes_unproven`` counts nodes that were shown without proof. Without a report, ``errors`` say
    why.
    """

    run: str
    graph: str
    partition: int
    status: SweepStatus
    nodes: int
    nodes_read: int
    nodes_unproven: int
    passes: int
    passes_accepted: int
    seconds: float
    errors: tuple[str, ...]
    domain_state: str
    findings: tuple[Finding, ...]
    flags: tuple[Flag, ...]
    absences: tuple[str, ...]


@router.get("/runs/{run}/reports/{partition}", responses=failing(UnrecordedRunError))
async def show_report(
    run: RunId, partition: SweptId, serving: ServingNow, caller: CallerNow
) -> ShownReport:
    """Return the report of a partition, as soon as the run has recorded it."""
    stored = await stored_run(serving, caller, run)
    sweep = await serving.pgs.runs.sweep(run, partition)
    report = sweep.report or Report(partition=partition)
    names = (
        *("status", "nodes", "nodes_read", "nodes_unproven", "passes", "passes_accepted"),
        *("seconds", "errors"),
    )
    return ShownReport(
        run=run,
        graph=stored.graph,
        partition=partition,
        domain_state=report.domain_state,
        findings=report.findings,
        flags=report.flags,
        absences=tuple(absence.text for absence in report.absences),
        **{name: getattr(sweep, name) for name in names},
    )
