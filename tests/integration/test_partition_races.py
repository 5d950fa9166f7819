"""What others commit while a graph is partitioned, and who else reads or partitions it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from pgs_neo4j import db as db_module
from pgs_neo4j.cli.run import DATABASE, code_of
from pgs_neo4j.db import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import BusyError, DatabaseError, EmptyGraphError, GDSMemoryError
from pgs_neo4j.events import Event, OnEvent, Warned, ignore
from pgs_neo4j.gds import GDS
from pgs_neo4j.jobs.record import list_jobs
from pgs_neo4j.jobs.repartition import repartition
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import Drift
from pgs_neo4j.pgs import build, generation, membership, partition, view
from tests.conftest import Endpoint
from tests.graphs import checksum, count, papers
from tests.leftovers import nothing_left, only, whole

KNOBS: dict[str, Any] = {
    "min_community_size": 10,
    "target_partition_max": 60,
    "embedder": "none",
}
READS = 10_000
READERS = 6
FLIPS = 5
PATIENCE_S = 240.0

ADD_NODES = "UNWIND range(1, 3) AS i CREATE (:Paper {abstract: 'New at ' + $doi + ', ' + i})"
DELETE_NODE = "MATCH (p:Paper {doi: $doi}) DETACH DELETE p"
ADD_LINKS = (
    "MATCH (a:Paper {doi: $doi}) MATCH (b:Paper {topic: 3}) WITH a, b LIMIT 7 "
    "CREATE (a)-[:CITES {strength: 2.0}]->(b)"
)
SPOIL_WEIGHTS = "MATCH (:Paper {doi: $doi})-[r:CITES]->() SET r.strength = 'strong'"
DELETE_LINKS = "MATCH (:Paper {doi: $doi})-[r:CITES]-() DELETE r"
CHANGE_TEXT = "MATCH (p:Paper {doi: $doi}) SET p.abstract = 'Zeppelins.'"
LEAVE_VIEW = "MATCH (p:Paper {doi: $doi}) REMOVE p:Paper SET p:Retracted"
Change = Callable[[], Awaitable[object]]


@asynccontextmanager
async def connect(endpoint: Endpoint, on_event: OnEvent = ignore) -> Any:
    """An engine with a connection pool of its own."""
    async with PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        sweep_llm=ScriptedLLM(contract_reply),
        synthesis_llm=ScriptedLLM(contract_reply),
        on_event=on_event,
        **KNOBS,
    ) as opened:
        yield opened


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on four topics of papers; the others' connection is ``db``."""
    mapping = await papers(db)
    async with connect(endpoint) as opened:
        await opened.add_graph("papers", mapping)
        yield opened


def before_projecting(patch: pytest.MonkeyPatch, change: Change) -> None:
    """Have something committed between the scan and the projection."""
    project = GDS.project_view

    @asynccontextmanager
    async def changed(self: GDS, *args: Any, **how: Any) -> AsyncIterator[Any]:
        await change()
        async with project(self, *args, **how) as found:
            yield found

    patch.setattr(GDS, "project_view", changed)


def before_detecting(patch: pytest.MonkeyPatch, change: Change) -> None:
    """Have something committed between the projection and the communities."""
    detect = GDS.detect

    async def changed(self: GDS, *args: Any, **how: Any) -> Any:
        await change()
        return await detect(self, *args, **how)

    patch.setattr(GDS, "detect", changed)


def before_writing(patch: pytest.MonkeyPatch, change: Change) -> None:
    """Have something committed between the communities and the membership."""
    write = membership.write_members

    async def changed(*args: Any, **how: Any) -> int:
        await change()
        return await write(*args, **how)

    patch.setattr(membership, "write_members", changed)


def before_flipping(patch: pytest.MonkeyPatch, change: Change) -> None:
    """Have something committed when all is written and not yet current."""
    flip = generation.make_current

    async def changed(*args: Any, **how: Any) -> None:
        await change()
        await flip(*args, **how)

    patch.setattr(generation, "make_current", changed)


MOMENTS = (before_projecting, before_detecting, before_writing, before_flipping)


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        (ADD_NODES, {"nodes_added": 3}),
        (ADD_LINKS, {"relationships_changed": 7}),
        (SPOIL_WEIGHTS, {"relationships_changed": 3}),
        (DELETE_LINKS, {"relationships_changed": 6}),
        (CHANGE_TEXT, {"texts_changed": 1}),
        (LEAVE_VIEW, {"nodes_removed": 1, "relationships_changed": 6}),
    ],
    ids=["nodes", "links", "weights", "fewer links", "text", "label"],
)
async def test_a_change_after_the_scan_is_never_taken_for_seen(
    pgs: PGS,
    db: Database,
    gds: GDS,
    change: str,
    noticed: dict[str, int],
) -> None:
    for number, moment in enumerate(MOMENTS):
        seen = await count(db, "(x:Paper)")
        once = Once(db, change, doi=f"doi/{7 + 10 * number}")
        with pytest.MonkeyPatch.context() as patch:
            moment(patch, once)
            made = await pgs.partition("papers", force=True)
        assert once.done, moment.__name__
        assert made.generation.node_count == seen
        assert (await whole(db)).id == made.generation.id
        await nothing_left(db, gds)
        assert told(await pgs.check("papers")) == noticed, moment.__name__
        after = await pgs.partition("papers")
        assert not after.reused
        assert after.generation.node_count == await count(db, "(x:Paper)")
        await up_to_date(pgs)


async def up_to_date(pgs: PGS) -> None:
    """Nothing was committed that the current generation does not hold."""
    drift = await pgs.check("papers", scan=False)
    assert drift is not None
    assert not drift.committed


class Once:
    """A change that is committed the first time only."""

    def __init__(self, db: Database, text: str, **params: object) -> None:
        self.db, self.text, self.params, self.done = db, text, params, 0

    async def __call__(self) -> None:
        if not self.done:
            self.done = 1
            await self.db.call(self.text, self.params, "write")


def told(drift: Drift | None) -> dict[str, int]:
    """What a drift counts, of all that it counts, and only while something was committed."""
    assert drift is not None
    names = [name for name in Drift.__slots__ if name.endswith(("ed", "removed"))]
    counts = {name: getattr(drift, name) for name in names}
    assert counts.pop("committed") or not any(counts.values())
    return {name: found for name, found in counts.items() if found}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_node_that_vanishes_before_the_flip_is_in_no_generation(
    pgs: PGS, db: Database, gds: GDS, monkeypatch: pytest.MonkeyPatch, moment: Any
) -> None:
    once = Once(db, DELETE_NODE, doi="doi/7")
    scans: list[int] = []
    scan = view.scan

    async def counted(*args: Any) -> view.View:
        scans.append(1)
        return await scan(*args)

    monkeypatch.setattr(view, "scan", counted)
    moment(monkeypatch, once)
    made = await pgs.partition("papers")
    monkeypatch.undo()
    assert once.done
    await nothing_left(db, gds)
    late = moment is before_flipping
    assert len(scans) == (1 if late else 2)
    drift = await pgs.check("papers")
    assert drift is not None
    assert drift.nodes_removed == (1 if late else 0)
    assert drift.changed == late
    after = await pgs.partition("papers")
    assert after.reused == (not late)
    assert after.generation.node_count == 159
    assert made.generation.node_count == (160 if late else 159)
    assert sum((await whole(db)).sizes) == 159


@pytest.mark.parametrize("moment", MOMENTS[:3])
async def test_a_graph_that_vanishes_altogether_keeps_what_there_was(
    pgs: PGS, db: Database, gds: GDS, monkeypatch: pytest.MonkeyPatch, moment: Any
) -> None:
    first = await pgs.partition("papers")
    moment(monkeypatch, Once(db, "MATCH (p:Paper) DETACH DELETE p"))
    with pytest.raises(EmptyGraphError):
        await pgs.partition("papers", force=True)
    monkeypatch.undo()
    current = await generation.read_current(db, "papers")
    assert current is not None
    assert current.id == first.generation.id
    await nothing_left(db, gds)
    with pytest.raises(EmptyGraphError):
        await pgs.check("papers")


@pytest.mark.parametrize("moment", MOMENTS[:3])
async def test_a_seeded_build_of_a_graph_that_changes_leaves_no_seed(
    pgs: PGS, db: Database, gds: GDS, moment: Any
) -> None:
    await pgs.partition("papers")
    for number, change in enumerate((ADD_NODES, DELETE_NODE, ADD_LINKS, SPOIL_WEIGHTS)):
        await db.call(ADD_LINKS, {"doi": f"doi/{number}"}, "write")
        once = Once(db, change, doi=f"doi/{10 + number}")
        with pytest.MonkeyPatch.context() as patch:
            moment(patch, once)
            made = await pgs.partition("papers")
        assert once.done
        # Who is projected must be who was scanned, or the seeds cannot be told from the rest.
        assert made.generation.origin in ("seeded", "cold")
        assert (await whole(db)).id == made.generation.id
        await nothing_left(db, gds)
        drift = await pgs.check("papers")
        assert drift is not None
        assert drift.changed == (change is not DELETE_NODE)
        after = await pgs.partition("papers")
        assert after.generation.node_count == await count(db, "(x:Paper)")
        await up_to_date(pgs)


async def test_a_writer_that_never_rests(pgs: PGS, db: Database, gds: GDS) -> None:
    await pgs.partition("papers")
    stop = asyncio.Event()
    written = 0

    async def write() -> None:
        nonlocal written
        while not stop.is_set():
            change = (ADD_NODES, ADD_LINKS, SPOIL_WEIGHTS, CHANGE_TEXT)[written % 4]
            await db.call(change, {"doi": f"doi/{written % 160}"}, "write")
            written += 1

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        group.create_task(write())
        try:
            for _ in range(4):
                made = await pgs.partition("papers", force=True)
                assert (await whole(db)).id == made.generation.id
        finally:
            stop.set()
    assert written > 20
    drift = await pgs.check("papers")
    assert drift is not None
    assert drift.changed
    last = await pgs.partition("papers")
    assert last.generation.node_count == await count(db, "(x:Paper)")
    await up_to_date(pgs)
    await nothing_left(db, gds)


async def no_memory(self: GDS, *args: Any, **how: Any) -> Any:
    raise GDSMemoryError("Graph Data Science ran out of memory")


async def too_large(self: GDS, nodes: int, relationships: int, algorithm: Any) -> None:
    await REFUSE(self, nodes * 10**8, relationships * 10**8, algorithm)


REFUSE = GDS.refuse_if_too_large


@pytest.mark.parametrize(
    ("where", "fault", "said"),
    [
        ("detect", no_memory, "ran out of memory"),
        ("refuse_if_too_large", too_large, r"needs up to [\d,]+ MiB"),
    ],
)
async def test_a_gds_without_memory_leaves_what_there_was(
    pgs: PGS, db: Database, gds: GDS, monkeypatch: pytest.MonkeyPatch, where: str, fault: Any,
    said: str,
) -> None:  # fmt: skip
    await pgs.partition("papers")
    first, before = await whole(db), await checksum(db)
    for change in (None, ADD_LINKS):  # a cold build, then one that grows from the one before
        if change:
            await db.call(change, {"doi": "doi/3"}, "write")
            before = await checksum(db)
        monkeypatch.setattr(GDS, where, fault)
        with pytest.raises(GDSMemoryError, match=said) as raised:
            await repartition(pgs, "papers", if_changed=change is not None)
        monkeypatch.undo()
        assert code_of(raised.value) == DATABASE == 5
        assert await whole(db) == first
        await nothing_left(db, gds)
        assert await checksum(db) == before
        (job, *_) = await list_jobs(db, "papers")
        assert (job.outcome, job.error) == ("failed", str(raised.value))
    assert (await repartition(pgs, "papers", if_changed=True)).outcome == "seeded"


async def test_ten_thousand_reads_during_flips_see_all_old_or_all_new(
    endpoint: Endpoint, pgs: PGS, db: Database, gds: GDS
) -> None:
    """Large and small partitions in turn: what is mixed of two generations does not add up."""
    await pgs.partition("papers")
    reads, flips = 0, 0
    seen: dict[str, set[tuple[int, ...]]] = {}

    async def read(own: Database) -> None:
        nonlocal reads
        while reads < READS or flips < FLIPS:
            if reads % 4:
                found = await whole(own)
                seen.setdefault(found.id, set()).add(found.sizes)
            else:
                made = await partition.read_current(own, "papers")
                assert made is not None
                sizes = tuple(part.size for part in made.partitions)
                assert sizes == made.generation.sizes
                assert sum(sizes) == made.generation.node_count == 160
                uids = {part.uid.partition(":")[0] for part in made.partitions}
                assert uids == {made.generation.id}
                seen.setdefault(made.generation.id, set()).add(sizes)
            reads += 1

    async def flip() -> None:
        nonlocal flips
        while reads < READS or flips < FLIPS:
            most = 60 if flips % 2 else 12
            await pgs.partition("papers", force=True, target_partition_max=most)
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
    assert reads >= READS
    assert flips >= FLIPS
    assert len(seen) >= FLIPS
    assert all(len(sizes) == 1 for sizes in seen.values()), "a generation changed"
    lengths = {len(sizes) for (sizes,) in seen.values()}
    assert min(lengths) == 4
    assert max(lengths) > 12
    await nothing_left(db, gds)
    await only(db, 3)


@pytest.fixture
def held_up(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """Events: a build has come to its description; it may go on."""
    reached, go = asyncio.Event(), asyncio.Event()
    describe = build.enrich.describe

    async def waiting(*args: Any, **how: Any) -> Any:
        reached.set()
        await go.wait()
        return await describe(*args, **how)

    monkeypatch.setattr(build.enrich, "describe", waiting)
    return reached, go


async def test_while_another_engine_builds_a_question_uses_what_there_is(
    endpoint: Endpoint,
    pgs: PGS,
    db: Database,
    gds: GDS,
    held_up: tuple[asyncio.Event, asyncio.Event],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached, go = held_up
    monkeypatch.setattr(partition, "WAIT_S", 0.3)
    go.set()
    first = await pgs.partition("papers")
    go.clear()
    reached.clear()
    await db.call(ADD_LINKS, {"doi": "doi/3"}, "write")
    told: list[Event] = []
    async with asyncio.timeout(PATIENCE_S), connect(endpoint, told.append) as other:
        building = asyncio.create_task(pgs.partition("papers"))
        await reached.wait()
        with pytest.raises(BusyError, match="partitioned by another job"):
            await other.partition("papers")
        with pytest.raises(BusyError):
            await repartition(other, "papers")
        told.clear()
        answer = await other.execute("What is known?", graph="papers")
        assert not building.done()
        warned = [event.message for event in told if isinstance(event, Warned)]
        assert any("waiting for up to" in message for message in warned), warned
        assert any("goes on with the partitions of" in message for message in warned), warned
        assert {sweep.generation for sweep in answer.sweeps} == {first.generation.id}
        go.set()
        made = await building
        assert made.generation.id != first.generation.id
        assert (await other.partition("papers")).generation.id == made.generation.id
    await nothing_left(db, gds)


async def test_a_question_waits_for_the_first_generation_of_another_engine(
    endpoint: Endpoint,
    pgs: PGS,
    db: Database,
    gds: GDS,
    held_up: tuple[asyncio.Event, asyncio.Event],
) -> None:
    reached, go = held_up
    waits = asyncio.Event()

    def heard(event: Event) -> None:
        if isinstance(event, Warned) and "waiting for up to" in event.message:
            waits.set()

    async with asyncio.timeout(PATIENCE_S), connect(endpoint, heard) as other:
        building = asyncio.create_task(pgs.partition("papers"))
        await reached.wait()
        with pytest.raises(BusyError):
            await other.partition("papers")
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


async def test_a_graph_that_never_holds_still_is_given_up_in_one_sentence(
    pgs: PGS, db: Database, gds: GDS, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await pgs.partition("papers")
    gone: list[int] = []

    async def delete() -> None:
        gone.append(1)
        await db.call(DELETE_NODE, {"doi": f"doi/{len(gone)}"}, "write")

    before_writing(monkeypatch, delete)
    with pytest.raises(DatabaseError, match=r"kept changing .* 3 times in a row"):
        await pgs.partition("papers", force=True)
    monkeypatch.undo()
    assert len(gone) == partition.ATTEMPTS
    current = await generation.read_current(db, "papers")
    assert current is not None
    assert current.id == first.generation.id
    await only_current(db)
    await nothing_left(db, gds)
    assert (await pgs.partition("papers")).generation.node_count == 157


async def only_current(db: Database) -> None:
    """There is one generation, and members of no other."""
    assert await count(db, "(x:PgsGeneration)") == 1
    current = "(:PgsGraph)-[:PGS_CURRENT]->(:PgsGeneration)"
    foreign = "(x:PgsPartition) WHERE NOT (x)-[:PGS_PART_OF]->()<-[:PGS_CURRENT]-(:PgsGraph)"
    assert await count(db, f"{current}<-[:PGS_PART_OF]-(x)") == 4
    assert await count(db, foreign) == 0
