"""The process that parses: what it does to one document happens to no other."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.documents.read.worker import ParseWorker
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import (
    DocumentSource,
    LoadedDocument,
    RecordColumns,
    RefusedDocument,
)
from tests.papers_by_hand import make_docx, make_pdf, paragraph

HOSTILE = "tests.fakes.hostile_parser"
MOST = 10_000


@pytest.fixture
async def worker() -> AsyncIterator[ParseWorker]:
    hostile = ParseWorker(seconds=60, module=HOSTILE)
    yield hostile
    await hostile.close()


async def process_of(worker: ParseWorker, text: str = "a") -> int:
    """Which process reads a document, after it read this one right."""
    read, _ = await worker.parse("say", text.encode(), MOST)
    said, pid = read.text.split()
    assert said == text
    return int(pid)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("hang", "took more than 4 seconds"),
        ("crash", r"its parser crashed \(signal 11\)"),
        ("abort", "its parser gave up, probably for lack of memory"),
        ("grow", "reading it takes more than 256 MB of memory"),
        ("lie", "its parser did not return a text"),
        ("unknown", r"its parser crashed \(exit code 1\)"),
    ],
)
async def test_a_fault_is_one_sentence_and_another_process_takes_over(
    worker: ParseWorker, kind: str, said: str
) -> None:
    before = await process_of(worker)
    worker.seconds = 1 if kind == "hang" else 60
    with pytest.raises(InputFileError, match=said):
        await worker.parse(kind, b"x", MOST)
    worker.seconds = 60
    after = await process_of(worker)
    assert after != before
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


async def test_one_process_reads_many_documents_even_after_it_refused_one(
    worker: ParseWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    first = await process_of(worker)
    with pytest.raises(InputFileError, match="it is not for me"):
        await worker.parse("refuse", b"", MOST)
    with pytest.raises(InputFileError, match=r"its text is larger than 1e-06 MB"):
        await worker.parse("say", b"long", 1)
    read, names = await worker.parse("talk", b"quiet", MOST)
    assert read.text == f"quiet {first}"
    assert "PATH" in names.split()
    assert "KEY" not in names  # no secret reaches the process
    reads = [process_of(worker, f"t{number}" * 1000) for number in range(5)]
    assert {*await asyncio.gather(*reads)} == {first}


@pytest.mark.parametrize("kind", ["spin", "hang"])
async def test_endless_work_and_endless_waiting_end(worker: ParseWorker, kind: str) -> None:
    worker.seconds = 0
    await worker.close()
    with pytest.raises(InputFileError, match="reading it took more than 0 seconds"):
        await worker.parse(kind, b"x", MOST)


async def test_a_cancellation_ends_the_process(worker: ParseWorker) -> None:
    pid = await process_of(worker)
    reading = asyncio.create_task(worker.parse("hang", b"x", MOST))
    await asyncio.sleep(0.05)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_files_of_each_kind_are_read_by_their_ending() -> None:
    files = {
        "a.html": b"<title>Rivers</title><p>The Seine flows.",
        "b.pdf": make_pdf(["The Seine flows.", "Paris lies on it."], [("The Seine", 0)]),
        "c.docx": make_docx(paragraph("The Seine flows.")),
        "d.txt": b"The Seine flows.",
        "broken.pdf": b"%PDF-1.7 nothing",
        "empty.docx": b"",
        "large.html": b"x" * 5000,
    }
    loader, read = FileLoader(4000), dict[str, Any]()
    for name, data in files.items():
        try:
            (read[name],) = [one async for one in loader.load(DocumentSource(id=name, data=data))]
        except InputFileError as error:
            read[name] = str(error)
    await loader.close()
    assert {name: one.text.text for name, one in read.items() if not isinstance(one, str)} == {
        "a.html": "# Rivers\n\nThe Seine flows.",
        "b.pdf": "The Seine flows.\n\nParis lies on it.",
        "c.docx": "The Seine flows.",
        "d.txt": "The Seine flows.",
    }
    assert read["b.pdf"].text.page_starts == (0, 18)
    assert [entry.title for entry in read["b.pdf"].text.outline] == ["The Seine"]
    assert read["a.html"].size == len(files["a.html"])
    assert "it is empty" in read["empty.docx"]
    assert "larger than 0.004 MB" in read["large.html"]


async def test_records_and_long_texts_are_read_in_the_process(tmp_path: Path) -> None:
    rows = "".join(f"{number},word {number}\n" for number in range(2500))
    (tmp_path / "a.csv").write_text(f"id,text\n{rows}broken\n")
    loader = FileLoader()
    source = DocumentSource(id="a.csv", path=tmp_path / "a.csv")
    *read, refused = [one async for one in loader.load(source)]
    assert [one.id for one in read] == [f"a.csv#{number}" for number in range(2500)]
    assert isinstance(refused, RefusedDocument)
    assert refused.reason == "it has 1 cell for 2 columns"
    assert loader.worker._process is not None
    text = "The Seine flows.\n" * 5000
    (long,) = [one async for one in loader.load(DocumentSource(id="b.txt", data=text))]
    assert isinstance(long, LoadedDocument)
    assert long.text.text == text
    assert loader.worker._process.returncode is None
    await loader.close()


async def test_a_reader_that_stops_early_leaves_no_process_and_blocks_no_other() -> None:
    rows = "".join(f"{number},{'word ' * 100}\n" for number in range(5000))
    loader = FileLoader()
    records = loader.load(DocumentSource(id="a.csv", data=f"id,text\n{rows}"))
    assert (await anext(records)).id == "a.csv#0"
    await records.aclose()  # type: ignore[attr-defined]
    (one,) = [one async for one in loader.load(DocumentSource(id="b.csv", data="id,text\n1,a"))]
    assert one.id == "b.csv#1"
    await loader.close()


async def test_a_file_that_is_cut_off_while_it_is_sent_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text\n" + "".join(f"{n},{'word ' * 100}\n" for n in range(20_000)))
    loader = FileLoader()
    records = loader.load(DocumentSource(id="a.csv", path=path))
    first = await anext(records)
    os.truncate(path, 1_000_000)
    with pytest.raises(InputFileError, match="it changed while it was read"):
        _ = [one async for one in records]
    assert first.id == "a.csv#0"
    await loader.close()


async def test_a_process_with_bytes_that_it_does_not_read_is_replaced() -> None:
    worker = ParseWorker()
    rows = "".join(f"{number},a\n" for number in range(2000)).encode()
    whole = [
        one
        async for one in worker.parse_records(
            io.BytesIO(b"id,text\n" + rows), "a", ".csv", RecordColumns(), MOST
        )
    ]
    assert len(whole) == 2000
    kept = worker._process
    with pytest.raises(InputFileError, match="it has no text"):
        await worker.parse("text", b" " * 100, MOST, "")
    assert worker._process is kept
    with pytest.raises(InputFileError, match="line 2 is longer"):
        _ = [
            one
            async for one in worker.parse_records(
                io.BytesIO(b"id\n" + b"x" * 2 * MOST), "a", ".csv", RecordColumns(), MOST
            )
        ]
    assert worker._process is None
    await worker.close()
