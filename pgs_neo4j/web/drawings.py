"""Maps of generations, each drawn once for all who look at it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from pgs_neo4j.engine import PGS
from pgs_neo4j.model import PartitionMap

MOST_KEPT = 16

MapKey = tuple[str, int | None]


@dataclass(slots=True)
class MapDrawings:
    """Draws maps, and keeps those drawn last, by generation and unit.

    ``storing``: the database keeps where places stand, for the time after a restart.
    """

    pgs: PGS
    storing: bool = True
    _kept: dict[MapKey, PartitionMap] = field(default_factory=dict, repr=False)
    _drawing: dict[MapKey, asyncio.Task[PartitionMap]] = field(default_factory=dict, repr=False)

    async def find(self, graph: str, within: int | None = None) -> PartitionMap:
        """Return the map of the current generation, or of a unit of it.

        Raises NotPartitionedError and UnknownPartitionError.
        """
        key = (await self.pgs.partitions.generation(graph)).id, within
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        task = self._drawing.get(key)
        if task is None:
            task = self._drawing[key] = asyncio.create_task(self._draw(graph, within))
            task.add_done_callback(lambda done: self._end(key, done))
        return await asyncio.shield(task)  # others wait for it as well

    async def _draw(self, graph: str, within: int | None) -> PartitionMap:
        drawn = await self.pgs.browse.map(graph, within=within, store=self.storing)
        self._kept[drawn.generation, within] = drawn
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return drawn

    def _end(self, key: MapKey, done: asyncio.Task[PartitionMap]) -> None:
        del self._drawing[key]
        if not done.cancelled():
            done.exception()  # those who waited have it; without any, nobody misses it
