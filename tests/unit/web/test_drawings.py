"""A map is drawn once for all who look at the same time, and kept."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import PartitionMap
from pgs_neo4j.web.drawings import MOST_KEPT, MapDrawings


class Engine:
    """Draws maps of the generation of now when it may, and counts."""

    def __init__(self) -> None:
        self.generation_id = "g1"
        self.drawn: list[tuple[str, int | None, bool]] = []
        self.may = asyncio.Event()
        self.error: Exception | None = None
        self.partitions = SimpleNamespace(generation=self.generation)
        self.browse = SimpleNamespace(map=self.map)

    async def generation(self, graph: str) -> Any:
        return SimpleNamespace(id=self.generation_id)

    async def map(self, graph: str, *, within: int | None, store: bool) -> PartitionMap:
        generation = self.generation_id
        self.drawn.append((generation, within, store))
        await self.may.wait()
        if self.error is not None:
            raise self.error
        return PartitionMap(generation=generation, level=0, places=())


@pytest.fixture
def engine() -> Engine:
    return Engine()


def drawings_of(engine: Engine, **options: Any) -> MapDrawings:
    return MapDrawings(cast(PGS, engine), **options)


async def start(*looks: Any) -> list[asyncio.Task[PartitionMap]]:
    """Begin to look, and get as far as the drawing."""
    tasks = [asyncio.create_task(look) for look in looks]
    for _ in range(5):
        await asyncio.sleep(0)
    return tasks


async def test_simultaneous_looks_share_one_drawing(engine: Engine) -> None:
    drawings = drawings_of(engine)
    leaving, *tasks = await start(*(drawings.find("papers") for _ in range(20)))
    leaving.cancel()  # and takes the map from nobody
    engine.may.set()
    maps = await asyncio.gather(*tasks)
    assert leaving.cancelled()
    assert engine.drawn == [("g1", None, True)]
    assert all(one is maps[0] for one in maps)
    assert await drawings.find("papers") is maps[0]
    assert len(engine.drawn) == 1


async def test_a_failure_reaches_all_who_look_and_is_tried_again(engine: Engine) -> None:
    drawings = drawings_of(engine)
    engine.error = UsageError("no such unit")
    tasks = await start(drawings.find("papers", 9), drawings.find("papers", 9))
    engine.may.set()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(end) for end in ends] == ["no such unit"] * 2
    engine.error = None
    assert (await drawings.find("papers", 9)).generation == "g1"
    assert len(engine.drawn) == 2


async def test_generations_and_units_have_maps_of_their_own_of_which_some_are_kept(
    engine: Engine,
) -> None:
    drawings = drawings_of(engine, storing=False)
    engine.may.set()
    for within in (None, 1, 2, None):
        await drawings.find("papers", within)
    engine.generation_id = "g2"
    await drawings.find("papers")
    assert engine.drawn == [
        ("g1", None, False), ("g1", 1, False), ("g1", 2, False), ("g2", None, False),
    ]  # fmt: skip
    engine.drawn.clear()
    units = range(10, 10 + MOST_KEPT)
    for unit in (*units, *units):
        await drawings.find("papers", unit)
    assert len(engine.drawn) == MOST_KEPT
    await drawings.find("papers")
    assert len(engine.drawn) == MOST_KEPT + 1, "the oldest is drawn again"
