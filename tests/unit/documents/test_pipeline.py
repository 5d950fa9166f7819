"""An ingestion publishes whole documents group by group, and loses nothing that was paid for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.queries import Query
from pgs_neo4j.documents import pipeline
from pgs_neo4j.documents.batches import GROUP_BYTES, GROUP_DOCUMENTS
from pgs_neo4j.documents.pipeline import group_documents, ingest
from pgs_neo4j.documents.publish import large
from pgs_neo4j.documents.wanted import WantedDocument
from pgs_neo4j.errors import (
    DatabaseError,
    DatabaseMemoryError,
    ModelOutputError,
    QueryError,
    StoppedError,
)
from pgs_neo4j.events import Progressed
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.model.documents import Chunk, Extraction
from pgs_neo4j.model.ingest import Ingested
from tests.fakes.chunkers import SignChunker
from tests.fakes.database import Row
from tests.fakes.extractors import WordExtractor
from tests.fakes.ingestion import Documents, ingestion


def write(folder: Path, *words: str) -> None:
    for word in words:
        (folder / f"{word.lower()}.md").write_text(f"{word} is a word.\n")


async def run(
    documents: Documents,
    extractor: WordExtractor,
    folder: Path,
    events: list[Any] | None = None,
    **given: Any,
) -> Ingested:
    return await ingest(*ingestion(documents, extractor, folder, events, **given))


def states(done: Ingested) -> dict[str, str]:
    return {one.id: one.state for one in done.outcomes}


async def one_by_one(documents: Iterable[WantedDocument]) -> AsyncIterator[WantedDocument]:
    for document in documents:
        yield document


def wanted(sizes: Iterable[int]) -> list[WantedDocument]:
    return [
        WantedDocument(id=str(place), state="added", hash="", size=size, chunks=())
        for place, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ([], []),
        ([1] * GROUP_DOCUMENTS, [GROUP_DOCUMENTS]),
        ([1] * (GROUP_DOCUMENTS + 1), [GROUP_DOCUMENTS, 1]),
        ([GROUP_BYTES - 1, 1], [2]),
        ([GROUP_BYTES, 1], [1, 1]),
        ([1, GROUP_BYTES * 9, 1, 1], [1, 1, 2]),
    ],
)
async def test_a_group_is_bounded_in_documents_and_bytes(
    sizes: list[int], groups: list[int]
) -> None:
    documents = wanted(sizes)
    made = [group async for group in group_documents(one_by_one(documents))]
    assert [len(group) for group in made] == groups
    assert [one for group in made for one in group] == documents


async def test_a_group_is_given_before_later_files_are_read() -> None:
    documents = one_by_one(wanted([1] * (GROUP_DOCUMENTS + 2)))
    assert len(await anext(group_documents(documents))) == GROUP_DOCUMENTS
    assert [one.id async for one in documents] == [str(GROUP_DOCUMENTS + 1)]


async def test_a_moved_document_that_fails_is_not_deleted(tmp_path: Path) -> None:
    write(tmp_path, "Alpha")
    documents, extractor = Documents(), WordExtractor()
    await run(documents, extractor, tmp_path)
    (tmp_path / "alpha.md").rename(tmp_path / "omega.md")
    extractor.signature = "s2"
    extractor.errors["Alpha"] = ModelOutputError("no records")
    done = await run(documents, extractor, tmp_path, sync=True)
    assert states(done) == {"omega.md": "failed"}
    assert [*documents.documents] == ["alpha.md"]


async def test_a_stop_publishes_what_is_whole_and_ends_the_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "GROUP_DOCUMENTS", 2)
    write(tmp_path, "A", "B", "C", "D")
    documents = Documents()
    extractor = WordExtractor(errors={"B": StoppedError("max_calls is reached")})
    done = await run(documents, extractor, tmp_path, sync=True)
    assert (done.stopped, done.complete) == ("max_calls is reached", False)
    assert states(done) == {
        "a.md": "added", "b.md": "waiting", "c.md": "waiting", "d.md": "waiting",
    }  # fmt: skip
    assert documents.published == [["a.md"]]
    assert {*extractor.asked} == {"A", "B"}


async def test_a_failure_ends_no_call_that_is_paid_for(tmp_path: Path) -> None:
    sentences = [f"Word{n} is the word of this sentence." for n in range(1_600)]
    (tmp_path / "long.md").write_text(" ".join(sentences))
    documents, extractor = Documents(), WordExtractor()
    chunks = (await run(Documents(), extractor, tmp_path)).outcomes[0].chunks
    assert chunks > 2
    first = extractor.asked[0]
    extractor.asked.clear()
    extractor.errors[first] = ModelOutputError("no records")
    done = await run(documents, extractor, tmp_path)
    assert states(done) == {"long.md": "failed"}
    assert len(extractor.asked) == chunks
    assert len(documents.kept) == chunks - 1
    extractor.errors.clear()
    extractor.asked.clear()
    await run(documents, extractor, tmp_path)
    assert extractor.asked == [first]
    assert documents.kept == {}


async def test_after_a_stop_nothing_is_deleted(tmp_path: Path) -> None:
    write(tmp_path, "Old", "Alpha")
    documents, extractor = Documents(), WordExtractor()
    await run(documents, extractor, tmp_path)
    (tmp_path / "old.md").unlink()
    write(tmp_path, "New")
    extractor.errors["New"] = StoppedError("max_cost is reached")
    done = await run(documents, extractor, tmp_path, sync=True)
    # Whether the old one has moved is not known, since not every file was compared.
    assert states(done) == {"alpha.md": "unchanged", "new.md": "waiting"}
    assert "old.md" in documents.documents
    extractor.errors.clear()
    done = await run(documents, extractor, tmp_path, sync=True)
    assert states(done)["old.md"] == "deleted"
    assert {*documents.documents} == {"alpha.md", "new.md"}


async def test_a_limit_in_dividing_ends_the_ingestion_and_deletes_nothing(tmp_path: Path) -> None:
    write(tmp_path, "Apple", "Bread", "Cake")
    documents = Documents()
    await run(documents, WordExtractor(), tmp_path)
    (tmp_path / "apple.md").unlink()
    for name in ("Bread", "Cake"):
        (tmp_path / f"{name.lower()}.md").write_text(f"{name} is baked.\n")
    order, tools = ingestion(documents, WordExtractor(), tmp_path, sync=True)
    chunker = SignChunker(errors={"Cake": StoppedError("max_calls reached")})
    done = await ingest(order, replace(tools, chunker=chunker))
    assert done.stopped == "max_calls reached"
    assert states(done) == {"bread.md": "changed", "cake.md": "waiting"}
    assert "apple.md" in documents.documents


def refuse(documents: Documents, *ids: str, error: DatabaseError) -> None:
    """Let the database refuse some documents."""

    def answer(params: Row) -> list[Row]:
        if any(row["id"] in ids for row in params["documents"]):
            raise error
        return documents.publish(params)

    documents.database.answers["publish"] = answer


@pytest.mark.parametrize("error", [QueryError("too long"), DatabaseMemoryError("too large")])
async def test_a_document_that_the_database_refuses_is_named_and_leaves_the_others(
    tmp_path: Path, error: DatabaseError
) -> None:
    write(tmp_path, "Alpha", "Bad", "Beta", "Gamma")
    (tmp_path / "twin.md").write_text("Bad is a word.\n")
    documents, extractor = Documents(), WordExtractor()
    refuse(documents, "bad.md", error=error)
    done = await run(documents, extractor, tmp_path)
    (failed,) = [one for one in done.outcomes if one.state == "failed"]
    assert (failed.id, failed.reason, done.count("added")) == ("bad.md", str(error), 4)
    assert {*documents.documents} == {"alpha.md", "beta.md", "gamma.md", "twin.md"}
    assert done.dropped == {"not in the text": 4}
    refuse(documents, error=error)
    extractor.asked.clear()
    assert (await run(documents, extractor, tmp_path)).complete
    assert ([*documents.kept], extractor.asked) == ([], [])
    assert "bad.md" in documents.documents


async def test_a_database_that_refuses_every_document_ends_the_ingestion(tmp_path: Path) -> None:
    write(tmp_path, "Alpha", "Beta")
    documents = Documents()
    refuse(documents, "alpha.md", "beta.md", error=QueryError("no such function"))
    with pytest.raises(QueryError, match="no such function"):
        await run(documents, WordExtractor(), tmp_path)
    assert len(documents.kept) == 2


async def test_progress_counts_all_files_that_are_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "GROUP_DOCUMENTS", 1)
    write(tmp_path, "Alpha")
    documents, extractor = Documents(), WordExtractor()
    await run(documents, extractor, tmp_path)
    write(tmp_path, "Beta", "Gamma")
    extractor.errors["Gamma"] = ModelOutputError("no records")
    events: list[Any] = []
    await run(documents, extractor, tmp_path, events)
    assert events == [Progressed("ingest", done, 3, "documents") for done in (2, 3, 3)]


async def test_a_crash_loses_no_more_replies_than_calls_may_be_in_flight(tmp_path: Path) -> None:
    documents, extractor = Documents(), WordExtractor()
    write(tmp_path, *(f"Word{number}" for number in range(40)))
    answered = documents.database.write

    async def never_keep(query: Query, **params: Any) -> list[Row]:
        if query.name.endswith("keep_extractions"):
            await asyncio.get_running_loop().create_future()
        return await answered(query, **params)

    documents.database.write = never_keep
    ingesting = asyncio.create_task(run(documents, extractor, tmp_path))
    most = Calls.of(PGSConfig(), {}).scheduler.limit.ceiling
    async with asyncio.timeout(30):
        while len(extractor.asked) < most:
            await asyncio.sleep(0.001)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(extractor.asked) == most < 40
    ingesting.cancel()
    await asyncio.gather(ingesting, return_exceptions=True)


async def test_what_is_kept_names_its_document_while_another_is_published_in_parts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(large, "GROUP_BYTES", 6000)
    monkeypatch.setattr(large, "PART_BYTES", 5000)
    documents = Documents()
    (tmp_path / "a.md").write_text("\n\n".join(f"Alpha{n} is long. " * 100 for n in range(9)))
    (tmp_path / "b.md").write_text("Beta is a word.\n")

    class LateExtractor(WordExtractor):
        async def extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
            while chunks[0].text.startswith("Beta") and len(documents.published) < 3:
                await asyncio.sleep(0.001)
            return await super().extract(chunks)

    await run(documents, LateExtractor(), tmp_path)
    assert ["a.md"] in documents.published
    sent = documents.database.params("keep_extractions")
    kept = [row["documents"] for one in sent for row in one["rows"]]
    assert len(kept) > 3
    assert kept == [["a.md"]] * (len(kept) - 1) + [["b.md"]]


async def test_a_group_is_extracted_while_the_one_before_is_published(tmp_path: Path) -> None:
    documents, extractor = Documents(), WordExtractor()
    write(tmp_path, *(f"Word{number}" for number in range(GROUP_DOCUMENTS + 1)))
    answered = documents.database.write

    async def publish_late(query: Query, **params: Any) -> list[Row]:
        while query.name.endswith("/publish") and len(extractor.asked) <= GROUP_DOCUMENTS:
            await asyncio.sleep(0.001)
        return await answered(query, **params)

    documents.database.write = publish_late
    async with asyncio.timeout(60):
        done = await run(documents, extractor, tmp_path)
    assert done.count("added") == GROUP_DOCUMENTS + 1
    assert list(map(len, documents.published)) == [GROUP_DOCUMENTS, 1]


async def test_small_documents_that_fail_together_are_extracted_in_halves(tmp_path: Path) -> None:
    documents = Documents()
    write(tmp_path, "Alpha", "Beta", "Gamma", "Delta")
    extractor = WordExtractor(shares=True, errors={"Gamma": ModelOutputError("no records")})
    done = await run(documents, extractor, tmp_path)
    assert states(done) == {
        "alpha.md": "added", "beta.md": "added", "delta.md": "added", "gamma.md": "failed",
    }  # fmt: skip
    assert "".join(word[0] for word in extractor.asked) == "ABDGABDGDG"


def write_large(folder: Path, *words: str) -> None:
    """Write a document of three parts or more, with a chunk for each word."""
    texts = (f"{word} is a word. " + "And so on it goes. " * 230 for word in words)
    (folder / "large.md").write_text("\n\n".join(texts))


WORDS = [f"Word{number}" for number in range(12)]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "GROUP_BYTES", 20_000)
    monkeypatch.setattr(large, "PART_BYTES", 15_000)


@pytest.mark.usefixtures("small_parts")
async def test_a_large_document_that_cannot_be_extracted_stays_as_it_was(tmp_path: Path) -> None:
    write_large(tmp_path, *WORDS)
    documents, extractor = Documents(), WordExtractor()
    await run(Documents(), extractor, tmp_path)
    last = [word for word in extractor.asked if word in WORDS][-1]
    asked, extractor.asked = [*extractor.asked], []
    for error in (ModelOutputError("no records"), StoppedError("max_calls is reached")):
        extractor.errors[last] = error
        done = await run(documents, extractor, tmp_path)
        (outcome,) = done.outcomes
        state = "waiting" if done.stopped else "failed"
        assert (outcome.state, documents.published) == (state, [])
    assert sorted(extractor.asked) == sorted((*asked, last))
    extractor.errors.clear()
    extractor.asked.clear()
    assert states(await run(documents, extractor, tmp_path)) == {"large.md": "added"}
    assert extractor.asked == [last]


@pytest.mark.usefixtures("small_parts")
async def test_what_a_large_document_needs_is_kept_when_another_one_settles_it(
    tmp_path: Path,
) -> None:
    """Both have a text, and the extractions of the large one are not held in memory."""
    write_large(tmp_path, *WORDS)
    chunks = Documents()
    await run(chunks, WordExtractor(), tmp_path)
    documents, extractor = Documents(), WordExtractor()
    text = (tmp_path / "large.md").read_text()
    (tmp_path / "a.md").write_text(text)
    (tmp_path / "large.md").write_text(text)
    done = await run(documents, extractor, tmp_path)
    assert states(done) == {"a.md": "added", "large.md": "added"}
    assert len(extractor.asked) == len(chunks.chunks)
    assert documents.kept == {}


@pytest.mark.usefixtures("small_parts")
async def test_chunks_that_nothing_proves_are_counted_also_after_the_ingestion_broke_off(
    tmp_path: Path,
) -> None:
    write_large(tmp_path, *WORDS)
    write(tmp_path, "Tea")
    documents, extractor = Documents(), WordExtractor(unproven={"Word1", "Word9"})
    extractor.errors["Word11"] = StoppedError("max_calls is reached")
    assert (await run(documents, extractor, tmp_path)).stopped
    extractor.asked.clear()
    extractor.errors.clear()
    extractor.unproven = {"Tea"}
    for state in ("added", "unchanged"):
        done = await run(documents, extractor, tmp_path)
        assert states(done) == {"large.md": state, "tea.md": state}
        assert {one.id: one.unproven for one in done.outcomes} == {"large.md": 2, "tea.md": 1}
        assert done.chunks_unproven == 3
    assert {*extractor.asked} == {"Word11", "Tea"}


@pytest.mark.usefixtures("small_parts")
async def test_a_large_document_is_moved_and_changed_without_repeated_calls(
    tmp_path: Path,
) -> None:
    write_large(tmp_path, *WORDS)
    documents, extractor = Documents(), WordExtractor()
    await run(documents, extractor, tmp_path)
    bought = len(extractor.asked)
    (tmp_path / "large.md").rename(tmp_path / "other.md")
    assert states(await run(documents, extractor, tmp_path)) == {"other.md": "moved"}
    assert ([*documents.documents], len(extractor.asked)) == (["other.md"], bought)
    assert {row["document"] for row in documents.chunks.values()} == {"other.md"}
    write_large(tmp_path, *WORDS[:2], "New", *WORDS[2:6], *WORDS[7:])
    (tmp_path / "large.md").replace(tmp_path / "other.md")
    assert states(await run(documents, extractor, tmp_path)) == {"other.md": "changed"}
    assert bought < len(extractor.asked) < 1.5 * bought
