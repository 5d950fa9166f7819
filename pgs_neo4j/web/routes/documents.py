"""Documents of an ingested graph: listed, shown, and deleted with proof."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel

from pgs_neo4j.errors import BusyError
from pgs_neo4j.model.deletion import Deletion
from pgs_neo4j.model.ingest import DocumentDetails, IngestedDocument
from pgs_neo4j.text.natural_order import document_key
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.routes.router import GraphName, api_router, failing
from pgs_neo4j.web.shared import CallerNow, OperatorNow, ServingNow, visible_graph

router = api_router("documents")

DocumentId = Annotated[
    str, Query(alias="id", min_length=1, max_length=2000, description="id of the document")
]


class DocumentPage(BaseModel):
    """Some documents in their order, and how many there are. ``after`` leads to the next page."""

    total: int
    documents: list[IngestedDocument]
    after: str | None


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
    # Of a document that is gone by now, only the id is known. Its file's records without keys are
    # then listed once more, and none is left out.
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

    To ``forget`` changes answers about other graphs too, so it needs a token that is not limited.
    """
    serving.require_writing()
    if forget:
        caller.require_all_graphs()
    name = await visible_graph(serving, caller, graph)
    return _told(await serving.pgs.ingest.delete(name, [document], forget=forget), caller)


def _told(done: Deletion, caller: Caller) -> Deletion:
    """Return a deletion without what belongs to others; the counts stay."""
    if not caller.tenant:
        return done
    quoting = (
        replace(one, session=own)
        for one in done.quoting
        if caller.sees(one.graph) and (own := caller.own_session(one.session)) is not None
    )
    return replace(done, quoting=tuple(quoting), holders=())
