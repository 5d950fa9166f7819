"""Routes for sessions: their runs, and how much of a graph they have read."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel

from pgs_neo4j.errors import UnknownSessionError
from pgs_neo4j.model import Coverage
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.web.routes.router import GraphFilter, GraphName, api_router
from pgs_neo4j.web.shared import CallerNow, ServingNow, visible_graph

router = api_router("sessions")

RUN_FIELDS = (
    *("id", "question", "mode", "status", "thesis", "started_at", "finished_at", "seconds"),
    *("nodes_read", "nodes_unproven", "cost", "error", "outcome", "redefined"),
)


class ListedSession(BaseModel):
    """A session; ``coverage`` is of the current generation, null without one."""

    session: str
    graph: str
    runs: int
    created_at: str
    updated_at: str
    coverage: Coverage | None
    redefined: bool


@router.get("/sessions")
async def list_sessions(
    serving: ServingNow, caller: CallerNow, graph: GraphFilter = None
) -> list[ListedSession]:
    """Return the caller's sessions with their coverage, the latest first."""
    if graph is not None:
        await visible_graph(serving, caller, graph)
    return [
        ListedSession(
            session=own,
            graph=info.graph,
            runs=info.runs,
            created_at=info.created_at,
            updated_at=info.updated_at,
            coverage=info.coverage,
            redefined=info.redefined,
        )
        for info in await serving.pgs.sessions(graph)
        if caller.sees(info.graph) and (own := caller.own_session(info.id)) is not None
    ]


SessionName = Annotated[
    str, Path(min_length=1, max_length=400, description="name of the session; may hold slashes")
]


@router.get("/graphs/{graph}/sessions/{session:path}")
async def show_session(
    graph: GraphName, session: SessionName, serving: ServingNow, caller: CallerNow
) -> Json:
    """Return a session with its runs, oldest first, and its coverage."""
    name = await visible_graph(serving, caller, graph)
    stored = caller.stored_session(session)
    try:
        runs = await serving.pgs.sessions.runs(stored, name)
    except UnknownSessionError:
        raise UnknownSessionError(f"graph {name} has no session {session}") from None
    covered = await serving.pgs.sessions.coverage(stored, name)
    return {
        "session": session,
        "graph": name,
        "coverage": plain_data(covered),
        "runs": [
            {"sweeps": plain_data(run.get("sweeps"))}
            | {field: plain_data(run.get(field)) for field in RUN_FIELDS}
            for run in runs
        ],
    }
