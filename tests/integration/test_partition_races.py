"""A GDS without memory, readers during flips, and two engines on one graph."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from pgs_neo4j.database import connection as db_module
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import GDS
from pgs_neo4j.engine import PGS, catalog
from pgs_neo4j.engine.graphs import read_graph_states
from pgs_neo4j.engine.jobs import repartition
from pgs_neo4j.errors import BusyError
from pgs_neo4j.events import Event, Warned
from pgs_neo4j.pgs.partitioning import ensure, result, writing
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import KNOBS, engine_on
from tests.leftovers import Seen, nothing_left, only, whole

READS = 3_000
READERS = 6
FLIPS = 5
PATIENCE_S = 240.0
HeldUp = tuple[asyncio.Event, asyncio.Event]
ADD_LINKS = (
    "MATCH (a:Paper {doi: $doi}) MATCH (b:Paper {topic: 3}) WITH a, b LIMIT 7 "
    "CREATE (a)-[:CITES {strength: 2.0}]->(b)"
)


@pytest.mark.nightly
async def test_reads_during_flips_see_all_old_or_all_new(
    endpoint: Endpoint, pgs: PGS, db: Database, gds: GDS
) -> None:
    """Large and small partitions in turn: what is mixed of two generations does not add up."""
    await pgs.partitions.build("papers")
    reads, flips = 0, 0
    seen: set[Seen] = set()

    async def read(own: Database) -> None:
        nonlocal reads
        while reads < READS or flips < FLIPS:
            if reads % 4:
                seen.add(await whole(own, changing=True))
            else:
                made = await result.read_current(own, "papers")
                assert made is not None
                sizes = tuple(part.size for part in made.partitions)
                assert sizes == made.generation.sizes
                assert sum(sizes) == made.generation.node_count == 160
                uids = {part.uid.partition(":")[0] for part in made.partitions}
                assert uids == {made.generation.id}
                seen.add(Seen(made.generation.id, sizes))
            reads += 1

    async def flip() -> None:
        nonlocal flips
        while reads < READS or flips < FLIPS:
            most = 60 if flips % 2 else 12
            await pgs.partitions.build("papers", force=True, target_partition_max=most)
            flips += 1

    async with asyncio.timeout(PATIENCE_S), AsyncExitStack() as stack:
        pools = [
            await stack.enter_async_context(
                db_module.connect(endpoint.uri, endpoint.user, endpoint.password)
            )
            for _ in range(2)
        ]
        async with asyncio.TaskGroup() as group:
            group.create_task(flip())
            for number in range(READERS):
                group.create_task(read(pools[number % len(pools)]))
    assert len(seen) >= FLIPS
    assert len({one.id for one in seen}) == len(seen), "a generation changed"
    lengths = {len(one.sizes) for one in seen}
    assert min(lengths) == 4
    assert max(lengths) > 12
    await nothing_left(db, gds)
    await only(db, 3)


async def test_a_read_between_two_current_generations_finds_the_newest(
    pgs: PGS, db: Database
) -> None:
    """Under load, a read can follow the old relationship just when it goes, and miss the new."""
    for most in (60, 12):
        built = await pgs.partitions.build("papers", force=True, target_partition_max=most)
    await alter(db, "MATCH (:PgsGraph)-[r:PGS_CURRENT]->() DELETE r")
    found = await result.read_current(db, "papers")
    assert found is not None
    assert found.generation.id == built.generation.id
    (graph,) = await catalog.graphs(db)
    (state,) = await read_graph_states(db)
    assert graph.partition_count == state.partitions == len(built.partitions)
    last = len(built.partitions)
    page = await pgs.browse.members("papers", last)
    assert page is not None
    node = await pgs.browse.node("papers", page.members[0].element_id)
    assert node.partition == last


@pytest.fixture
def held_up(monkeypatch: pytest.MonkeyPatch) -> HeldUp:
    """Events: a build has reached its description; it may continue."""
    reached, go = asyncio.Event(), asyncio.Event()
    describe = writing.enrich.describe  # type: ignore[attr-defined]

    async def waiting(*args: Any, **how: Any) -> Any:
        reached.set()
        await go.wait()
        return await describe(*args, **how)

    monkeypatch.setattr(writing.enrich, "describe", waiting)  # type: ignore[attr-defined]
    return reached, go


@pytest.mark.thorough
async def test_while_another_engine_builds_a_question_uses_what_there_is(
    endpoint: Endpoint, pgs: PGS, db: Database, gds: GDS, held_up: HeldUp, monkeypatch: Any
) -> None:
    reached, go = held_up
    monkeypatch.setattr(ensure, "WAIT_S", 0.3)
    go.set()
    first = await pgs.partitions.build("papers")
    go.clear()
    reached.clear()
    await alter(db, ADD_LINKS, doi="doi/3")
    told: list[Event] = []
    async with (
        asyncio.timeout(PATIENCE_S),
        engine_on(endpoint, on_event=told.append, **KNOBS) as other,
    ):
        building = asyncio.create_task(pgs.partitions.build("papers"))
        await reached.wait()
        with pytest.raises(BusyError, match="partitioned by another job"):
            await other.partitions.build("papers")
        with pytest.raises(BusyError):
            await repartition(other, "papers")
        told.clear()
        answer = await other.execute("What is known?", graph="papers")
        assert not building.done()
        warned = [event.message for event in told if isinstance(event, Warned)]
        assert any("waiting for up to" in message for message in warned), warned
        assert any("continuing with the partitions of" in message for message in warned), warned
        assert {sweep.generation for sweep in answer.sweeps} == {first.generation.id}
        go.set()
        made = await building
        assert made.generation.id != first.generation.id
        assert (await other.partitions.build("papers")).generation.id == made.generation.id
    await nothing_left(db, gds)


async def test_a_question_waits_for_the_first_generation_of_another_engine(
    endpoint: Endpoint, pgs: PGS, db: Database, gds: GDS, held_up: HeldUp
) -> None:
    reached, go = held_up
    waits = asyncio.Event()

    def heard(event: Event) -> None:
        if isinstance(event, Warned) and "waiting for up to" in event.message:
            waits.set()

    async with asyncio.timeout(PATIENCE_S), engine_on(endpoint, on_event=heard, **KNOBS) as other:
        building = asyncio.create_task(pgs.partitions.build("papers"))
        await reached.wait()
        with pytest.raises(BusyError):
            await other.partitions.build("papers")
        asking = asyncio.create_task(other.execute("What is known?", graph="papers"))
        await waits.wait()
        assert not building.done()
        assert not asking.done()
        go.set()
        made, answer = await building, await asking
    assert {sweep.generation for sweep in answer.sweeps} == {made.generation.id}
    assert answer.coverage.exhausted
    await only(db, 1)
    await nothing_left(db, gds)
