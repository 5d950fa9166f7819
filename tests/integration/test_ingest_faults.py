"""An ingestion whose database goes away at any write, and those that meet on one graph."""

from __future__ import annotations

import asyncio
import shutil
from collections import namedtuple
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from pgs_neo4j.database import server
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.stored import read_documents
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import BusyError, DatabaseFullError, DatabaseUnavailableError
from pgs_neo4j.llm.scripted import Reply
from pgs_neo4j.model import Prompt
from pgs_neo4j.pgs.runs.jobs import list_jobs
from tests.conftest import Endpoint
from tests.engines import KNOBS, answering, engine_on
from tests.integration.test_ingest import model, reader
from tests.killed_ingest import graph_without_name, half_documents
from tests.write_faults import WriteFaults, faulty_writes

BEFORE = {
    "curie.md": "Marie Curie worked in Paris. She found radium with Pierre Curie.\n",
    "seine.txt": "The Seine flows through Paris. Boats cross the Seine.\n",
}
AFTER = {
    "curie.md": "Marie Curie found radium in Paris.\n",
    "radium.txt": "Pierre Curie carried radium across the Seine.\n",
}
Usage = namedtuple("Usage", "free")
OWN = (
    "publish/take_ingest",
    "extract/keep_extractions",
    "publish/publish",
    "extract/delete_extractions",
    "publish/release_ingest",
)
FAULTS = [("dead", name) for name in OWN] + [("lost", name) for name in OWN[1:4]]
"""It goes before a write, or after it and before it tells."""


@pytest.fixture
def pgs(engine: PGS) -> PGS:
    answering(engine, reader)
    return engine


@pytest.fixture
def faults(pgs: PGS, monkeypatch: pytest.MonkeyPatch) -> WriteFaults:
    return faulty_writes(monkeypatch)


def folder_of(path: Path, files: Mapping[str, str]) -> Path:
    path.mkdir(exist_ok=True)
    for file in path.iterdir():
        file.unlink()
    for name, text in files.items():
        (path / name).write_text(text)
    return path


async def change(pgs: PGS, path: Path, graph: str) -> None:
    """Make a graph of files as they were equal to files of which one changed, went, and came."""
    done = await pgs.ingest(folder_of(path, AFTER), graph, sync=True)
    assert done.complete
    assert {one.state for one in done.outcomes} <= {"added", "changed", "deleted", "unchanged"}


@pytest.mark.thorough
async def test_a_database_that_goes_at_any_write_loses_and_doubles_nothing(
    pgs: PGS, faults: WriteFaults, db: Database, tmp_path: Path
) -> None:
    path = tmp_path / "docs"
    await pgs.ingest(folder_of(path, BEFORE), "whole")
    await change(pgs, path, "whole")
    undisturbed = await graph_without_name(db, "whole")
    for how, write in FAULTS:
        await pgs.ingest(folder_of(path, BEFORE), "faulty", sync=True)
        faults.arm(how, 1, f"documents/{write}")
        with suppress(DatabaseUnavailableError):
            await change(pgs, path, "faulty")
        assert len(faults.seen) > 0, (how, write)
        faults.arm("", 0)
        assert await half_documents(db, "faulty") == [], (how, write)
        assert (await read_documents(db, "faulty")).keys() <= {*BEFORE, *AFTER}
        await change(pgs, path, "faulty")
        assert await graph_without_name(db, "faulty") == undisturbed, (how, write)


@pytest.mark.thorough
async def test_a_disk_that_fills_up_stops_an_ingestion_which_is_resumed_without_a_new_call(
    pgs: PGS, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder_of(tmp_path / "docs", BEFORE | AFTER)
    await pgs.ingest(path, "whole")
    prompts, free_mb = model(pgs).prompts, 1000
    bought = len(prompts)
    prompts.clear()

    def fill(prompt: Prompt) -> Reply:
        nonlocal free_mb
        free_mb = 100
        return reader(prompt)

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free_mb * 1_000_000))
    pgs.db.require_room = server.room_guard(tmp_path)
    model(pgs)._answer = fill
    with pytest.raises(DatabaseFullError, match="has 100 MB left, and Neo4j needs 256 MB"):
        await pgs.ingest(path, "full")
    assert await read_documents(db, "full") == {}
    assert len(prompts) == bought
    free_mb = 1000
    (job,) = await list_jobs(db, "full", limit=2)
    assert job.outcome == "failed"
    done = await pgs.ingest.resume(job.id)
    assert done.complete
    assert len(prompts) == bought, "what was bought is not bought again"
    assert await graph_without_name(db, "full") == await graph_without_name(db, "whole")


async def test_the_second_of_two_ingestions_is_told_and_changes_nothing(
    pgs: PGS, endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    reached, ended = asyncio.Event(), asyncio.Event()

    async def wait(prompt: Prompt) -> Reply:
        reached.set()
        await ended.wait()
        return reader(prompt)

    model(pgs)._answer = wait
    first = asyncio.create_task(pgs.ingest(folder_of(tmp_path / "one", BEFORE), "docs"))
    await reached.wait()
    async with engine_on(endpoint, **KNOBS) as other:
        with pytest.raises(BusyError, match="is writing the documents of graph docs"):
            await other.ingest(folder_of(tmp_path / "two", AFTER), "docs")
        assert model(other).prompts == []
    ended.set()
    assert (await first).complete
    assert (await read_documents(db, "docs")).keys() == BEFORE.keys()
