"""``pgs.sessions``: series of questions, and the coverage of each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.viewing import of_graph
from pgs_neo4j.model import Coverage
from pgs_neo4j.pgs.partitioning.result import Partitioning, read_current
from pgs_neo4j.pgs.runs import session as stored_sessions
from pgs_neo4j.pgs.runs.session import SessionInfo
from pgs_neo4j.text.json_data import Json


@dataclass(frozen=True, slots=True)
class Sessions:
    """Stored sessions. Called, it lists them: ``await pgs.sessions("papers")``."""

    _core: Core

    async def __call__(self, graph: str | None = None) -> list[SessionInfo]:
        """Return the sessions of one graph, or of all graphs, with coverage, the latest first."""
        if self._core.restriction:
            return await self._list_all(graph)
        infos = await stored_sessions.list_sessions(self._core.db, graph)
        redefined = await self._list_redefined()
        current = {
            name: await self._read_current(name, redefined) for name in {i.graph for i in infos}
        }
        return [
            replace(
                info,
                coverage=await self._read_coverage(info.graph, info.id, current[info.graph]),
                redefined=info.graph in redefined,
            )
            for info in infos
        ]

    async def _list_all(self, graph: str | None) -> list[SessionInfo]:
        """Return the sessions of one graph, or of all, as a restriction allows."""
        opened = await self._core.opened_all()
        chosen = {graph: await self._core.opened(graph)} if graph else opened
        found = [info for name, core in chosen.items() for info in await Sessions(core)(name)]
        return sorted(found, key=lambda info: info.updated_at, reverse=True)

    @of_graph
    async def runs(self, session: str, graph: str | None = None) -> list[Json]:
        """Return the runs of a session, oldest first.

        Each run has its properties and one row per sweep. ``redefined`` is true if the run was
        asked of an earlier definition of the graph. Raises UnknownSessionError.
        """
        stored = await self._core.graph(graph)
        runs = await stored_sessions.show_runs(self._core.db, stored.name, session)
        definitions = [run.pop("definition") for run in runs]
        return [
            {**run, "redefined": catalog.is_redefined(definition, stored.mapping)}
            for run, definition in zip(runs, definitions, strict=True)
        ]

    @of_graph
    async def coverage(self, session: str, graph: str | None = None) -> Coverage | None:
        """Return a session's coverage of the current generation.

        Returns None if there is no generation, or if the generation was made for an earlier
        definition of the graph.
        """
        name = graph or (await self._core.graph(None)).name
        current = await self._read_current(name, await self._list_redefined())
        return await self._read_coverage(name, session, current)

    @of_graph
    async def delete(self, session: str, graph: str | None = None) -> None:
        """Delete a session with its runs, findings, and coverage.

        Raises UnknownSessionError.
        """
        stored = await self._core.graph(graph)
        await stored_sessions.delete_session(self._core.db, stored.name, session)

    async def _list_redefined(self) -> set[str]:
        """Return the graphs whose current generation was made for an earlier definition."""
        return {stored.name for stored in await catalog.graphs(self._core.db) if stored.redefined}

    async def _read_current(self, graph: str, redefined: set[str]) -> Partitioning | None:
        """Return the current partitions of a graph; None if its definition has changed since."""
        return None if graph in redefined else await read_current(self._core.db, graph)

    async def _read_coverage(
        self, graph: str, session: str, current: Partitioning | None
    ) -> Coverage | None:
        if current is None:
            return None
        read = await stored_sessions.read_so_far(
            self._core.db, graph, session, current.generation.id
        )
        return read.coverage(current.partitions, current.generation.texts)
