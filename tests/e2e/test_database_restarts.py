"""The database is killed and started again in the middle of jobs, a question, and an ingestion.

Starting a server and planning its statements again takes most of the time, so one kill meets them
all at work: each of them waits at a moment of its own until all are there.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, cast

import psutil
import pytest

from pgs_neo4j.database import connection, local
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import open_gds
from pgs_neo4j.database.local import LocalOptions
from pgs_neo4j.documents import pipeline
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.jobs import repartition
from pgs_neo4j.errors import ArtifactError, DatabaseError, JavaMissingError
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import Answer, Completion, Prompt, Usage
from pgs_neo4j.model.ingest import Ingested
from pgs_neo4j.pgs.partitioning import build, generation, membership, result, view
from pgs_neo4j.pgs.runs.jobs import list_jobs
from tests import servers
from tests.bench.ingestion.corpus import make_world, write_files, write_texts
from tests.bench.ingestion.replies import FaithfulLLM
from tests.conftest import Endpoint
from tests.database import empty
from tests.engines import KNOBS, engine_on
from tests.graphs import checksum, count, papers
from tests.killed_ingest import graph_without_name, half_documents
from tests.leftovers import expire, nothing_left, only, whole

# A server starts twice, which takes long, most of all on a busy machine.
pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]
KEEP = 2
PATIENCE_S = LEASE_S = 400.0  # longer than a restart on a busy machine
WRITERS = 8
GROUP, DOCUMENTS = 10, 12  # two publications, and a prompt for each document

# What is at work in a graph while the server dies, and when. At the first moment nobody knows
# whether the members were written. After the communities, their projection is gone.
MOMENTS: dict[str, tuple[ModuleType, str, str]] = {
    "members": (membership, "write_members", "during"),
    "flip": (generation, "make_current", "before"),
    "communities": (build, "detect_communities", "after"),
    "scanned": (view, "scan", "before"),
}
# The graph whose job a task does, and what the task starts.
AT_WORK = ContextVar("AT_WORK", default="")


@dataclass(slots=True)
class Meeting:
    """Those who are awaited, and the event that all have come."""

    awaited: set[str]
    complete: asyncio.Event = field(default_factory=asyncio.Event)

    def come(self, name: str) -> None:
        """Note that one has come."""
        self.awaited.discard(name)
        if not self.awaited:
            self.complete.set()


@dataclass(slots=True)
class Kill:
    """A kill of the server as in a power cut, once all are at their moments, and some write."""

    options: LocalOptions
    moments: Meeting
    writing: Meeting
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def meet(self, name: str) -> None:
        """Wait for it, at a moment of one's own."""
        self.moments.come(name)
        await self.done.wait()

    def strike(self) -> None:
        """Kill the server."""
        pid = local.status(self.options).pid
        assert pid is not None
        psutil.Process(pid).kill()
        self.done.set()


def disturb(patch: pytest.MonkeyPatch, kill: Kill) -> None:
    """Have the server die before, during, or after the work of a function for a graph."""

    def disturbed(work: Any, graph: str, when: str) -> Any:
        async def at_its_moment(*args: Any, **how: Any) -> Any:
            now = when if AT_WORK.get() == graph and not kill.done.is_set() else ""
            if now == "before":
                await kill.meet(graph)
            if now == "during":
                kill.moments.come(graph)
                await kill.writing.complete.wait()
            working = asyncio.create_task(work(*args, **how))
            if now == "during":
                await asyncio.sleep(0)
                kill.strike()
            found = await working
            if now == "after":
                await kill.meet(graph)
            return found

        return at_its_moment

    for graph, (module, name, when) in MOMENTS.items():
        patch.setattr(module, name, disturbed(getattr(module, name), graph, when))


@dataclass(slots=True)
class Model:
    """Answers at once; if there is a kill, the third sweep and the third text wait for it."""

    kill: Kill | None = None
    sweeps: list[int | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    async def __call__(self, prompt: Prompt) -> str:
        if prompt.task == "extraction":
            self.texts.append(prompt.user)
            await self._meet("ingestion", len(self.texts))
            return FaithfulLLM().extract(prompt)
        if prompt.task == "sweep":
            self.sweeps.append(prompt.partition)
            await self._meet("question", len(self.sweeps))
        return contract_reply(prompt)

    async def _meet(self, name: str, number: int) -> None:
        if self.kill and number >= 3:
            await self.kill.meet(name)


async def write(replies: Replies, kill: Kill, writer: str) -> list[str]:
    """Write replies until the database fails; the keys of those that were acknowledged."""
    acknowledged: list[str] = []
    for number in itertools.count():
        key = f"{writer}:{number}"
        row = replies.row(key, Completion(text=key, usage=Usage(calls=1), model="m"))
        try:
            await replies.keep([row])
        except DatabaseError:
            break
        acknowledged.append(key)
        kill.writing.come(writer)
    return acknowledged


async def job(pgs: PGS, graph: str) -> str:
    """The generation that a job makes, empty if it fails."""
    AT_WORK.set(graph)
    try:
        return (await repartition(pgs, graph)).generation or ""
    except DatabaseError:
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survived:
    """What was there before the kill, and what came of all that was at work then."""

    pgs: PGS
    users: object
    before: dict[str, str]
    made: dict[str, str]
    answer: Answer
    ingested: Ingested
    acknowledged: list[str]
    undisturbed: Model
    disturbed: Model


@pytest.fixture(scope="module")
async def options(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalOptions]:
    """A server of our own, which may be killed; the test database serves the other tests."""
    given = LocalOptions(
        data_dir=tmp_path_factory.mktemp("restarted"),
        heap_mb=700,
        page_cache_mb=64,
        start_timeout_s=PATIENCE_S,
        release=servers.RELEASE,
    )
    with pytest.MonkeyPatch.context() as patch:
        servers.tune(patch)
        try:
            await local.ensure_running(given)
        except (ArtifactError, JavaMissingError) as error:
            if not os.environ.get("PGS_TEST_NEO4J_URI"):
                raise
            pytest.skip(f"no local server can be had to be restarted: {error}")
        yield given
    assert await local.stop(given, timeout_s=30.0)
    assert not local.status(given).running
    assert not await local.stop(given)


@pytest.fixture(scope="module")
async def survived(
    options: LocalOptions, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Survived]:
    """Jobs, a question, an ingestion, and writers that were at work when the server was killed."""
    folder = tmp_path_factory.mktemp("documents")
    write_files(folder, write_texts(make_world(40, 2 * DOCUMENTS).facts, 2, 1500))
    writers = [f"writer {number}" for number in range(WRITERS)]
    kill = Kill(options, Meeting({*MOMENTS, "question", "ingestion"}), Meeting({*writers}))
    undisturbed, disturbed = Model(), Model(kill)
    server = await local.ensure_running(options)
    place = Endpoint(server.uri, server.user, server.password)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "PATIENCE_S", PATIENCE_S)
        patch.setattr(pipeline, "GROUP_DOCUMENTS", GROUP)
        async with (
            connection.connect(place.uri, place.user, place.password, timeout_s=3.0) as hasty,
            engine_on(place, undisturbed, **KNOBS, keep_generations=KEEP, lease_s=LEASE_S) as pgs,
        ):
            await empty(pgs.db)
            mapping = await papers(pgs.db, topics=8, size=20)
            for graph in ("asked", *MOMENTS):
                await pgs.graphs.add(graph, mapping)
                await pgs.partitions.build(graph)
            await pgs.ingest(folder, "whole")
            before = {graph: (await whole(pgs.db, graph)).id for graph in MOMENTS}
            users = await users_graph(pgs.db)
            disturb(patch, kill)
            patch.setattr(pgs, "sweep_llm", ScriptedLLM(disturbed))
            async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
                jobs = {graph: group.create_task(job(pgs, graph)) for graph in MOMENTS}
                asking = group.create_task(pgs.execute("Why?", graph="asked", full_sweep=True))
                ingesting = group.create_task(pgs.ingest(folder, "restarted"))
                await kill.moments.complete.wait()
                replies = Replies(hasty, "r1")
                written = await asyncio.gather(*(write(replies, kill, one) for one in writers))
                assert (await local.ensure_running(options)).started
            yield Survived(
                pgs=pgs,
                users=users,
                before=before,
                made={graph: ended.result() for graph, ended in jobs.items()},
                answer=asking.result(),
                ingested=ingesting.result(),
                acknowledged=[*itertools.chain(*written)],
                undisturbed=undisturbed,
                disturbed=disturbed,
            )


async def users_graph(db: Database) -> object:
    """The papers and what they cite."""
    found = cast("dict[str, list[list[Any]]]", await checksum(db))
    return (
        [node for node in found["nodes"] if "Paper" in node[1]],
        [link for link in found["relationships"] if link[1] == "CITES"],
    )


async def test_a_job_keeps_old_or_new_and_the_next_one_cleans_up(survived: Survived) -> None:
    """The server died at each of the moments, and was back when the jobs continued."""
    db = survived.pgs.db
    for graph, made in survived.made.items():
        after = await whole(db, graph)
        assert after.id == (made or survived.before[graph]), graph
        read = await result.read_current(db, graph)
        assert read is not None
        assert read.generation.id == after.id
        (recorded,) = await list_jobs(db, graph, limit=1)
        assert recorded.outcome == ("repartitioned" if made else "failed")
    await expire(db)
    for graph in MOMENTS:
        assert (await repartition(survived.pgs, graph)).outcome == "repartitioned"
        await only(db, KEEP, graph)
    await nothing_left(db, await open_gds(db))
    assert await users_graph(db) == survived.users


async def test_a_question_loses_nothing(survived: Survived) -> None:
    """Replies of the downtime were recorded once, when the database was back."""
    db = survived.pgs.db
    assert survived.answer.coverage.exhausted
    assert not survived.answer.partial
    assert sorted(filter(None, survived.disturbed.sweeps)) == list(range(1, 9))
    assert await count(db, "(x:PgsSweep)") == 8
    assert await count(db, "(x:PgsFinding)") == 24
    assert await users_graph(db) == survived.users


async def test_an_ingestion_loses_and_doubles_nothing(survived: Survived) -> None:
    """Replies of the downtime were kept, and their documents published, when it was back."""
    db = survived.pgs.db
    assert survived.ingested.complete
    assert len(survived.undisturbed.texts) == DOCUMENTS
    assert sorted(survived.disturbed.texts) == sorted(survived.undisturbed.texts)
    assert await half_documents(db, "restarted") == []
    undisturbed = await graph_without_name(db, "whole")
    assert await graph_without_name(db, "restarted") == undisturbed


async def test_what_was_acknowledged_before_a_kill_is_there_after_it(survived: Survived) -> None:
    """Many wrote while the server died; no acknowledged write was lost."""
    found = await Replies(survived.pgs.db, "r1").find(survived.acknowledged)
    assert {key: found[key].text for key in found} == {key: key for key in survived.acknowledged}
    assert len(found) >= WRITERS
