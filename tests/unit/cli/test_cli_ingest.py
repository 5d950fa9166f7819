"""`pgs ingest` and `pgs documents`: what they pass on, how they end, and what they tell."""

from __future__ import annotations

import errno
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner, Result

from pgs_neo4j.cli import connection
from pgs_neo4j.cli.app import app
from pgs_neo4j.cli.commands.graphs import ingest_options
from pgs_neo4j.config import Settings
from pgs_neo4j.errors import (
    BusyError,
    DatabaseUnavailableError,
    GraphExistsError,
    ModelAuthError,
    PGSError,
    UsageError,
)
from pgs_neo4j.ingest.sources.opening import reopen_file
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import PlannedCalls, Usage
from pgs_neo4j.model.deletion import Deletion, QuotingRun, TextHolder
from pgs_neo4j.model.documents import DocumentSource, RecordColumns
from pgs_neo4j.model.ingest import (
    DocumentChunk,
    DocumentDetails,
    DocumentOutcome,
    DocumentState,
    EmbeddingForecast,
    ExtractionForecast,
    Ingested,
    IngestedDocument,
    IngestPlan,
)

STORED = [
    IngestedDocument(id="people/curie.md", name="curie.md", chunks=1, size=65),
    IngestedDocument(id="seine.txt", name="seine.txt", chunks=1200, size=4_500_000),
]


SHOWN = DocumentDetails(
    graph="notes", id="people/curie.pdf", name="Marie Curie", size=4_500_000, hash="h1",
    source="people/curie.pdf", loader="FileLoader", media_type="application/pdf",
    ingested_at="2026-11-23T14:00:00Z", schema="s1", types=("Person", "Location"),
    stale=("another model or prompt extracted it",), entities=3, relations=2,
    chunks=(
        DocumentChunk(
            id="c1", index=0, characters=1200, page=1, path=("Life", "Paris"), entities=2,
            relations=1, dropped={"end": 1, "not in the text": 4},
        ),
        DocumentChunk(id="c2", index=1, characters=7, entities=1, relations=1, dropped={"end": 1}),
    ),
)  # fmt: skip


def outcomes(state: DocumentState, count: int, reason: str = "") -> tuple[DocumentOutcome, ...]:
    return tuple(
        DocumentOutcome(id=f"{state}-{n:02d}.md", state=state, chunks=2, extracted=1, reason=reason)
        for n in range(count)
    )


def ingested(*documents: DocumentOutcome, **changed: Any) -> Ingested:
    given: dict[str, Any] = {"graph": "notes", "label": "Notes", "seconds": 0.5}
    return Ingested(outcomes=documents, **given | changed)


def planned(*documents: DocumentOutcome, **changed: Any) -> IngestPlan:
    given: dict[str, Any] = {"graph": "notes", "label": "Notes", "model": "scripted", "seconds": 90}
    given["forecast"] = ExtractionForecast(
        calls=PlannedCalls(calls=2, input_tokens=3_000, output_tokens=800, output_most=8_192),
        gleaning=PlannedCalls(calls=4, input_tokens=9_000, output_tokens=800, output_most=16_384),
    )
    return IngestPlan(outcomes=documents, **given | changed)


class Engine:
    """Stands in for the engine: remembers what it was asked for, and how it was opened."""

    def __init__(self) -> None:
        self.ingest = self
        self.done = ingested(*outcomes("added", 2))
        self.stored = STORED
        self.planned = planned(*outcomes("added", 2))
        self.sweep_llm = self.synthesis_llm = ScriptedLLM(lambda prompt: "")
        self.settings = Settings()
        self.deletion = Deletion()
        self.raising: PGSError | None = None
        self.opened: list[tuple[str, dict[str, Any]]] = []
        self.asked: list[tuple[Any, ...]] = []

    async def __call__(self, paths: list[Path], graph: str, **wanted: Any) -> Ingested:
        self.note("ingest", [str(path) for path in paths], graph, wanted)
        return self.done

    def most_bytes(self, name: str) -> int | None:
        return None if name.endswith(".csv") else 9

    async def plan(self, paths: list[Path], graph: str, **wanted: Any) -> IngestPlan:
        self.note("plan", [str(path) for path in paths], graph, wanted)
        return self.planned

    async def resume(self, job: str, **knobs: Any) -> Ingested:
        used = {name: value for name, value in knobs.items() if value is not None}
        self.note("resume", job, used)
        return self.done

    async def documents(self, graph: str) -> list[IngestedDocument]:
        self.note("documents", graph)
        return self.stored

    async def document(self, graph: str, name: str) -> DocumentDetails:
        self.note("document", graph, name)
        return SHOWN

    async def delete(self, graph: str, documents: list[str], *, forget: bool = False) -> Deletion:
        self.note("delete", graph, documents, forget)
        return replace(self.deletion, documents=len(set(documents)))

    def note(self, *asked: Any) -> None:
        self.asked.append(asked)
        if self.raising is not None:
            raise self.raising


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    stand_in = Engine()

    def opening(kind: str) -> Any:
        @asynccontextmanager
        async def opened(*listeners: Any, **knobs: Any) -> AsyncIterator[Engine]:
            used = {name: value for name, value in knobs.items() if value is not None}
            stand_in.opened.append((kind, used))
            yield stand_in

        return opened

    for kind in ("engine", "database"):
        monkeypatch.setattr(connection, kind, opening(kind))
    return stand_in


def pgs(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, list(words), input=stdin)


def ingest(*words: str) -> Result:
    return pgs("ingest", "docs", "--graph", "notes", "--quiet", *words)


def told(done: Result) -> str:
    return " ".join(done.stderr.split())


DEFAULTS = {
    "label": None, "schema": None, "sync": False, "refresh": False, "columns": None,
    "allow_private": False, "arbiter": False, "forget": False, "embed": False,
}  # fmt: skip


def test_without_options_files_are_ingested_and_nothing_is_deleted(engine: Engine) -> None:
    done = ingest()
    assert done.exit_code == 0
    assert engine.asked == [("ingest", ["docs"], "notes", DEFAULTS)]
    assert engine.opened == [("engine", {})]


def test_a_plan_passes_the_same_on_and_changes_nothing(engine: Engine) -> None:
    done = ingest("--plan", "--sync", "--max-cost", "2")
    assert done.exit_code == 0
    assert engine.asked == [("plan", ["docs"], "notes", DEFAULTS | {"sync": True})]
    assert engine.opened == [("engine", {"max_cost": "2"})]
    rows = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert rows[1:4] == [
        ["Documents", "2 added"],
        ["Chunks", "4, 2 of them to extract"],
        ["Calls", "2 calls, about 3,000 tokens in, 800 out"],
    ]
    assert ["Time", "about 90 s"] in rows


def test_a_plan_tells_what_would_be_embedded(engine: Engine) -> None:
    known, more = PlannedCalls(calls=2, input_tokens=700), PlannedCalls(calls=1, input_tokens=300)
    vectors = EmbeddingForecast(model="e", priced=False, texts=9, found=46, calls=known, more=more)
    engine.planned = planned(*outcomes("added", 2), embedding=vectors)
    done = ingest("--plan", "--embed")
    assert engine.asked == [("plan", ["docs"], "notes", DEFAULTS | {"embed": True})]
    said = " ".join(done.stdout.split())
    assert "Vectors 9 texts by e, about 46 names and facts, 3 calls, about 1,000 tokens in" in said
    assert '[models."e"]' in said
    engine.planned = planned(embedding=EmbeddingForecast(model="hashing-2048", free=True, texts=1))
    assert "Vectors 1 text by hashing-2048 Cost" in " ".join(ingest("--plan").stdout.split())


def test_texts_without_vectors_are_told(engine: Engine) -> None:
    engine.done = ingested(embedded=7, unembedded=2, unembedded_why="the endpoint is gone")
    done = ingest("--embed")
    assert done.exit_code == 3
    assert "Embedded  7 texts" in done.stdout
    assert "2 texts have no vector (the endpoint is gone); run the command again" in told(done)
    engine.done = ingested(*outcomes("changed", 1), unembedded=1)
    done = ingest()
    assert (done.exit_code, "1 text has no vector; run" in told(done)) == (0, True)


def test_a_plan_as_json_has_its_counts(engine: Engine) -> None:
    data = json.loads(ingest("--plan", "--json").stdout)
    assert (data["counts"]["added"], data["forecast"]["calls"]["calls"]) == (2, 2)


def test_a_plan_tells_what_cannot_be_read(engine: Engine) -> None:
    engine.planned = planned(*outcomes("failed", 1, "it is not text"), *outcomes("added", 1))
    done = ingest("--plan")
    assert done.exit_code == 3
    assert "these cannot be read: note: failed-00.md: it is not text" in told(done)


def test_a_job_is_resumed_by_its_id(engine: Engine) -> None:
    engine.done = ingested(*outcomes("waiting", 1), stopped="max_calls is reached", job="j12")
    done = pgs("resume", "j12", "--max-calls", "5", "--quiet")
    assert done.exit_code == 3
    assert engine.asked == [("resume", "j12", {"max_calls": "5"})]
    assert "Job       j12" in done.stdout


def test_a_graph_does_not_choose_a_job(engine: Engine) -> None:
    done = pgs("resume", "j12", "--graph", "notes")
    assert (done.exit_code, engine.asked) == (2, [])
    assert "leave it out for a job" in told(done)


def test_options_and_every_path_are_passed_on(engine: Engine) -> None:
    done = ingest("more/a.md", "--label", "Paper", "--sync", "--refresh", "--forget", "--embed")
    assert done.exit_code == 0
    wanted = DEFAULTS | {
        "label": "Paper",
        "sync": True,
        "refresh": True,
        "forget": True,
        "embed": True,
    }
    assert engine.asked == [("ingest", ["docs", "more/a.md"], "notes", wanted)]


def test_a_text_on_stdin_has_a_name(engine: Engine) -> None:
    words = ("ingest", "docs", "-", "--graph", "notes", "--quiet")
    done = pgs(*words, "--name", "note.md", stdin="It is so.")
    assert done.exit_code == 0
    ((_, sources, _, _),) = engine.asked
    assert sources == ["docs", str(DocumentSource(id="note.md", data=b"It is so."))]
    assert pgs(*words, stdin="x").exit_code == 2
    assert ingest("--name", "note.md").exit_code == 2
    assert len(engine.asked) == 1


def test_no_more_of_stdin_is_read_than_tells_that_it_is_too_large(engine: Engine) -> None:
    stdin = io.BytesIO(b"It is so, and so on.")
    with patch("sys.stdin", SimpleNamespace(buffer=stdin)):
        with ingest_options.sources_named(["-", "a"], "note.md", 9) as sources:
            assert sources == [DocumentSource(id="note.md", data=b"It is so, "), "a"]
        assert stdin.tell() == 10


def test_records_on_stdin_may_have_any_size(engine: Engine, monkeypatch) -> None:
    words = ("ingest", "-", "--graph", "notes", "--quiet", "--name", "rows.csv")
    taken: list[bytes] = []

    async def take(sources: list[DocumentSource], graph: str, **wanted: Any) -> Ingested:
        for _ in range(2):
            assert sources[0].opened is not None
            with reopen_file(sources[0].opened) as file:
                taken.append(file.read())
        return engine.done

    monkeypatch.setattr(Engine, "__call__", staticmethod(take))
    assert pgs(*words, stdin="id,text\n1,It is so.\n").exit_code == 0
    assert taken == [b"id,text\n1,It is so.\n"] * 2

    def full(*files: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ingest_options, "copyfileobj", full)
    done = pgs(*words, stdin="id\n1\n")
    assert (done.exit_code, len(taken)) == (2, 2)
    assert "stdin cannot be kept (No space left on device); name a file" in told(done)


def test_columns_of_records_are_passed_on(engine: Engine) -> None:
    done = ingest("--text", "body", "--title", "head", "--key", "no", "--entity", "by=person")
    assert done.exit_code == 0
    ((_, _, _, wanted),) = engine.asked
    assert wanted["columns"] == RecordColumns(
        text="body", title="head", key="no", entities=(("by", "Person"),)
    )


@pytest.mark.parametrize("option", ["author", "=Person", "author=", "author=Chunk", "a=1"])
def test_a_column_of_entities_needs_a_type(engine: Engine, option: str) -> None:
    done = ingest("--entity", option)
    assert done.exit_code == 2
    assert "as in author=Person" in done.stderr
    assert engine.asked == []


def test_limits_are_those_of_the_engine(engine: Engine) -> None:
    ingest(
        *("--max-calls", "5", "--max-tokens", "9000", "--max-cost", "0.5"),
        *("--timeout", "60", "--max-concurrent-sweeps", "2", "--hedge"),
    )
    ((_, used),) = engine.opened
    assert {name: str(value).lower() for name, value in used.items()} == {
        "max_calls": "5", "max_tokens": "9000", "max_cost": "0.5", "run_timeout_s": "60",
        "max_concurrent_sweeps": "2", "hedge": "true",
    }  # fmt: skip


def test_the_result_is_told_with_the_next_step(engine: Engine) -> None:
    done = ingest()
    assert "Graph     notes, label Notes" in done.stdout
    assert "Documents 2 added" in done.stdout
    assert "Chunks    4, 2 of them extracted now" in done.stdout
    assert "  pgs ask --graph notes " in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("state", ["failed", "deleted"])
def test_a_graph_without_documents_is_not_offered_for_questions(
    engine: Engine, state: DocumentState
) -> None:
    engine.done = ingested(*outcomes(state, 1))
    assert "pgs ask" not in ingest().stdout
    engine.done = ingested()
    assert "pgs ask" not in ingest().stdout


def test_a_failed_document_ends_it_with_3_and_is_named_with_its_reason(engine: Engine) -> None:
    engine.done = ingested(*outcomes("added", 1), *outcomes("failed", 1, "it is not UTF-8"))
    done = ingest()
    assert done.exit_code == 3
    assert "1 added, 1 failed" in done.stdout
    assert "failed-00.md: it is not UTF-8" in told(done)


def test_a_limit_ends_it_with_3(engine: Engine) -> None:
    engine.done = ingested(*outcomes("added", 1), stopped="max_calls 1 was reached")
    done = ingest()
    assert done.exit_code == 3
    assert "Stopped   max_calls 1 was reached" in done.stdout


@pytest.mark.parametrize(("state", "fix"), [("stale", "--refresh"), ("missing", "--sync")])
def test_what_is_left_to_do_is_told_and_is_no_failure(
    engine: Engine, state: DocumentState, fix: str
) -> None:
    engine.done = ingested(*outcomes(state, 12))
    done = ingest()
    assert done.exit_code == 0
    assert fix in told(done)
    assert f"{state}-09.md" in told(done)
    assert f"{state}-10.md" not in told(done)
    assert "and 2 more" in told(done)
    assert all(line.startswith("note: ") for line in done.stderr.splitlines())


def test_json_is_the_whole_result_and_nothing_else(engine: Engine) -> None:
    engine.done = ingested(
        *outcomes("stale", 12), skipped={".pdf": 2}, usage=Usage(calls=2, input_tokens=10)
    )
    done = ingest("--json")
    data = json.loads(done.stdout)
    assert done.exit_code == 0
    assert done.stderr == ""
    assert len(data["outcomes"]) == data["counts"]["stale"] == 12
    assert (data["skipped"], data["usage"]["calls"], data["complete"]) == ({".pdf": 2}, 2, True)


def test_json_of_a_partial_result_still_ends_with_3(engine: Engine) -> None:
    engine.done = ingested(*outcomes("failed", 1, "why"))
    done = ingest("--json")
    assert done.exit_code == 3
    assert json.loads(done.stdout)["complete"] is False


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("there is no docs; name a file"), 2),
        (GraphExistsError("graph notes is stored for other nodes; load under another name"), 2),
        (BusyError("another process is writing; wait"), 4),
        (DatabaseUnavailableError("no database; start it"), 5),
        (ModelAuthError("the key is refused; set another"), 6),
    ],
)
def test_an_error_is_one_line_with_its_code(engine: Engine, error: PGSError, code: int) -> None:
    engine.raising = error
    done = ingest()
    assert done.exit_code == code
    assert done.stdout == ""
    assert done.stderr == f"pgs: {error}\n"


@pytest.mark.parametrize("name", ["", "my notes", "-x", "a/b", "x" * 65, "n\x1b[31m"])
def test_a_bad_name_is_refused_before_anything_is_opened(engine: Engine, name: str) -> None:
    done = pgs("ingest", "docs", f"--graph={name}", "--quiet")
    assert done.exit_code == 2
    assert "cannot be a graph's name" in told(done)
    assert "\x1b" not in done.stderr
    assert engine.opened == []


@pytest.mark.parametrize(
    "words",
    [("ingest", "docs"), ("ingest", "--graph", "notes"), ("documents", "list"),
     ("documents", "delete", "--graph", "notes"), ("documents", "delete", "a.md")],
)  # fmt: skip
def test_a_graph_and_something_to_work_on_are_required(
    engine: Engine, words: tuple[str, ...]
) -> None:
    assert pgs(*words).exit_code == 2
    assert engine.opened == []


def test_documents_are_listed_without_a_model(engine: Engine) -> None:
    done = pgs("documents", "list", "--graph", "notes")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "people/curie.md  1 chunk, 0.1 kB",
        "seine.txt  1,200 chunks, 4.5 MB",
    ]
    assert engine.opened == [("database", {})]


def test_a_graph_without_documents_says_how_to_add_them(engine: Engine) -> None:
    engine.stored = []
    done = pgs("documents", "list", "-g", "notes")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "'pgs ingest FOLDER --graph notes' adds them" in told(done)


def test_documents_are_json_even_if_there_are_none(engine: Engine) -> None:
    listed = json.loads(pgs("documents", "list", "-g", "notes", "--json").stdout)
    assert listed["documents"][0] == {
        "id": "people/curie.md", "name": "curie.md", "chunks": 1, "size": 65,
    }  # fmt: skip
    engine.stored = []
    assert json.loads(pgs("documents", "list", "-g", "notes", "--json").stdout) == {"documents": []}


def test_a_hostile_document_is_listed_on_one_line(engine: Engine, hostile: str) -> None:
    engine.stored = [IngestedDocument(id=f"a\n{hostile}.md", name="x", chunks=1, size=0)]
    listed = pgs("documents", "list", "-g", "notes").stdout
    assert listed.splitlines() == ["a [bold]red[/bold] 2Jtail.md  1 chunk, 0 kB"]
    assert "\x1b" not in listed


def test_a_document_is_shown_with_its_chunks(engine: Engine) -> None:
    done = pgs("documents", "show", "Marie Curie", "-g", "notes")
    assert (done.exit_code, done.stderr) == (0, "")
    assert engine.asked == [("document", "notes", "Marie Curie")]
    head, _, chunks = done.stdout.partition("\n\n")
    assert dict(row.split(maxsplit=1) for row in head.splitlines()) == {
        "Document": "people/curie.pdf",
        "Title": "Marie Curie",
        "Read": "as   application/pdf, FileLoader",
        "Size": "4.5 MB, hash h1",
        "Written": "2026-11-23T14:00:00Z",
        "Schema": "2 types, hash s1",
        "Stale": "another model or prompt extracted it",
        "Holds": "2 chunks, 3 entities, 2 relations",
        "Dropped": "4 entities that are not in the text, 2 relations of such entities",
    }
    assert chunks.splitlines() == [
        "1  1,200 characters, 2 entities, 1 relation, 5 dropped  Life > Paris, page 1",
        "2  7 characters, 1 entity, 1 relation, 1 dropped",
    ]


def test_a_document_is_json_with_its_chunks_and_what_was_dropped(engine: Engine) -> None:
    data = json.loads(pgs("documents", "show", "x", "-g", "notes", "--json").stdout)
    assert data["dropped"] == {"not in the text": 4, "end": 2}
    assert data["chunks"][0]["path"] == ["Life", "Paris"]
    assert (data["media_type"], data["entities"], data["stale"]) == (
        "application/pdf", 3, ["another model or prompt extracted it"],
    )  # fmt: skip


def test_an_unknown_document_cannot_be_shown(engine: Engine) -> None:
    engine.raising = UsageError("graph notes has no document x; 'pgs documents list' names them")
    done = pgs("documents", "show", "x", "-g", "notes")
    assert (done.exit_code, done.stdout) == (2, "")


def delete(*words: str) -> Result:
    return pgs("documents", "delete", "--graph", "notes", *words)


QUOTING = QuotingRun(run="r1", session="hunt", graph="notes", question="What\nwas hidden?")
PROOF: dict[str, Any] = {"sentences": 7, "short": 2, "scanned": 12_000, "indexes": 1}


def test_confirmed_documents_are_deleted_and_the_proof_is_told(engine: Engine) -> None:
    engine.deletion = Deletion(
        chunks=3, entities=1, relations=2, replies=1, descriptions=4, seconds=0.5, **PROOF
    )
    done = delete("a.md", "b.md", "--yes")
    assert (done.exit_code, done.stderr) == (0, "")
    assert " ".join(done.stdout.split()) == (
        "Deleted 2 documents, 3 chunks, 1 entity, 2 relations, 1 stored reply, 4 descriptions "
        "Searched 7 sentences in 12,000 characters and 1 index; 2 sentences too short or too "
        "common to search for Held by nothing Time 0.5 s"
    )
    assert engine.asked == [("delete", "notes", ["a.md", "b.md"], False)]


def test_a_deletion_that_is_continued_is_told(engine: Engine) -> None:
    engine.deletion = Deletion(resumed=2, **PROOF)
    done = delete("a.md", "--yes")
    told = "Continued the search for 2 documents of a deletion that broke off; indexes are not"
    assert told in " ".join(done.stdout.split())
    assert json.loads(delete("a.md", "--yes", "--json").stdout)["resumed"] == 2


@pytest.mark.parametrize("sentences", [0, 3])
def test_a_deletion_that_nothing_could_prove_is_told_and_ends_it_with_3(
    engine: Engine, sentences: int
) -> None:
    engine.deletion = Deletion(sentences=sentences, short=1)
    done = delete("a.md", "--yes")
    shown = " ".join(done.stdout.split())
    assert done.exit_code == 3
    assert "nothing could be searched for: the sentences are too short or too common" in shown
    assert ("too common, or stand in other documents" in shown) is bool(sentences)
    assert "Held by unknown" in shown
    assert json.loads(delete("a.md", "--yes", "--json").stdout)["proven"] is False


def test_deleting_one_twice_is_one(engine: Engine) -> None:
    done = delete("a.md", "a.md", "--yes")
    assert "1 document, 0 chunks, 0 entities, 0 relations" in " ".join(done.stdout.split())
    assert "Searched" not in done.stdout


def test_what_still_holds_the_text_is_named_and_ends_it_with_3(engine: Engine) -> None:
    holders = tuple(TextHolder(kind="Note", id=f"n{one}", place="text") for one in range(20))
    engine.deletion = Deletion(held=25, holders=holders, quoting=(QUOTING,), **PROOF)
    done = delete("a.md", "--yes")
    assert done.exit_code == 3
    assert "Held by 25 places, 1 answer" in " ".join(done.stdout.split())
    assert "note: Note n19: text note: and 5 more" in told(done)
    assert "--forget would have removed their text): note: hunt, run r1: What was" in told(done)


def test_forgotten_answers_are_named_and_are_no_failure(engine: Engine) -> None:
    runs = tuple(replace(QUOTING, run=f"r{one}", forgotten=True) for one in range(23))
    engine.deletion = Deletion(quoting=runs, **PROOF)
    done = delete("a.md", "--yes", "--forget")
    assert done.exit_code == 0
    assert engine.asked == [("delete", "notes", ["a.md"], True)]
    assert "Held by nothing" in " ".join(done.stdout.split())
    assert "the text of these answers was removed" in told(done)
    assert "run r19:" in told(done)
    assert "note: and 3 more" in told(done)


def test_a_deletion_is_json_with_its_proof(engine: Engine) -> None:
    engine.deletion = Deletion(quoting=(QUOTING,), **PROOF)
    done = delete("a.md", "b.md", "--yes", "--json")
    data = json.loads(done.stdout)
    assert (done.exit_code, data["documents"], data["proven"], data["sentences"]) == (
        3,
        2,
        False,
        7,
    )
    assert data["quoting"][0]["run"] == "r1"


def test_what_a_sync_deleted_is_told_with_its_proof(engine: Engine) -> None:
    engine.done = ingested(
        *outcomes("deleted", 1), deletion=Deletion(documents=1, quoting=(QUOTING,), **PROOF)
    )
    done = ingest("--sync")
    assert "Held by 1 answer" in " ".join(done.stdout.split())
    assert "hunt, run r1" in told(done)
    data = json.loads(ingest("--sync", "--json").stdout)
    assert (data["deletion"]["documents"], data["deletion"]["proven"]) == (1, False)


def test_nothing_is_deleted_without_a_terminal_or_yes(engine: Engine) -> None:
    done = delete("a.md", "a.md", "b.md")
    assert done.exit_code == 2
    assert "this deletes 2 documents from the graph; pass --yes" in told(done)
    assert engine.asked == []


@pytest.mark.parametrize(("typed", "goes_on"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_person_is_asked(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, typed: str, goes_on: bool
) -> None:
    monkeypatch.setattr(connection, "can_ask", lambda: True)
    done = CliRunner().invoke(app, ["documents", "delete", "a.md", "-g", "notes"], input=typed)
    assert "this deletes 1 document from the graph. Continue? [y/N]" in done.stderr
    assert bool(engine.asked) is goes_on
    assert done.exit_code == (0 if goes_on else 2)


def test_an_unknown_document_is_a_usage_error(engine: Engine) -> None:
    engine.raising = UsageError("graph notes has no document x.md; 'pgs documents list' names them")
    done = delete("x.md", "--yes")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "has no document x.md" in told(done)


def test_documents_that_another_process_writes_are_not_deleted(engine: Engine) -> None:
    engine.raising = BusyError("another process is writing; wait until it ends")
    assert delete("x.md", "--yes").exit_code == 4


@pytest.mark.parametrize("words", [("ingest",), ("documents",), ("documents", "list"),
                                   ("documents", "delete")])  # fmt: skip
def test_help_fits_into_80_columns_and_names_no_inner_word(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80", "TERM": "dumb"})
    assert done.exit_code == 0
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "graph" in done.stdout
    assert "knobs" not in done.stdout


def test_help_tells_the_exit_codes_and_an_example() -> None:
    shown = " ".join(pgs("ingest", "--help").stdout.split())
    assert "3 a document failed, a limit was reached" in shown
    assert "4 another process writes these documents" in shown
    assert "pgs ingest notes/ --graph notes" in shown


def test_what_was_guessed_is_told(engine: Engine) -> None:
    note = "it is not UTF-8; it was read as cp1252"
    engine.done = ingested(
        *(DocumentOutcome(id=f"d{n}.txt", state="added", note=note) for n in range(11)),
        DocumentOutcome(id="plain.txt", state="added"),
    )
    said = told(ingest())
    assert f"something about them was guessed: note: d0.txt: {note} note: d1.txt:" in said
    assert "and 1 more" in said
    assert "plain.txt" not in said
