"""An ingestion leaves a record, from which it is continued unless it cannot be."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.engine.ingestion.job import kept_options, options_of, record_ingestion
from pgs_neo4j.engine.ingestion.order import IngestOptions
from pgs_neo4j.errors import BusyError, UsageError
from pgs_neo4j.model import Usage
from pgs_neo4j.model.documents import DocumentSource, RecordColumns
from pgs_neo4j.model.ingest import DocumentOutcome, DocumentState, Ingested
from pgs_neo4j.pgs.runs.jobs import Job
from pgs_neo4j.text.extraction.schema import EntitySchema
from tests.fakes.database import FakeDatabase
from tests.fakes.embedders import ScriptedEmbedder

CONFIG = PGSConfig(chunk_tokens=500, max_calls=3)
COLUMNS = RecordColumns(text="body", entities=(("author", "Person"),))


def job_of(options: dict[str, Any], kind: str = "ingest") -> Job:
    """A job as it is read from its record."""
    stored = json.loads(json.dumps(options))
    return Job(id="j1", graph="docs", kind=kind, started_at="", options=stored)


def test_a_record_leads_to_the_same_files_and_options_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given: IngestOptions = {
        "label": None, "schema": "types.toml", "sync": True, "columns": COLUMNS,
    }  # fmt: skip
    paths: list[Any] = ["notes", Path("more.md"), "notes/**/*.md", "https://a.example/b.html"]
    kept = kept_options(paths, given, CONFIG)
    monkeypatch.chdir("/")
    places, options = options_of(job_of(kept))
    assert places == [
        *(str(tmp_path / path) for path in ("notes", "more.md", "notes/**/*.md")),
        "https://a.example/b.html",
    ]
    assert options["schema"] == str(tmp_path / "types.toml")
    assert (options["sync"], options["columns"]) == (True, COLUMNS)
    assert options["chunk_tokens"] == 500
    assert options["max_calls"] == 3
    assert "label" not in options


def test_a_fragment_of_a_url_is_not_kept_and_the_default_schema_is_no_file() -> None:
    kept = kept_options("https://a.example/b#access_token=secret", {"schema": "default"}, CONFIG)
    assert kept["paths"] == ["https://a.example/b"]
    assert options_of(job_of(kept))[1]["schema"] == "default"


@pytest.mark.parametrize(
    ("paths", "options"),
    [
        (DocumentSource(id="note.md", data=b"It is."), {}),
        (["a.md", "https://a.example/b?token=secret"], {}),
        ("https://a.example/b?pwd=secret", {}),
        ("a.md", {"schema": EntitySchema()}),
        ("a.md", {"loader": FileLoader()}),
        ("a.md", {"embed": ScriptedEmbedder()}),
    ],
)
def test_what_cannot_be_read_again_is_not_kept_and_no_secret(
    paths: Any, options: IngestOptions
) -> None:
    kept = kept_options(paths, options, CONFIG)
    assert kept == {}
    with pytest.raises(UsageError, match="run its command again, and nothing is paid for twice"):
        options_of(job_of(kept))


def test_a_repartition_is_not_continued_as_an_ingestion() -> None:
    with pytest.raises(UsageError, match="j1 is a repartition; 'pgs repartition' runs it again"):
        options_of(job_of({}, "repartition"))


def ingested(*states: DocumentState, **given: Any) -> Ingested:
    outcomes = [
        DocumentOutcome(id=f"{n}.md", state=state, chunks=3, extracted=2)
        for n, state in enumerate(states)
    ]
    return Ingested(graph="docs", label="Docs", outcomes=tuple(outcomes), **given)


async def recorded(done: Ingested | BaseException) -> tuple[Any, Any, Any]:
    """What the record is given at the beginning, and at the end; and its figures."""
    db: Any = FakeDatabase(
        merge_jobs=[{"started_at": "now"}], set_job_results=[{"finished_at": "then"}]
    )

    async def work() -> Ingested:
        if isinstance(done, BaseException):
            raise done
        return done

    recording = record_ingestion(db, "docs", {"paths": ["/a"]}, work)
    if isinstance(done, Ingested):
        assert (await recording).job == db.params("merge_jobs")[0]["id"]
    else:
        with pytest.raises(type(done)):
            await recording
    (begun,), (ended,) = db.params("merge_jobs"), db.params("set_job_results")
    properties = ended["properties"]
    return begun, properties, json.loads(properties["figures"])


@pytest.mark.parametrize(
    ("done", "outcome"),
    [
        (ingested("added", "unchanged"), "ingested"),
        (ingested("unchanged", "stale"), "unchanged"),
        (ingested("unchanged", described=1), "ingested"),
        (ingested("unchanged", embedded=1), "ingested"),
        (ingested("added", unembedded=1), "ingested"),
        (ingested("added", unembedded=1, unembedded_why="gone"), "partial"),
        (ingested("added", "failed"), "partial"),
        (ingested("added", stopped="max_calls is reached"), "partial"),
        (BusyError("another one writes"), "busy"),
        (UsageError("no"), "failed"),
        (asyncio.CancelledError(), "interrupted"),
    ],
)
async def test_the_end_is_recorded(done: Ingested | BaseException, outcome: str) -> None:
    _, ended, _ = await recorded(done)
    assert ended["outcome"] == outcome


async def test_the_record_tells_what_is_read_and_what_became_of_it() -> None:
    used = Usage(calls=2, input_tokens=30, output_tokens=4)
    begun, _, figures = await recorded(ingested("added", "added", "failed", usage=used, cost=0.5))
    assert (begun["kind"], json.loads(begun["options"])) == ("ingest", {"paths": ["/a"]})
    assert figures == {
        "documents": {"added": 2, "failed": 1}, "chunks": 9, "extracted": 6, "embedded": 0,
        "calls": 2, "tokens": 34, "cost": 0.5, "seconds": 0.0,
        "unfinished": [{"id": "2.md", "state": "failed", "reason": ""}], "unfinished_more": 0,
    }  # fmt: skip
    assert "unfinished" not in (await recorded(ingested("added")))[2]


async def test_the_record_tells_which_documents_failed_or_wait_and_why() -> None:
    secret = "the endpoint https://me:pass@models.test/v1?api_key=abc refuses sk-" + "x" * 400
    failed = [DocumentOutcome(id=f"{n}.md", state="failed", reason=secret) for n in range(97)]
    failed.append(DocumentOutcome(id="97.md", state="failed", reason="so " * 500))
    waiting = [DocumentOutcome(id=f"w{n}.md", state="waiting") for n in range(5)]
    documents = (*waiting, *failed, DocumentOutcome(id="new.md", state="added"))
    done = Ingested(graph="docs", label="", outcomes=documents, stopped="max_calls is reached")
    _, ended, figures = await recorded(done)
    told = figures["unfinished"]
    assert [one["id"] for one in told] == [f"{n}.md" for n in range(98)] + ["w0.md", "w1.md"]
    assert told[-1] == {"id": "w1.md", "state": "waiting", "reason": "max_calls is reached"}
    assert (figures["unfinished_more"], ended["error"]) == (3, "max_calls is reached")
    reason = told[0]["reason"]
    assert reason.startswith("the endpoint https://***@models.test/v1")
    assert not any(word in reason for word in ("pass", "abc", "sk-"))
    assert told[97]["reason"] == "so " * 100
