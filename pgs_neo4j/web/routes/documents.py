"""Routes that list, show, delete, upload, and ingest documents of a graph.

Files are uploaded one by one, then a job ingests them together.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import Path, Query, Request
from pydantic import BaseModel, Field

from pgs_neo4j.engine import check_graph_name
from pgs_neo4j.errors import BudgetError, BusyError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.model.ingest import Deletion, DocumentDetails, IngestedDocument
from pgs_neo4j.text.shown import document_key
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.jobs import UNREAD, LiveJob, ServedJobEnd, ingest, upload_sources, within
from pgs_neo4j.web.routes.operations import StartedJob, describe_job
from pgs_neo4j.web.routes.router import (
    BODY,
    UPLOAD_ID,
    GraphName,
    NewGraphName,
    api_router,
    failing,
)
from pgs_neo4j.web.shared import CallerNow, OperatorNow, Serving, ServingNow, visible_graph
from pgs_neo4j.web.uploads import MOST_FILES, close_all

router = api_router("documents")
DocumentId = Annotated[
    str, Query(alias="id", min_length=1, max_length=2000, description="id of the document")
]
FileName = Annotated[
    str,
    Query(min_length=1, max_length=500, description="path of the file below its folder; its id"),
]
UploadId = Annotated[str, Field(pattern=UPLOAD_ID)]
FILE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class DocumentPage(BaseModel):
    """Some documents in their order, and how many there are. ``after`` leads to the next page."""

    total: int
    documents: list[IngestedDocument]
    after: str | None


class UploadRules(BaseModel):
    """Which files are taken. No ``endings``: a loader of your own decides."""

    endings: list[str]
    most_bytes: int
    most_files: int
    most_total: int
    wait_s: float


class WaitingFile(BaseModel):
    """A file that waits to be ingested."""

    id: str
    name: str
    size: int


class NewIngestion(BaseModel):
    """Files that wait, to be ingested together."""

    model_config = BODY

    uploads: Annotated[list[UploadId], Field(min_length=1, max_length=MOST_FILES)]
    embed: bool = False
    max_cost: Annotated[float | None, Field(gt=0.0)] = None


class PlannedIngestion(BaseModel):
    """What an ingestion would do and cost; costs are null without prices."""

    states: dict[str, int]
    calls: int
    low: float | None
    high: float | None
    budget: str
    contexts: dict[str, str]
    context_advice: list[str]


@router.get("/graphs/{graph}/documents")
async def list_documents(
    graph: GraphName,
    serving: ServingNow,
    caller: CallerNow,
    after: Annotated[str, Query(max_length=2000)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> DocumentPage:
    """Return a page of the documents of a graph; none of a graph that was not ingested."""
    listed = await serving.pgs.ingest.documents(await visible_graph(serving, caller, graph))
    # If the document ``after`` no longer exists, only its id is known, not its title. Then some
    # records of its file may be listed twice, but none is left out.
    title = next((one.name for one in listed if one.id == after), "")
    first = document_key(after, title)
    rest = [one for one in listed if document_key(one.id, one.name) > first]
    rest.sort(key=lambda one: document_key(one.id, one.name))
    page = rest[:limit]
    more = page[-1].id if len(rest) > limit else None
    return DocumentPage(total=len(listed), documents=page, after=more)


@router.get("/graphs/{graph}/document")
async def show_document(
    graph: GraphName, document: DocumentId, serving: ServingNow, caller: CallerNow
) -> DocumentDetails:
    """Return a document with its chunks, and what was extracted from each."""
    return await serving.pgs.ingest.document(await visible_graph(serving, caller, graph), document)


@router.delete("/graphs/{graph}/document", responses=failing(BusyError))
async def delete_document(
    graph: GraphName,
    document: DocumentId,
    serving: ServingNow,
    caller: OperatorNow,
    forget: Annotated[bool, Query(description="also remove its text from answers")] = False,
) -> Deletion:
    """Delete a document and what stood only in it, and search the database for its text.

    ``forget`` also changes answers about other graphs, so it needs a token that sees all graphs.
    """
    serving.require_writing()
    if forget:
        caller.require_all_graphs()
    name = await visible_graph(serving, caller, graph)
    return _hide_others(await serving.pgs.ingest.delete(name, [document], forget=forget), caller)


def _hide_others(done: Deletion, caller: Caller) -> Deletion:
    """Return a deletion without data of other callers. The counts stay."""
    if not caller.tenant:
        return done
    quoting = (
        replace(one, session=own)
        for one in done.quoting
        if caller.sees(one.graph) and (own := caller.own_session(one.session)) is not None
    )
    return replace(done, quoting=tuple(quoting), holders=())


@router.get("/uploads")
async def show_rules(serving: ServingNow, _: OperatorNow) -> UploadRules:
    """Return which files are taken, and how many may wait."""
    uploads = serving.uploads
    files, total = uploads.limits_for_one_caller
    return UploadRules(
        endings=list(serving.pgs.ingest.endings),
        most_bytes=uploads.most_bytes,
        most_files=files,
        most_total=total,
        wait_s=uploads.wait_s,
    )


@router.post(
    "/graphs/{graph}/uploads",
    status_code=201,
    openapi_extra=FILE_BODY,
    responses=failing(BusyError),
)
async def upload(
    graph: NewGraphName, name: FileName, request: Request, serving: ServingNow, caller: OperatorNow
) -> WaitingFile:
    """Take in a file, the body of the request, which then waits to be ingested into a graph."""
    require_ingesting(serving, caller, graph)
    endings = serving.pgs.ingest.endings
    taken = await serving.uploads.receive(caller, graph, name, endings, request.stream())
    return WaitingFile(id=taken.id, name=taken.name, size=taken.size)


@router.delete("/uploads/{upload}", status_code=204)
async def discard(
    upload: Annotated[str, Path(pattern=UPLOAD_ID, description="id of the file")],
    serving: ServingNow,
    caller: OperatorNow,
) -> None:
    """Remove a file that waits."""
    serving.uploads.discard(caller, upload)


@router.post("/graphs/{graph}/ingestions/plan", responses=failing(BudgetError))
async def plan_ingestion(
    graph: NewGraphName, body: NewIngestion, serving: ServingNow, caller: OperatorNow
) -> PlannedIngestion:
    """Return what ingesting the files would do and cost. No model is called."""
    require_ingesting(serving, caller, graph)
    uploads = serving.uploads.find(caller, graph, body.uploads)
    limit = await _find_cost_limit(serving, caller, body)
    sources = upload_sources(serving.pgs, uploads)
    planned = await serving.pgs.ingest.plan(sources, graph, embed=body.embed, **within(limit))
    states = Counter(str(one.state) for one in planned.outcomes if one.state not in UNREAD)
    return PlannedIngestion(
        states=dict(states),
        calls=planned.calls,
        low=planned.low,
        high=planned.high,
        budget=planned.budget,
        contexts=dict(planned.contexts),
        context_advice=list(planned.context_advice),
    )


@router.post(
    "/graphs/{graph}/ingestions", status_code=202, responses=failing(BudgetError, BusyError)
)
async def start_ingestion(
    graph: NewGraphName, body: NewIngestion, serving: ServingNow, caller: OperatorNow
) -> StartedJob:
    """Ingest the files in the background of this server. Other documents of the graph stay.

    A graph of a new name is made. A file that did not change costs nothing.
    """
    require_ingesting(serving, caller, graph)
    limit = await _find_cost_limit(serving, caller, body)
    uploads = serving.uploads.take(caller, graph, body.uploads)

    async def work(on_event: OnEvent) -> ServedJobEnd:
        return await ingest(
            serving.pgs, graph, uploads, embed=body.embed, most_cost=limit, on_event=on_event
        )

    job = LiveJob(graph, caller, "ingest", most_cost=limit or 0.0)
    return describe_job(serving.jobs.start(job, work, on_end=partial(close_all, uploads)))


def require_ingesting(serving: Serving, caller: Caller, graph: str) -> None:
    """Raise an error unless the caller may ingest into a graph.

    Raises ForbiddenError if the server only reads, UnknownGraphError if the caller must not see the
    graph, and UsageError for an invalid name.
    """
    serving.require_writing()
    check_graph_name(caller.check_graph(graph))


async def _find_cost_limit(serving: Serving, caller: Caller, body: NewIngestion) -> float | None:
    """Return the lower of the caller's remaining money and the request's limit, if any.

    Raises BudgetError if no money is left.
    """
    given = (await serving.remaining_cost(caller), body.max_cost)
    return min((most for most in given if most is not None), default=None)
