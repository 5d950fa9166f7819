"""``pgs.sessions``: series of questions, and the coverage of each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgs_neo4j.engine.core import Core
from pgs_neo4j.model import Coverage
from pgs_neo4j.partitioning.result import Partitioning, read_current
from pgs_neo4j.runs import session as stored_sessions
from pgs_neo4j.runs.session import SessionInfo
from pgs_neo4j.text.json_data import Json


@dataclass(frozen=True, slots=True)
class Sessions:
    """Stored sessions. Called, it lists them: ``await pgs.sessions("papers")``."""

    _core: Core

    async def __call__(self, graph: str | None = None) -> list[SessionInfo]:
        """Return sessions of one or all graphs with coverage, latest first."""
        infos = await stored_sessions.list_sessions(self._core.db, graph)
        current = {
            name: await read_current(self._core.db, name) for name in {info.graph for info in infos}
        }
        return [
            replace(info, coverage=await self._coverage(info.graph, info.id, current[info.graph]))
            for info in infos
        ]

    async def runs(self, session: str, graph: str | None = None) -> list[Json]:
        """Return the runs of a session, oldest first.

        Each has its properties and one row per sweep. Raises UnknownSessionError.
        """
        stored = await self._core.graph(graph)
        return await stored_sessions.show_runs(self._core.db, stored.name, session)

    async def coverage(self, session: str, graph: str | None = None) -> Coverage | None:
        """Return a session's coverage of the current generation; None without one."""
        name = graph or (await self._core.graph(None)).name
        current = await read_current(self._core.db, name)
        return await self._coverage(name, session, current)

    async def delete(self, session: str, graph: str | None = None) -> None:
        """Delete a session with its runs, findings, and coverage.

        Raises UnknownSessionError.
        """
        stored = await self._core.graph(graph)
        await stored_sessions.delete_session(self._core.db, stored.name, session)

    async def _coverage(
        self, graph: str, session: str, current: Partitioning | None
    ) -> Coverage | None:
        if current is None:
            return None
        read = await stored_sessions.read_so_far(
            self._core.db, graph, session, current.generation.id
        )
        return read.coverage(current.partitions)
