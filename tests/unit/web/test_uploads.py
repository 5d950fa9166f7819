"""Uploaded files: bounded, kept for a while, and gone in every outcome."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.errors import BusyError, InputFileError, UsageError
from pgs_neo4j.web import uploads as stores
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.uploads import WAIT_S, Upload, UploadStore, close_all
from tests.timeless import Clock

ANN, BOB = Caller("ann", tenant=True), Caller("bob", tenant=True)
ENDINGS = (".md", ".jsonl")


async def stream(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def broken(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
    raise ConnectionResetError


async def stalled() -> AsyncIterator[bytes]:
    yield b"x"
    await asyncio.Event().wait()


async def receive(store: UploadStore, name: str = "a.md", data: bytes = b"It is so.") -> Upload:
    return await store.receive(ANN, "docs", name, ENDINGS, stream(data[:3], data[3:]))


STORES: list[UploadStore] = []


def new_store(**limits: Any) -> UploadStore:
    STORES.append(UploadStore(**limits))
    return STORES[-1]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder for temporary files, in which none may have a name."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield str(tmp_path)
    while STORES:
        STORES.pop().close()


async def test_a_file_has_no_name_on_the_disk_and_is_read_as_often_as_wanted(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "PORTION", 4)
    store = new_store()
    upload = await receive(store)
    assert (upload.name, upload.size, upload.read()) == ("a.md", 9, b"It is so.")
    assert [*os.scandir(folder)] == []
    (taken,) = store.take(ANN, "docs", [upload.id])
    for _ in range(2):
        (loaded,) = [one async for one in FileLoader().load(taken.source())]
        assert loaded.id == "a.md"
    close_all([taken])
    assert store.waiting == 0
    with pytest.raises(InputFileError, match="closed before it was read"):
        [one async for one in FileLoader().load(taken.source())]
    records = await receive(store, "r.jsonl", b'{"text": "One."}\n{"text": "Two."}\n')
    assert len([one async for one in FileLoader().load(records.source())]) == 2


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.exe", b"x", "no reader takes .exe; the endings that can be read are .md, .jsonl"),
        ("Makefile", b"x", "no reader takes a file without an ending"),
        ("a.md", b"", "a.md is empty"),
        ("a.md", b"x" * 11, "larger than 1e-05 MB"),
        ("../a.md", b"x", "cannot be the name of a document"),
    ],
)
async def test_a_file_that_cannot_be_ingested_is_refused_and_gone(
    name: str, data: bytes, why: str
) -> None:
    store = new_store(most_bytes=10)
    with pytest.raises(InputFileError, match=why.replace(".", r"\.")):
        await receive(store, name, data)
    assert store.waiting == 0


async def test_a_file_that_does_not_arrive_is_gone(folder: str, clock: Clock) -> None:
    store = new_store()
    with pytest.raises(ConnectionResetError):
        await store.receive(ANN, "docs", "a.md", ENDINGS, broken(b"x"))
    slow, left = (
        asyncio.create_task(store.receive(ANN, "docs", "a.md", ENDINGS, stalled()))
        for _ in range(2)
    )
    await asyncio.sleep(0)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    clock.forward(WAIT_S + 1)
    with pytest.raises(InputFileError, match="too long to arrive"):
        await slow
    assert (store.waiting, [*os.scandir(folder)]) == (0, [])


@pytest.mark.parametrize(("most_files", "size"), [(1, 11), (4, 32)])
async def test_only_so_many_and_so_much_may_wait(most_files: int, size: int) -> None:
    store = new_store(most_files=most_files, most_total=40)
    await receive(store, "a.md")
    with pytest.raises(BusyError, match="too many files wait"):
        await receive(store, "b.md", b"x" * size)
    assert store.waiting == 1
    store.most_files, store.most_total = 4, 40
    assert (await receive(store, "b.md", b"x" * 11)).size == 11


async def test_a_caller_that_fills_the_store_leaves_room_for_others() -> None:
    store = new_store(most_files=12, most_total=1200)
    assert store.limits_for_one_caller == (6, 600)
    for number in range(6):
        await receive(store, f"{number}.md")
    for data in (b"x", b"x" * 500):
        with pytest.raises(BusyError, match="has 6 files waiting, and room is left for others"):
            await receive(store, "more.md", data)
    for number in range(3):
        await store.receive(BOB, "docs", f"{number}.md", ENDINGS, stream(b"It may be."))
    with pytest.raises(BusyError, match="has 3 files waiting"):
        await store.receive(BOB, "docs", "more.md", ENDINGS, stream(b"It may be."))
    assert store.waiting == 9
    store.most_files = 100
    await receive(store, "large.md", b"x" * 500)
    with pytest.raises(BusyError, match="room is left for others"):
        await receive(store, "larger.md", b"x" * 100)
    await store.receive(BOB, "docs", "large.md", ENDINGS, stream(b"x" * 200))


async def test_a_file_takes_the_place_of_one_of_its_name() -> None:
    store = new_store()
    first = await receive(store)
    second = await receive(store, data=b"It is not.")
    await store.receive(BOB, "docs", "a.md", ENDINGS, stream(b"It may be."))
    assert (store.waiting, first.file.closed, second.file.closed) == (2, True, False)
    with pytest.raises(UsageError, match="does not wait any more"):
        store.take(ANN, "docs", [second.id, first.id])
    assert store.waiting == 2


async def test_files_are_taken_by_their_owner_for_their_graph_only() -> None:
    store = new_store()
    upload = await receive(store)
    for caller, graph in ((BOB, "docs"), (ANN, "other")):
        with pytest.raises(UsageError, match="does not wait"):
            store.take(caller, graph, [upload.id])
    store.discard(BOB, upload.id)
    assert store.find(ANN, "docs", [upload.id, upload.id]) == [upload]
    store.discard(ANN, upload.id)
    assert (store.waiting, upload.file.closed) == (0, True)


async def test_a_file_that_nobody_ingests_and_those_of_a_stopped_server_are_removed(
    clock: Clock,
) -> None:
    store = new_store()
    upload = await receive(store)
    clock.forward(WAIT_S - 60)
    await asyncio.sleep(0)
    assert not upload.file.closed
    clock.forward(60)
    async with asyncio.timeout(60):
        while not upload.file.closed:
            await asyncio.sleep(0)
    kept = await receive(store)
    descriptor = kept.file.fileno()
    store.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
