"""A crowd shares reads of a graph, and sees what was stored before it asked."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UnknownGraphError, UsageError
from pgs_neo4j.model import PartitionMap
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.shared import MOST_KEPT, GraphLookups, MapDrawings, visible_graph


class Graphs:
    """Stored graphs; each read waits until it may end."""

    def __init__(self) -> None:
        self.names: set[str] = {"papers"}
        self.reads: list[asyncio.Event] = []

    async def get(self, name: str | None) -> Any:
        there, go = set(self.names), asyncio.Event()
        self.reads.append(go)
        await go.wait()
        if name not in there:
            raise UnknownGraphError(f"there is no graph {name}")
        return SimpleNamespace(name=name)


def lookups() -> tuple[GraphLookups, Graphs]:
    graphs = Graphs()
    return GraphLookups(cast(PGS, SimpleNamespace(graphs=graphs))), graphs


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_crowd_shares_two_reads() -> None:
    here, graphs = lookups()
    first = asyncio.create_task(here.find("papers"))
    await turns()
    leaving, *others = [asyncio.create_task(here.find("papers")) for _ in range(49)]
    await turns()
    leaving.cancel()  # and takes the read from nobody
    graphs.reads[0].set()
    assert (await first).name == "papers"
    await turns()
    graphs.reads[1].set()
    assert {one.name for one in await asyncio.gather(*others)} == {"papers"}
    assert len(graphs.reads) == 2
    assert leaving.cancelled()


async def test_a_graph_that_was_stored_before_the_request_is_seen() -> None:
    here, graphs = lookups()
    early = asyncio.create_task(here.find("new"))
    await turns()
    graphs.names.add("new")
    late = asyncio.create_task(here.find("new"))
    await turns()
    graphs.reads[0].set()
    with pytest.raises(UnknownGraphError):
        await early
    await turns()
    graphs.reads[1].set()
    assert (await late).name == "new"


@pytest.mark.parametrize("graphs", [None, frozenset({"papers", "birds"})])
async def test_a_request_is_told_to_name_a_graph_as_requests_do(
    graphs: frozenset[str] | None,
) -> None:
    several = UnknownGraphError("there are several; --graph", several=("birds", "papers"))

    async def find(name: str | None) -> Any:
        raise several

    serving: Any = SimpleNamespace(lookups=SimpleNamespace(find=find))
    with pytest.raises(UnknownGraphError) as caught:
        await visible_graph(serving, Caller("ann", "asker", graphs=graphs), None)
    assert "--" not in str(caught.value)
    assert "; name one as 'graph' in the query or the body" in str(caught.value)


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
