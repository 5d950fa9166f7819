"""A document that is published in parts is old or new, and ends as one that is not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.documents.deletion import delete
from pgs_neo4j.documents.publish import large
from pgs_neo4j.documents.stored import read_documents
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import DatabaseMemoryError, DatabaseUnavailableError
from tests.bench.ingestion.corpus import make_world, write_texts
from tests.conftest import Endpoint
from tests.documents import stored_names
from tests.engines import without_models
from tests.killed_ingest import graph_without_name
from tests.write_faults import faulty_writes

PUBLISH = "documents/publish/publish"
FAULTS = [("dead", 1), ("lost", 1), ("lost", 2), ("lost", 3), ("commit", 0)]
"""What fails after which write: before the first one, between any two, and at the commit."""
Work = Callable[[Database], Awaitable[Any]]
Transact = Callable[[Database, Work, float, int], Awaitable[Any]]


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    async with without_models(endpoint, embedder="none") as opened:
        yield opened


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "GROUP_BYTES", 6000)
    monkeypatch.setattr(large, "PART_BYTES", 5000)
    monkeypatch.setattr(delete, "PART_CHUNKS", 2)


@pytest.mark.nightly
async def test_a_document_in_parts_becomes_the_graph_of_the_whole_one(
    pgs: PGS, db: Database, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    whole = [one async for one in write_history(pgs, db, tmp_path / "whole")]
    request.getfixturevalue("small_parts")
    divided = [one async for one in write_history(pgs, db, tmp_path / "parts")]
    assert [len(one["nodes"]) > 40 for one in whole] == [True, True, True, False]
    assert whole == divided


@pytest.mark.thorough
async def test_whatever_write_fails_a_document_in_parts_is_old_or_new(
    pgs: PGS, db: Database, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A small document shares entities with it, so that what is between would show there too."""
    versions = [*texts(20_000)]
    folders = [tmp_path / f"whole{number}" for number in range(2)]
    for folder, text in zip(folders, versions, strict=True):
        write(folder / "large.txt", text)
        write(folder / "small.txt", versions[0][:1500])
        assert (await pgs.ingest(folder, folder.name)).complete
    wanted = [await everything(db, folder.name) for folder in folders]
    assert wanted[0] != wanted[1]
    request.getfixturevalue("small_parts")
    seen: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        watch_publishing(patch, db, "faulty", seen)
        faults = faulty_writes(patch)
        arm_commit = faulty_commits(patch)
        write(tmp_path / "faulty" / "small.txt", versions[0][:1500])
        write(tmp_path / "faulty" / "large.txt", versions[1])
        assert (await pgs.ingest(tmp_path / "faulty", "faulty")).complete
        pieces = len(seen) - 1  # the small document comes by itself
        assert pieces > 2
        for number, (how, at) in enumerate(FAULTS):
            former, latter = wanted[(number + 1) % 2], wanted[number % 2]
            write(tmp_path / "faulty" / "large.txt", versions[number % 2])
            seen.clear()
            if how == "commit":
                arm_commit()
            else:
                faults.arm(how, at, PUBLISH)
            with pytest.raises(DatabaseUnavailableError):
                await pgs.ingest(tmp_path / "faulty", "faulty")
            faults.arm("", 0)
            assert all(one == former for one in seen), (how, at)
            assert len(seen) == (pieces if how == "commit" else at - (how == "dead")), (how, at)
            assert await everything(db, "faulty") == (latter if how == "commit" else former)
            assert (await pgs.ingest(tmp_path / "faulty", "faulty")).complete
            assert await everything(db, "faulty") == latter, (how, at)


@pytest.mark.nightly
async def test_without_memory_for_one_transaction_each_part_has_its_own(
    pgs: PGS, db: Database, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (text, _) = texts(20_000)
    write(tmp_path / "whole" / "large.txt", text)
    assert (await pgs.ingest(tmp_path / "whole", "whole")).complete
    request.getfixturevalue("small_parts")
    write(tmp_path / "parts" / "large.txt", text)
    with pytest.MonkeyPatch.context() as patch:
        faults = faulty_writes(patch)
        no_memory(patch, lambda: faults.arm("dead", 2, PUBLISH))
        with pytest.raises(DatabaseUnavailableError):
            await pgs.ingest(tmp_path / "parts", "parts")
        assert faults.seen == [PUBLISH] * 2, "all in one transaction, and then each in its own"
        faults.arm("", 0)
        assert (await read_documents(db, "parts"))["large.txt"].hash == ""
        assert (await pgs.ingest(tmp_path / "parts", "parts")).complete
    assert await everything(db, "parts") == await everything(db, "whole")


def watch_publishing(patch: pytest.MonkeyPatch, db: Database, graph: str, seen: list[Any]) -> None:
    """Note what others see of a graph after each publication."""
    send = Database.write

    async def watched(database: Database, query: Query, **params: Any) -> list[Row]:
        rows = await send(database, query, **params)
        if query.name == PUBLISH:
            seen.append(await everything(db, graph))
        return rows

    patch.setattr(Database, "write", watched)


def faulty_commits(patch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what makes the next transaction be committed without being acknowledged."""
    transact: Transact = Database.transact
    armed: list[bool] = []

    async def commit(db: Database, work: Work, timeout_s: float, room_mb: int) -> Any:
        done = await transact(db, work, timeout_s, room_mb)
        if armed:
            armed.clear()
            raise DatabaseUnavailableError("gone after the commit")
        return done

    patch.setattr(Database, "transact", commit)
    return lambda: armed.append(True)


def no_memory(patch: pytest.MonkeyPatch, told: Callable[[], None]) -> None:
    """Let every transaction be too large at its end, and tell the first time."""
    transact: Transact = Database.transact
    first = [told]

    async def fail(db: Database, work: Work, timeout_s: float, room_mb: int) -> Any:
        async def run(own: Database) -> None:
            await work(own)
            if first:
                first.pop()()
            raise DatabaseMemoryError("too large")

        return await transact(db, run, timeout_s, room_mb)

    patch.setattr(Database, "transact", fail)


async def everything(db: Database, graph: str) -> Any:
    """Return all of a graph, and its index of names, but for its own name."""
    names = await stored_names(db, graph)
    return await graph_without_name(db, graph), [{**one, "graph": ""} for one in names]


async def write_history(pgs: PGS, db: Database, folder: Path) -> AsyncIterator[dict[str, Any]]:
    """Yield the graph of a document that is added, changed, renamed, and deleted."""
    file, graph = folder / "large.txt", folder.name
    for text in texts():
        write(file, text)
        assert (await pgs.ingest(folder, graph)).complete
        yield await graph_without_name(db, graph)
    file.rename(folder / "other.txt")
    assert (await pgs.ingest(folder, graph)).count("moved") == 1
    yield await graph_without_name(db, graph)
    deletion = await pgs.ingest.delete(graph, ["other.txt"])
    assert (deletion.documents, deletion.proven) == (1, True)
    assert deletion.chunks > 4
    yield await graph_without_name(db, graph)


def texts(size: int = 24_000) -> Iterator[str]:
    """Yield a text, and the same with another paragraph in place of three."""
    (text,) = write_texts(make_world(40, 60).facts, 60, size)
    yield text
    paragraphs = text.split("\n\n")
    paragraphs[9:12] = ["Quix River joined Meridian Institute."]
    yield "\n\n".join(paragraphs)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
