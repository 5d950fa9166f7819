"""Writes a state with one of everything that the package stores.

Graph ``brain`` is loaded from a file, has units above its partitions, and is read by the
extractive reader. Graph ``papers`` has three generations and is read by a scripted model. Its
sessions are named after how their runs ended. The module imports only names that survive a change
of the layout, so that earlier versions can run it as well.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from pgs_neo4j import PGS
from pgs_neo4j.cli.app import app
from pgs_neo4j.errors import DeadlineError, ModelUnavailableError
from pgs_neo4j.llm.scripted import ScriptedLLM
from tests.earlier.readers import (
    Reader,
    read,
    read_nothing,
    read_partly,
    read_until_hung,
    read_without_answer,
)
from tests.graphs import count, papers

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from pgs_neo4j.database.connection import Database
    from tests.conftest import Endpoint

ROOT = Path(__file__).resolve().parents[2]
KNOBS: dict[str, Any] = {
    "min_community_size": 8,
    "target_partition_max": 20,
    "max_flag_sweeps": 0,
    "models": {"scripted": {"input_price": 0.5, "output_price": 2.0}},
}
PAPERS = {"PGS_MIN_COMMUNITY_SIZE": "8", "PGS_TARGET_PARTITION_MAX": "20"}
BRAIN = {"PGS_MIN_COMMUNITY_SIZE": "2", "PGS_TARGET_PARTITION_MAX": "3"}
QUESTION = "What do sleep and memory have to do with ammonia?"
SUBJECTS = ("glass", "honey", "copper", "paper")
PATIENCE_S = 120.0

JOB = ("repartition", "--graph", "papers")
READ_BY_KILLED = "(:PgsRun {question: 'What is killed?'})-[:PGS_SWEPT]->(x)"
KILLED_CODE = 9
KILLED = f"""
import io, os, sys
told = sys.argv.pop(1)

class Deadly(io.StringIO):
    def write(self, text):
        if told in text:
            os._exit({KILLED_CODE})
        return super().write(text)

sys.stderr = Deadly()
from pgs_neo4j.cli import main
main()
"""

EMBED = """
MATCH (p:Paper)
WITH p, coalesce(p.topic, 2) AS topic, toInteger(split(p.doi, '/')[1]) AS number
SET p.vector = [x IN range(0, 3) | CASE x WHEN topic THEN 1.0 ELSE 0.0625 * (1 + number % 3) END]
"""
EDIT = "MATCH (p:Paper {doi: 'doi/3'}) SET p.abstract = 'Paper 3 is about zeppelins now.'"
GROW = """
UNWIND [1, 2] AS i MATCH (a:Paper {doi: 'doi/' + i})
CREATE (a)-[:CITES {strength: 1.0}]->(:Paper {
  doi: 'new/' + i, title: 'New ' + i, abstract: 'New ' + i + ' follows.', score: 0.5,
  vector: [1.0, 0.0, 0.0, 0.25]
})
"""


@asynccontextmanager
async def written_state(endpoint: Endpoint, db: Database, folder: Path) -> AsyncIterator[None]:
    """Fill the empty database ``db``, and yield while a run is under way.

    A job and a load have been killed by then. A dump taken in the body shows the run as a killed
    process leaves it.
    """
    await write_brain(endpoint, folder)
    async with engine_on(endpoint) as pgs:
        await write_papers(endpoint, db, pgs)
        await write_runs(pgs)
        await command(endpoint, "index", "create", "--graph", "papers")
        await pgs.check("papers")
        job = ("repartition", "--graph", "brain")
        await asyncio.gather(
            killed_command(endpoint, "nodes written", *job, **BRAIN),
            killed_command(endpoint, "relationships", *load_of(folder, 5)),
        )
        async with hung_run(pgs, db):
            yield


def engine_on(endpoint: Endpoint, **settings: Any) -> AbstractAsyncContextManager[PGS]:
    """Connect an engine with the scripted model and the knobs of the papers."""
    return PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        sweep_llm=ScriptedLLM(read),
        synthesis_llm=ScriptedLLM(read),
        **KNOBS | settings,
    )


async def command(endpoint: Endpoint, *arguments: str, **settings: str) -> Any:
    """Run ``pgs`` in a thread of this process; return the JSON document it prints."""
    environment = {**endpoint.environment(), **settings}
    done = await asyncio.to_thread(CliRunner().invoke, app, [*arguments, "--json"], env=environment)
    if done.exit_code not in (0, 3):
        raise AssertionError(f"pgs {' '.join(arguments)}: {done.output}") from done.exception
    return json.loads(done.stdout)


def let_answer(pgs: PGS, reader: Reader) -> None:
    """Replace both models of an engine with scripted ones."""
    pgs.sweep_llm, pgs.synthesis_llm = ScriptedLLM(reader), ScriptedLLM(reader)


def brain_file(size: int = 39, clusters: int = 3) -> dict[str, Any]:
    """Build rings of ideas, each linked to the next by one edge."""
    per = size // clusters
    nodes = [
        {
            "id": i,
            "concept": f"Idea {i} on {SUBJECTS[i // per]}: {SUBJECTS[i % 4]} was here first.",
            "tag": SUBJECTS[i // per],
            "weight": 1 + i % 5,
            "embedding": [float(i // per), 1.0, (i % per) / 16],
        }
        for i in range(size)
    ]
    ring = [(i, i // per * per + (i + step) % per) for i in range(size) for step in (1, 2)]
    bridges = [(c * per, (c + 1) * per) for c in range(clusters - 1)]
    edges = [{"source": a, "target": b, "weight": 1.0, "type": "LEADS_TO"} for a, b in ring]
    edges += [{"source": a, "target": b, "weight": 0.1, "type": "TOUCHES"} for a, b in bridges]
    return {"nodes": nodes, "edges": edges}


def load_of(folder: Path, ideas: int) -> tuple[str, ...]:
    """Write a file of so many ideas; return the command that loads it."""
    file = folder / f"{ideas}.json"
    file.write_text(json.dumps(brain_file(ideas, 1)), encoding="utf-8")
    return ("load", str(file), "--graph", "another")


async def write_brain(endpoint: Endpoint, folder: Path) -> None:
    """Load two graphs, and ask the extractive reader after a search."""
    file = folder / "brain.json"
    file.write_text(json.dumps(brain_file()), encoding="utf-8")
    await command(endpoint, "load", str(file), "--graph", "brain")
    await command(endpoint, *load_of(folder, 4))
    await command(endpoint, "repartition", "--graph", "brain", **BRAIN)
    bounds = ("--top-k", "2", "--max-sweep-partitions", "2", "--max-flag-sweeps", "0")
    question = "Was honey before copper?"
    await command(endpoint, "ask", question, "--graph", "brain", *bounds, **BRAIN)


async def write_papers(endpoint: Endpoint, db: Database, pgs: PGS) -> None:
    """Partition, refresh, and grow a graph; ask before each change."""
    mapping = replace(await papers(db, topics=2, size=10, isolates=3), embedding="vector")
    await db.call(EMBED, {}, "write")
    await pgs.add_graph("papers", mapping)
    await command(endpoint, *JOB, "--if-changed", **PAPERS)
    await pgs.execute(QUESTION, graph="papers", full_sweep=True, idempotency_key="first")
    await db.call(EDIT, {}, "write")
    await command(endpoint, *JOB, "--if-changed", **PAPERS)
    bounds: dict[str, Any] = {"max_sweep_partitions": 1, "max_flag_sweeps": 1}
    await pgs.execute(QUESTION, graph="papers", session_id="flagged", **bounds)
    await db.call(GROW, {}, "write")
    await command(endpoint, *JOB, "--if-changed", **PAPERS)


async def write_runs(pgs: PGS) -> None:
    """Ask questions that do not reach a whole answer."""
    asked: dict[str, Any] = {"graph": "papers", "full_sweep": True}
    await pgs.execute("What is stopped?", **asked, session_id="stopped", max_calls=2)
    let_answer(pgs, read_partly)
    await pgs.execute("What is read in part?", **asked, session_id="partial")
    let_answer(pgs, read_without_answer)
    with suppress(ModelUnavailableError):
        await pgs.execute("What fails?", **asked, session_id="failed", cache=False)
    let_answer(pgs, read_nothing)
    with suppress(DeadlineError):
        await pgs.execute("What is late?", **asked, session_id="late", run_timeout_s=1.0)


async def killed_command(endpoint: Endpoint, told: str, *arguments: str, **settings: str) -> None:
    """Run ``pgs`` in a process that ends without cleaning up when it reports some progress."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, told, *arguments, "--verbose"),
        env={**os.environ, **endpoint.environment(), "PYTHONPATH": str(ROOT), **settings},
        stdin=DEVNULL,
        stdout=DEVNULL,
    )
    async with asyncio.timeout(PATIENCE_S):
        if await process.wait() != KILLED_CODE:
            raise AssertionError(f"pgs {' '.join(arguments)} did not report {told!r}")


@asynccontextmanager
async def hung_run(pgs: PGS, db: Database) -> AsyncIterator[None]:
    """Ask a question that waits for the report of one partition."""
    let_answer(pgs, read_until_hung)
    all_but_one = len(await pgs.partitions("papers")) - 1
    asked: dict[str, Any] = {"graph": "papers", "full_sweep": True, "session_id": "killed"}
    task = asyncio.create_task(pgs.execute("What is killed?", **asked))

    async def read_so_far() -> bool:
        return await count(db, READ_BY_KILLED) == all_but_one

    try:
        await until(read_so_far, task)
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(condition: Callable[[], Awaitable[Any]], task: asyncio.Task[Any]) -> None:
    """Wait until a condition holds; fail when the task ends before."""
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():
            if task.done():
                raise AssertionError("the task ended instead of waiting") from task.exception()
            await asyncio.sleep(0.05)
