"""``pgs.browse``: single nodes of a graph, and what is around them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from pgs_neo4j.engine.browse.maps import (
    draw_map,
    pack,
    read_analogies,
    read_flags,
    read_positions,
    write_positions,
)
from pgs_neo4j.engine.browse.nodes import GraphView, read_findings, read_node
from pgs_neo4j.engine.browse.pages import read_members, read_neighbors
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.viewing import of_graph
from pgs_neo4j.errors import DatabaseError, UnknownPartitionError
from pgs_neo4j.model import (
    GraphDrift,
    MemberPage,
    NeighborPage,
    NodeDetails,
    NodeFinding,
    PartitionAnalogy,
    PartitionFlag,
    PartitionMap,
    PartitionReading,
)
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.partitioning.drift import measure_partitions
from pgs_neo4j.pgs.runs import session as stored_sessions


@dataclass(frozen=True, slots=True)
class Browser:
    """Looks up graph nodes by ``element_id``, which citations and searches give.

    Only nodes and relationships in the view of the graph are read. A node outside the view is
    treated as if it did not exist. All methods raise UnknownGraphError and DatabaseError, and
    UsageError for a ``limit`` that is not from 1 to 500.
    """

    _core: Core

    @of_graph
    async def node(self, graph: str | None, element_id: str) -> NodeDetails:
        """Return a node with its full text and its properties. Raises UnknownNodeError."""
        return await read_node(self._core.db, await self._find_view(graph), element_id)

    @of_graph
    async def neighbors(
        self,
        graph: str | None,
        element_id: str,
        *,
        relationship_type: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> NeighborPage:
        """Return a page of a node's neighbors, with counts by type on the first page.

        ``after`` comes from the previous page. New relationships do not make later pages skip or
        repeat neighbors. Raises UnknownNodeError.
        """
        return await read_neighbors(
            self._core.db,
            await self._find_view(graph),
            element_id,
            relationship_type=relationship_type,
            after=after,
            limit=limit,
        )

    @of_graph
    async def findings_on_node(
        self,
        graph: str | None,
        element_id: str,
        *,
        sessions: Sequence[str] | None = None,
        limit: int = 20,
    ) -> tuple[NodeFinding, ...]:
        """Return findings of accepted sweeps that cite a node, the latest run first.

        Only runs of the given ``sessions`` count; None means all. Raises UnknownNodeError.
        """
        view = await self._find_view(graph)
        return await read_findings(self._core.db, view, element_id, sessions=sessions, limit=limit)

    @of_graph
    async def members(
        self, graph: str | None, partition_id: int, *, after: int | None = None, limit: int = 50
    ) -> MemberPage:
        """Return a page of a current partition's members, heaviest first.

        ``after`` comes from the previous page. Raises UnknownPartitionError and
        NotPartitionedError.
        """
        view = await self._find_view(graph)
        page = await read_members(self._core.db, view, partition_id, after=after, limit=limit)
        if page is None:
            await self._core.current(await self._core.graph(view.name), centroids=False)
            raise UnknownPartitionError(
                f"graph {view.name} has no partition {partition_id}; "
                f"'pgs partitions --graph {view.name}' lists them"
            )
        return page

    @of_graph
    async def map(
        self, graph: str | None = None, *, within: int | None = None, store: bool = False
    ) -> PartitionMap:
        """Return a map of the current partitions, the largest first.

        If there are more than 1,000 partitions, the map shows the units that group them. Pass the
        id of such a unit as ``within`` to get a map of its partitions. Drawing takes seconds, and
        always gives the same map for a generation. With ``store``, the database keeps the positions
        of the places, so that later calls need not compute them; a map of a single unit is never
        stored. Raises UnknownPartitionError if the map shows no unit ``within``, and
        NotPartitionedError.
        """
        current = await self._core.current(await self._core.graph(graph), centroids=False)
        units = await generation.read_units(self._core.db, current.generation.id)
        generation_id = current.generation.id
        stored = await read_positions(self._core.db, generation_id) if within is None else b""
        try:
            drawn = await asyncio.to_thread(
                draw_map, generation_id, current.partitions, units, within, stored
            )
        except KeyError:
            raise UnknownPartitionError(f"the map shows no unit {within}") from None
        if store and within is None and stored != pack(drawn.places):
            # A user without the right to write still gets the map.
            with suppress(DatabaseError):
                await write_positions(self._core.db, generation_id, drawn.places)
        return drawn

    @of_graph
    async def nodes_read(self, graph: str | None, session: str) -> dict[int, int]:
        """Return how many nodes of each current partition a session has read."""
        readings = await self.reading(graph, session)
        return {item.partition: item.nodes_read for item in readings if item.nodes_read}

    @of_graph
    async def reading(self, graph: str | None, session: str) -> tuple[PartitionReading, ...]:
        """Return how many nodes of each current partition a session was shown, by partition id.

        Partitions without shown nodes are left out.
        """
        stored = await self._core.graph(graph)
        current = await self._core.current(stored, centroids=False)
        read = await stored_sessions.read_so_far(
            self._core.db, stored.name, session, current.generation.id
        )
        return tuple(
            PartitionReading(
                partition=id_,
                nodes_read=read.counts.get(id_, 0),
                nodes_unproven=read.unproven_counts.get(id_, 0),
            )
            for id_ in sorted(read.counts.keys() | read.unproven_counts.keys())
        )

    @of_graph
    async def analogies(self, graph: str | None = None) -> tuple[PartitionAnalogy, ...]:
        """Return the pairs of current partitions linked by analogies, most links first."""
        return await read_analogies(self._core.db, await self._find_view(graph))

    @of_graph
    async def flags(self, graph: str | None, session: str) -> tuple[PartitionFlag, ...]:
        """Return the flags of a session between current partitions, the latest run first."""
        return await read_flags(self._core.db, (await self._core.graph(graph)).name, session)

    @of_graph
    async def drift(self, graph: str | None = None) -> GraphDrift:
        """Return how far each current partition has moved since it was made.

        If another program has committed since, the graph is scanned, which takes as long as a
        check of the graph. Nothing is written. Raises NotPartitionedError.
        """
        stored = await self._core.graph(graph)
        current = await self._core.current(stored, centroids=False)
        tools = self._core.partition_tools(stored.mapping, None)
        return await measure_partitions(tools, stored.mapping, current.generation)

    async def _find_view(self, graph: str | None) -> GraphView:
        stored = await self._core.graph(graph)
        return GraphView(stored.name, stored.mapping)
