"""Routes for answers: as page, file, or table, single reports, and feedback.

A table of recorded runs is also served here.
"""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import Path, Query, Response
from pydantic import BaseModel

from pgs_neo4j.errors import BusyError
from pgs_neo4j.export import (
    BYTE_ORDER_MARK,
    Table,
    answer_table,
    policy,
    runs_table,
    to_csv,
    to_fragment,
    to_html,
    to_json,
    to_markdown,
    to_parquet,
)
from pgs_neo4j.export.style import PAGE
from pgs_neo4j.model import FeedbackResult, Finding, Flag, Outcome, Report, SweepStatus
from pgs_neo4j.web.access.callers import UnrecordedRunError
from pgs_neo4j.web.routes.router import BODY, Responses, api_router, failing
from pgs_neo4j.web.routes.runs import RunId, stored_run
from pgs_neo4j.web.shared import AskerNow, CallerNow, ServingNow, visible_graph

router = api_router("runs")
ANSWER_POLICY = f"{policy(PAGE)}; sandbox"
ANSWER_FORMS: Responses = {
    200: {
        "description": "The answer: a page or a part of one, Markdown, or JSON",
        "content": {kind: {} for kind in ("text/html", "text/markdown", "application/json")},
    }
}
MOST_RUNS = 10_000
PARQUET = "application/vnd.apache.parquet"
Form = Literal["csv", "parquet"]
TABLE_FORMS: Responses = {
    200: {"description": "The table", "content": {kind: {} for kind in ("text/csv", PARQUET)}}
}
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


class Feedback(BaseModel):
    """An outcome, and whether it may replace another one."""

    model_config = BODY

    outcome: Outcome
    replace: bool = False


@router.get(
    "/runs/{run}/answer.{kind}",
    response_class=Response,
    responses=ANSWER_FORMS | failing(UnrecordedRunError),
)
async def answer(
    run: RunId,
    kind: Literal["html", "fragment", "md", "json"],
    serving: ServingNow,
    caller: CallerNow,
) -> Response:
    """Return the answer of a run as a page, as a part of one, as Markdown, or as JSON."""
    await stored_run(serving, caller, run)
    document = await serving.pgs.runs.document(run)
    if kind == "html":
        headers = {"Content-Security-Policy": ANSWER_POLICY}
        return Response(to_html(document), media_type="text/html", headers=headers)
    if kind == "fragment":
        return Response(to_fragment(document), media_type="text/html")
    if kind == "md":
        return Response(to_markdown(document), media_type="text/markdown")
    return Response(to_json(document), media_type="application/json")


@router.get("/runs.{form}", response_class=Response, responses=TABLE_FORMS)
async def list_runs_as_table(
    form: Form,
    serving: ServingNow,
    caller: CallerNow,
    graph: str | None = None,
    session: str | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST_RUNS)] = 1000,
) -> Response:
    """Return the newest runs as a table, the latest first."""
    if graph is not None:
        await visible_graph(serving, caller, graph)
    stored = None if session is None else caller.stored_session(session)
    infos = await serving.pgs.runs(
        graph, stored, limit=limit, graphs=caller.graphs, sessions_of=caller.own_prefix
    )
    shown = [
        replace(info, session=own)
        for info in infos
        if caller.sees(info.graph) and (own := caller.own_session(info.session)) is not None
    ]
    return await _make_table_response(runs_table(shown), form, "runs")


@router.get(
    "/runs/{run}/tables/{table}.{form}",
    response_class=Response,
    responses=TABLE_FORMS | failing(UnrecordedRunError),
)
async def answer_as_table(
    run: RunId,
    table: Literal["findings", "absences", "connections", "coverage", "sources"],
    form: Form,
    serving: ServingNow,
    caller: CallerNow,
) -> Response:
    """Return a part of the answer of a run as a table."""
    await stored_run(serving, caller, run)
    document = await serving.pgs.runs.document(run)
    return await _make_table_response(answer_table(document, table), form, f"{run}-{table}")


async def _make_table_response(table: Table, form: Form, name: str) -> Response:
    """Return a table as a download, so that browsers never render its content."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    if form == "parquet":
        content = await to_thread(to_parquet, table)  # the first call loads a library
        return Response(content, media_type=PARQUET, headers=headers)
    text = BYTE_ORDER_MARK + await to_thread(to_csv, table)
    return Response(
        text.encode("utf-8"), media_type="text/csv; charset=utf-8; header=present", headers=headers
    )


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


@router.post("/runs/{run}/feedback", responses=failing(BusyError))
async def give_feedback(
    run: RunId, body: Feedback, serving: ServingNow, caller: AskerNow
) -> FeedbackResult:
    """Say whether an answer was useful. Cited nodes then rank higher or lower in all searches."""
    serving.require_writing()
    stored = await stored_run(serving, caller, run)
    return await serving.pgs.runs.feedback(
        run, body.outcome, graph=stored.graph, replace=body.replace
    )
