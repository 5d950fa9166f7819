"""Tables as CSV or Parquet: the parts of an answer, and the recorded runs."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import Query, Response

from pgs_neo4j.export import BYTE_ORDER_MARK, Table, answer_table, runs_table, to_csv, to_parquet
from pgs_neo4j.web.access.callers import UnrecordedRunError
from pgs_neo4j.web.routes.router import Responses, api_router, failing
from pgs_neo4j.web.routes.runs import RunId, stored_run
from pgs_neo4j.web.shared import CallerNow, ServingNow, visible_graph

router = api_router("runs")

MOST_RUNS = 10_000
PARQUET = "application/vnd.apache.parquet"

Form = Literal["csv", "parquet"]

TABLE_FORMS: Responses = {
    200: {"description": "The table", "content": {kind: {} for kind in ("text/csv", PARQUET)}}
}


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
    return await _written(runs_table(shown), form, "runs")


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
    document = await serving.pgs.document(run)
    return await _written(answer_table(document, table), form, f"{run}-{table}")


async def _written(table: Table, form: Form, name: str) -> Response:
    """Return a table as a file to be saved. Nothing in it is ever shown as a page."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    if form == "parquet":
        content = await to_thread(to_parquet, table)  # the first one loads the library
        return Response(content, media_type=PARQUET, headers=headers)
    text = BYTE_ORDER_MARK + await to_thread(to_csv, table)
    return Response(
        text.encode("utf-8"), media_type="text/csv; charset=utf-8; header=present", headers=headers
    )
