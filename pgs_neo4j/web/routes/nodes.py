"""Routes for nodes: their texts, neighbors, partitions, and findings that cite them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Path, Query

from pgs_neo4j.model import MemberPage, NeighborPage, NodeDetails, NodeFinding
from pgs_neo4j.web.routes.router import GraphName, api_router
from pgs_neo4j.web.shared import CallerNow, ServingNow, own_sessions, visible_graph

router = api_router("nodes")

NodeId = Annotated[str, Path(max_length=200, description="element id of the node")]
Limit = Annotated[int, Query(ge=1, le=500)]
After = Annotated[str | None, Query(max_length=400, description="`after` of the previous page")]


@router.get("/graphs/{graph}/nodes/{node}")
async def show_node(
    graph: GraphName, node: NodeId, serving: ServingNow, caller: CallerNow
) -> NodeDetails:
    """Return a node with its full text, its properties, and its partition."""
    return await serving.pgs.browse.node(await visible_graph(serving, caller, graph), node)


@router.get("/graphs/{graph}/nodes/{node}/neighbors")
async def list_neighbors(
    graph: GraphName,
    node: NodeId,
    serving: ServingNow,
    caller: CallerNow,
    relationship_type: Annotated[str | None, Query(max_length=200)] = None,
    after: After = None,
    limit: Limit = 50,
) -> NeighborPage:
    """Return a page of the neighbors of a node; the first page counts them by type."""
    return await serving.pgs.browse.neighbors(
        await visible_graph(serving, caller, graph),
        node,
        relationship_type=relationship_type,
        after=after,
        limit=limit,
    )


@router.get("/graphs/{graph}/nodes/{node}/findings")
async def list_findings(
    graph: GraphName, node: NodeId, serving: ServingNow, caller: CallerNow, limit: Limit = 50
) -> list[NodeFinding]:
    """Return findings of the caller's runs that cite a node."""
    name = await visible_graph(serving, caller, graph)
    sessions = await own_sessions(serving, caller, name)
    listed = await serving.pgs.browse.findings_on_node(name, node, sessions=sessions, limit=limit)
    return [
        replace(finding, session=caller.own_session(finding.session) or "") for finding in listed
    ]


@router.get("/graphs/{graph}/partitions/{partition}/members")
async def list_members(
    graph: GraphName,
    partition: Annotated[int, Path(ge=1, le=10**9)],
    serving: ServingNow,
    caller: CallerNow,
    after: Annotated[int | None, Query(ge=0, le=10**12)] = None,
    limit: Limit = 50,
) -> MemberPage:
    """Return a page of the members of a current partition, the heaviest first."""
    return await serving.pgs.browse.members(
        await visible_graph(serving, caller, graph), partition, after=after, limit=limit
    )
