"""Graphs that requests name, looked up once for all requests that wait."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from pgs_neo4j.engine import PGS, StoredGraph


@dataclass(slots=True)
class GraphLookups:
    """Reads graphs. A crowd of requests shares two reads of each graph.

    A request never shares a read that began before it came, so it sees what was stored by then.
    """

    pgs: PGS
    _next: dict[str | None, asyncio.Task[StoredGraph]] = field(default_factory=dict, repr=False)
    _reading: WeakValueDictionary[str | None, asyncio.Lock] = field(
        default_factory=WeakValueDictionary, repr=False
    )

    async def find(self, name: str | None) -> StoredGraph:
        """Return a stored graph; without a name, the only one. Raises UnknownGraphError."""
        shared = self._next.get(name)
        if shared is None:
            shared = self._next[name] = asyncio.create_task(self._read(name))
        return await asyncio.shield(shared)  # others wait for it as well

    async def _read(self, name: str | None) -> StoredGraph:
        lock = self._reading.get(name)
        if lock is None:
            lock = self._reading[name] = asyncio.Lock()
        async with lock:
            del self._next[name]  # a request from here on needs a later read
            return await self.pgs.graphs.get(name)
