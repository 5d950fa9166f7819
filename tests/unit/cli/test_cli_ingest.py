"""`pgs ingest` and `pgs documents`: what they pass on, how they end, and what they tell."""

from __future__ import annotations

import errno
import io
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import Result

from pgs_neo4j.cli import connection
from pgs_neo4j.cli.commands import ingest as command
from pgs_neo4j.config import Settings
from pgs_neo4j.documents.sources.opening import reopen_file
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import PlannedCalls
from pgs_neo4j.model.documents import DocumentSource, RecordColumns
from pgs_neo4j.model.ingest import (
    Deletion,
    DocumentChunk,
    DocumentDetails,
    DocumentOutcome,
    DocumentState,
    EmbeddingForecast,
    ExtractionForecast,
    IngestedDocument,
    IngestPlan,
    QuotingRun,
    TextHolder,
)
from tests.fakes.commands import StandIn, ingested, on_one_line, outcomes, pgs

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


def planned(*documents: DocumentOutcome, **changed: Any) -> IngestPlan:
    given: dict[str, Any] = {"graph": "notes", "label": "Notes", "model": "scripted", "seconds": 90}
    given["forecast"] = ExtractionForecast(
        calls=PlannedCalls(calls=2, input_tokens=3_000, output_tokens=800, output_most=8_192),
        gleaning=PlannedCalls(calls=4, input_tokens=9_000, output_tokens=800, output_most=16_384),
    )
    return IngestPlan(outcomes=documents, **given | changed)


@pytest.fixture
def engine(engine: StandIn) -> StandIn:
    engine.replies |= {
        "ingest": ingested(*outcomes("added", 2, chunks=2, extracted=1)),
        "ingest.plan": planned(*outcomes("added", 2, chunks=2, extracted=1)),
        "ingest.documents": STORED, "ingest.document": SHOWN, "ingest.delete": deleted(),
        "ingest.remove_views": None, "ingest.unfinished": [],
    }  # fmt: skip
    llm = ScriptedLLM(lambda prompt: "")
    engine.have({"sweep_llm": llm, "synthesis_llm": llm, "settings": Settings()})
    engine.have({"ingest.most_bytes": lambda name: None if name.endswith(".csv") else 9})
    return engine


def deleted(**given: Any) -> Any:
    """What a deletion returns."""
    return lambda graph, documents, **wanted: Deletion(documents=len({*documents}), **given)


def ingest(*words: str) -> Result:
    return pgs("ingest", "docs", "--graph", "notes", "--quiet", *words)


def told(done: Result) -> str:
    return on_one_line(done.stderr)


DEFAULTS = {
    "sync": False, "refresh": False, "allow_private": False, "arbiter": False, "forget": False,
    "embed": False,
}  # fmt: skip


def asked(engine: StandIn, name: str = "ingest", **changed: Any) -> bool:
    """Whether this was asked for, once and of these files."""
    return engine.asked == [(name, ["docs"], "notes", DEFAULTS | changed)]


def test_without_options_files_are_ingested_and_nothing_is_deleted(engine: StandIn) -> None:
    done = ingest()
    assert (done.exit_code, done.stderr) == (0, "")
    assert asked(engine)
    assert engine.opened == [("engine", {})]
    assert "Graph     notes, label Notes" in done.stdout
    assert "Documents 2 added" in done.stdout
    assert "Chunks    4, 2 of them extracted now" in done.stdout
    assert "  pgs ask --graph notes " in done.stdout


def test_options_columns_limits_and_every_path_are_passed_on(engine: StandIn) -> None:
    given = {"label": "Paper", "sync": True, "refresh": True, "forget": True, "embed": True}
    columns = RecordColumns(text="body", title="head", key="no", entities=(("by", "Person"),))
    done = ingest(
        *("more/a.md", "--label", "Paper", "--sync", "--refresh", "--forget", "--embed"),
        *("--text", "body", "--title", "head", "--key", "no", "--entity", "by=person"),
        *("--max-calls", "5", "--max-concurrent-sweeps", "2", "--hedge"),
    )
    assert done.exit_code == 0
    wanted = DEFAULTS | given | {"columns": columns}
    assert engine.asked == [("ingest", ["docs", "more/a.md"], "notes", wanted)]
    ((_, used),) = engine.opened
    assert used == {"max_calls": "5", "max_concurrent_sweeps": 2, "hedge": True}


def test_a_plan_passes_the_same_on_and_changes_nothing(engine: StandIn) -> None:
    done = ingest("--plan", "--sync", "--max-cost", "2")
    assert done.exit_code == 0
    assert asked(engine, "ingest.plan", sync=True)
    assert engine.opened == [("engine", {"max_cost": "2"})]
    rows = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert rows[1:4] == [
        ["Documents", "2 added"],
        ["Chunks", "4, 2 of them to extract"],
        ["Calls", "2 calls, about 3,000 tokens in, 800 out"],
    ]
    assert ["Time", "about 90 s"] in rows
    data = json.loads(ingest("--plan", "--json").stdout)
    assert (data["counts"]["added"], data["forecast"]["calls"]["calls"]) == (2, 2)


def test_a_plan_tells_what_would_be_embedded_and_what_cannot_be_read(engine: StandIn) -> None:
    known, more = PlannedCalls(calls=2, input_tokens=700), PlannedCalls(calls=1, input_tokens=300)
    vectors = EmbeddingForecast(model="e", priced=False, texts=9, found=46, calls=known, more=more)
    failed = outcomes("failed", 1, reason="it is not text")
    engine.replies["ingest.plan"] = planned(*failed, *outcomes("added", 2), embedding=vectors)
    done = ingest("--plan", "--embed")
    said = on_one_line(done.stdout)
    assert asked(engine, "ingest.plan", embed=True)
    assert "Vectors 9 texts by e, about 46 names and facts, 3 calls, about 1,000 tokens in" in said
    assert '[models."e"]' in said
    assert done.exit_code == 3
    assert "these cannot be read: note: failed-00.md: it is not text" in told(done)
    free = EmbeddingForecast(model="hashing-2048", free=True, texts=1)
    engine.replies["ingest.plan"] = planned(embedding=free)
    assert "Vectors 1 text by hashing-2048 Cost" in on_one_line(ingest("--plan").stdout)


def test_a_job_is_resumed_by_its_id(engine: StandIn) -> None:
    engine.replies["ingest.resume"] = ingested(
        *outcomes("waiting", 1), stopped="max_calls is reached", job="j12"
    )
    done = pgs("resume", "j12", "--max-calls", "5", "--quiet")
    assert done.exit_code == 3
    assert engine.asked == [("ingest.resume", "j12", {"max_calls": "5"})]
    assert "Job       j12" in done.stdout
    refused = pgs("resume", "j12", "--graph", "notes")
    assert (refused.exit_code, len(engine.asked)) == (2, 1)
    assert "leave it out for a job" in told(refused)


def test_a_text_on_stdin_has_a_name(engine: StandIn) -> None:
    words = ("ingest", "docs", "-", "--graph", "notes", "--quiet")
    assert pgs(*words, "--name", "note.md", stdin="It is so.").exit_code == 0
    ((_, sources, *_),) = engine.asked
    assert sources == ["docs", DocumentSource(id="note.md", data=b"It is so.")]
    assert pgs(*words, stdin="x").exit_code == 2
    assert ingest("--name", "note.md").exit_code == 2
    assert len(engine.asked) == 1


def test_no_more_of_stdin_is_read_than_tells_that_it_is_too_large() -> None:
    stdin = io.BytesIO(b"It is so, and so on.")
    with patch("sys.stdin", SimpleNamespace(buffer=stdin)):
        with command.open_sources(["-", "a"], "note.md", 9) as sources:
            assert sources == [DocumentSource(id="note.md", data=b"It is so, "), "a"]
        assert stdin.tell() == 10


def test_records_on_stdin_may_have_any_size(
    engine: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("ingest", "-", "--graph", "notes", "--quiet", "--name", "rows.csv")
    taken: list[bytes] = []

    def take(sources: list[DocumentSource], graph: str, **wanted: Any) -> Any:
        for _ in range(2):
            assert sources[0].opened is not None
            with reopen_file(sources[0].opened) as file:
                taken.append(file.read())
        return ingested()

    engine.replies["ingest"] = take
    assert pgs(*words, stdin="id,text\n1,It is so.\n").exit_code == 0
    assert taken == [b"id,text\n1,It is so.\n"] * 2

    def full(*files: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(command, "copyfileobj", full)
    done = pgs(*words, stdin="id\n1\n")
    assert (done.exit_code, len(taken)) == (2, 2)
    assert "stdin cannot be stored (No space left on device); name a file" in told(done)


@pytest.mark.parametrize("state", ["failed", "deleted", None])
def test_a_graph_without_documents_is_not_offered_for_questions(
    engine: StandIn, state: DocumentState | None
) -> None:
    engine.replies["ingest"] = ingested(*(outcomes(state, 1) if state else ()))
    assert "pgs ask" not in ingest().stdout


@pytest.mark.parametrize(
    ("documents", "given", "code", "said"),
    [
        (outcomes("stale", 12), {}, 0, "--refresh extracts them again: note: stale-00.md"),
        (outcomes("missing", 1), {}, 0, "--sync deletes them"),
        (outcomes("failed", 1, reason="it is not UTF-8"), {}, 3, "failed-00.md: it is not UTF-8"),
        (outcomes("added", 1), {"stopped": "max_calls 1 was reached"}, 3, ""),
        (outcomes("changed", 1), {"unembedded": 1}, 0, "1 text has no vector; run"),
        ((), {"unembedded": 2, "unembedded_why": "gone"}, 3, "2 texts have no vector (gone); run"),
    ],
)
def test_what_is_left_to_do_is_noted_and_what_failed_or_stopped_ends_it_with_3(
    engine: StandIn,
    documents: tuple[DocumentOutcome, ...],
    given: dict[str, Any],
    code: int,
    said: str,
) -> None:
    engine.replies["ingest"] = ingested(*documents, **given)
    done = ingest()
    assert done.exit_code == code
    assert said in told(done)
    assert all(line.startswith("note: ") for line in done.stderr.splitlines())
    as_json = ingest("--json")
    assert (as_json.exit_code, as_json.stderr) == (code, "")
    data = json.loads(as_json.stdout)
    assert (data["complete"], len(data["outcomes"])) == (code == 0, len(documents))


@pytest.mark.parametrize("option", ["--quiet", "--plan"])
def test_a_document_that_is_read_only_in_part_ends_it_with_3(engine: StandIn, option: str) -> None:
    documents = (*outcomes("unchanged", 1, unread=("page 2 is a picture",)), *outcomes("added", 1))
    engine.replies["ingest"] = ingested(*documents)
    engine.replies["ingest.plan"] = planned(*documents)
    done = ingest(option)
    assert (done.exit_code, "unchanged-00.md: page 2 is a picture" in told(done)) == (3, True)
    read = json.loads(ingest("--json", option).stdout)
    assert [one["unread"] for one in read["outcomes"]] == [["page 2 is a picture"], []]


REFUSED: list[tuple[tuple[str, ...], str]] = [
    *(
        (("ingest", "docs", "--graph", "notes", "--entity", option), "as in author=Person")
        for option in ("author", "=Person", "author=", "author=Chunk", "a=1")
    ),
    *(
        (("ingest", "docs", f"--graph={name}"), "cannot be a graph's name")
        for name in ("", "my notes", "-x", "a/b", "x" * 65, "n\x1b[31m")
    ),
    (("ingest", "docs"), "--graph"),
    (("ingest", "--graph", "notes"), "Missing argument"),
    (("documents", "delete", "--graph", "notes"), "or --all for all of the graph"),
    (("documents", "delete", "--graph", "notes", "a.md", "--all"), "or --all"),
    (("documents", "delete", "a.md"), "--graph"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_what_cannot_be_meant_is_refused_before_anything_is_opened(
    engine: StandIn, words: tuple[str, ...], said: str
) -> None:
    done = pgs(*words)
    assert done.exit_code == 2
    assert said in told(done)
    assert "\x1b" not in done.stderr
    assert engine.opened == []


def test_documents_are_listed_without_a_model_and_as_json_even_if_there_are_none(
    engine: StandIn, hostile: str
) -> None:
    def listed(*words: str) -> str:
        done = pgs("documents", "list", "--graph", "notes", *words)
        assert done.exit_code == 0
        return done.stdout

    assert listed().splitlines() == [
        "people/curie.md  1 chunk, 0.1 kB",
        "seine.txt  1,200 chunks, 4.5 MB",
    ]
    assert engine.opened == [("database", {})]
    assert json.loads(listed("--json"))["documents"][0] == {
        "id": "people/curie.md", "name": "curie.md", "chunks": 1, "size": 65, "unread": [],
        "unproven": 0,
    }  # fmt: skip
    engine.replies["ingest.documents"] = [replace(STORED[0], id=f"a\n{hostile}.md", size=0)]
    assert listed() == "a [bold]red[/bold] 2Jtail.md  “curie.md”, 1 chunk, 0 kB\n"
    engine.replies["ingest.documents"] = []
    assert json.loads(listed("--json")) == {"documents": []}
    done = pgs("documents", "list", "--graph", "notes")
    assert "'pgs ingest FOLDER --graph notes' adds them" in told(done)


def test_a_document_is_shown_with_its_chunks_and_what_was_dropped(engine: StandIn) -> None:
    done = pgs("documents", "show", "Marie Curie", "-g", "notes")
    assert (done.exit_code, done.stderr) == (0, "")
    assert engine.asked == [("ingest.document", "notes", "Marie Curie")]
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
    data = json.loads(pgs("documents", "show", "x", "-g", "notes", "--json").stdout)
    assert (data["dropped"], data["stale"]) == ({"not in the text": 4, "end": 2}, [*SHOWN.stale])
    assert data["chunks"][0]["path"] == ["Life", "Paris"]


def delete(*words: str) -> Result:
    return pgs("documents", "delete", "--graph", "notes", *words)


QUOTING = QuotingRun(run="r1", session="hunt", graph="notes", question="What\nwas hidden?")
PROOF: dict[str, Any] = {"sentences": 7, "short": 2, "scanned": 12_000, "indexes": 1}


def test_confirmed_documents_are_deleted_and_the_proof_is_told(engine: StandIn) -> None:
    figures = {"chunks": 3, "entities": 1, "relations": 2, "replies": 1, "descriptions": 4}
    engine.replies["ingest.delete"] = deleted(**figures, seconds=0.5, **PROOF)
    done = delete("a.md", "b.md", "--yes")
    assert (done.exit_code, done.stderr) == (0, "")
    assert on_one_line(done.stdout) == (
        "Deleted 2 documents, 3 chunks, 1 entity, 2 relations, 1 stored reply, 4 descriptions "
        "Searched 7 sentences in 12,000 characters and 1 index; 2 sentences too short or too "
        "common to search for Held by nothing Time 0.5 s"
    )
    assert engine.asked == [("ingest.delete", "notes", ["a.md", "b.md"], {"forget": False})]
    engine.replies["ingest.delete"] = deleted(resumed=2, **PROOF)
    continued = "Continued the search for 2 documents of an interrupted deletion; it does not query"
    assert continued in on_one_line(delete("a.md", "--yes").stdout)
    assert json.loads(delete("a.md", "--yes", "--json").stdout)["resumed"] == 2
    engine.replies["ingest.delete"] = deleted()
    done = delete("a.md", "a.md", "--yes")
    assert "1 document, 0 chunks, 0 entities, 0 relations" in on_one_line(done.stdout)
    assert "Searched" not in done.stdout


def test_all_documents_are_deleted_with_their_graph(engine: StandIn) -> None:
    engine.replies["ingest.delete"] = deleted(**PROOF)
    refused = delete("--all")
    assert refused.exit_code == 2
    assert "all of graph notes, and its partitions" in on_one_line(refused.stderr)
    assert [call[0] for call in engine.asked] == ["ingest.documents", "ingest.unfinished"]
    engine.asked.clear()
    assert delete("--all", "--yes").exit_code == 0
    listed, _, gone, removed = engine.asked
    assert listed[:2] == ("ingest.documents", "notes")
    assert gone[:3] == ("ingest.delete", "notes", [one.id for one in STORED])
    assert removed[:2] == ("ingest.remove_views", "notes")


def test_a_graph_without_documents_keeps_its_mapping(engine: StandIn) -> None:
    engine.replies["ingest.documents"] = []
    refused = delete("--all", "--yes")
    assert refused.exit_code == 2
    assert [call[0] for call in engine.asked] == ["ingest.documents", "ingest.unfinished"]
    assert "has no documents" in on_one_line(refused.stderr)


def test_what_is_kept_of_documents_that_were_never_ingested_goes_with_all(engine: StandIn) -> None:
    engine.replies |= {"ingest.documents": [], "ingest.unfinished": ["a.md"]}
    refused = delete("--all")
    told = "this deletes 0 documents, all of graph notes, the stored parts of 1 document whose"
    assert told in on_one_line(refused.stderr)
    assert delete("--all", "--yes").exit_code == 0
    assert engine.asked[-2][:3] == ("ingest.delete", "notes", ["a.md"])
    engine.replies["ingest.documents"] = STORED
    delete("--all", "--yes")
    assert engine.asked[-2][2] == [*(one.id for one in STORED), "a.md"]


@pytest.mark.parametrize("sentences", [0, 3])
def test_a_deletion_that_nothing_could_prove_is_told_and_ends_it_with_3(
    engine: StandIn, sentences: int
) -> None:
    engine.replies["ingest.delete"] = deleted(sentences=sentences, short=1)
    done = delete("a.md", "--yes")
    shown = on_one_line(done.stdout)
    assert done.exit_code == 3
    assert "nothing could be searched for: the sentences are too short or too common" in shown
    assert ("too common, or are also in other documents" in shown) is bool(sentences)
    assert "Held by unknown" in shown
    assert json.loads(delete("a.md", "--yes", "--json").stdout)["proven"] is False


def test_what_still_holds_the_text_is_named_and_ends_it_with_3(engine: StandIn) -> None:
    holders = tuple(TextHolder(kind="Note", id=f"n{one}", place="text") for one in range(20))
    engine.replies["ingest.delete"] = deleted(held=25, holders=holders, quoting=(QUOTING,), **PROOF)
    done = delete("a.md", "--yes")
    assert done.exit_code == 3
    assert "Held by 25 places, 1 answer" in on_one_line(done.stdout)
    assert "note: Note n19: text note: and 5 more" in told(done)
    assert "--forget would have removed their text): note: hunt, run r1: What was" in told(done)
    as_json = delete("a.md", "b.md", "--yes", "--json")
    data = json.loads(as_json.stdout)
    assert (as_json.exit_code, data["documents"], data["proven"]) == (3, 2, False)
    assert (data["sentences"], data["quoting"][0]["run"]) == (7, "r1")


def test_forgotten_answers_are_named_and_are_no_failure(engine: StandIn) -> None:
    runs = tuple(replace(QUOTING, run=f"r{one}", forgotten=True) for one in range(23))
    engine.replies["ingest.delete"] = deleted(quoting=runs, **PROOF)
    done = delete("a.md", "--yes", "--forget")
    assert done.exit_code == 0
    assert engine.asked == [("ingest.delete", "notes", ["a.md"], {"forget": True})]
    assert "Held by nothing" in on_one_line(done.stdout)
    assert "the text of these answers was removed" in told(done)
    assert "run r19:" in told(done)
    assert "note: and 3 more" in told(done)


def test_what_a_sync_deleted_is_told_with_its_proof(engine: StandIn) -> None:
    deletion = Deletion(documents=1, quoting=(QUOTING,), **PROOF)
    engine.replies["ingest"] = ingested(*outcomes("deleted", 1), deletion=deletion)
    done = ingest("--sync")
    assert "Held by 1 answer" in on_one_line(done.stdout)
    assert "hunt, run r1" in told(done)
    data = json.loads(ingest("--sync", "--json").stdout)
    assert (data["deletion"]["documents"], data["deletion"]["proven"]) == (1, False)


@pytest.mark.parametrize("typed", ["y\n", "n\n", "", None])
def test_nothing_is_deleted_unless_a_person_agrees(
    engine: StandIn, monkeypatch: pytest.MonkeyPatch, typed: str | None
) -> None:
    monkeypatch.setattr(connection, "can_ask", lambda: typed is not None)
    words = ("documents", "delete", "a.md", "a.md", "b.md", "-g", "notes")
    done = pgs(*words, stdin=typed or "")
    how = "; pass --yes" if typed is None else ". Continue? [y/N]"
    assert f"this deletes 2 documents from the graph notes{how}" in told(done)
    assert bool(engine.asked) is (typed == "y\n")
    assert done.exit_code == (0 if typed == "y\n" else 2)


def test_the_graph_of_the_settings_is_taken(
    engine: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGS_GRAPH", "notes")
    engine.replies |= {"graphs.get": SimpleNamespace(name="notes"), "ingest.documents": []}
    assert pgs("ingest", "docs", "--quiet").exit_code == 0
    assert engine.asked[-1][2] == "notes"
    done = pgs("documents", "list")
    assert engine.asked[-1] == ("ingest.documents", "notes")
    assert "graph notes has no documents" in told(done)
    monkeypatch.setattr(connection, "can_ask", lambda: False)
    # What is deleted is named before anything is opened.
    refused = pgs("documents", "delete", "a.md")
    assert "from the graph notes; pass --yes" in told(refused)


def test_a_model_of_the_command_line_extracts(
    engine: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGS_LLM_PROVIDER", "ollama")
    assert ingest("--model", "llama9").exit_code == 0
    assert engine.opened[0][1]["sweep_model"] == "llama9"
