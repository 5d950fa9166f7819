"""Files become a graph, stay equal to it under change, and are asked like any other graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.deletion.delete import delete_documents
from pgs_neo4j.documents.names.renewal import hold_with_resolved_names
from pgs_neo4j.documents.stored import read_documents
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import ModelUnavailableError, UsageError
from pgs_neo4j.llm.scripted import Reply, ScriptedLLM, contract_reply
from pgs_neo4j.model import Prompt
from pgs_neo4j.model.documents import DocumentSource, RecordColumns
from pgs_neo4j.model.ingest import IngestPlan
from pgs_neo4j.text.extraction.schema import DEFAULT_TYPES
from tests.database import alter, fetch
from tests.documents import stored_graph
from tests.engines import answering
from tests.fakes.extractors import named_records
from tests.hostile_reading import DOCUMENTS

CURIE = "Marie Curie worked in Paris. She found radium with Pierre Curie.\n"
SEINE = "The Seine flows through Paris. Boats cross the Seine.\n"
NAMES = ("Marie Curie", "Pierre Curie", "Paris", "Seine", "radium")


def reader(prompt: Prompt) -> Reply:
    """Name what stands in each numbered sentence, and relate what stands together."""
    if prompt.task != "extraction":
        return contract_reply(prompt)
    lines = []
    for line in prompt.user.splitlines():
        number, _, text = line.partition("] ")
        found = [name for name in NAMES if name in text]
        for name in found:
            kind = "Person" if "Curie" in name else "Location"
            lines.append(f"entity<|#|>{name}<|#|>{kind}<|#|>{name} is named.<|#|>{number[1:]}")
        if len(found) > 1:
            ends = f"{found[0]}<|#|>{found[1]}"
            lines.append(f"relation<|#|>{ends}<|#|>stands with<|#|>{text}<|#|>{number[1:]}")
    return "\n".join([*lines, "<|COMPLETE|>", ""])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people").mkdir()
    (tmp_path / "people" / "curie.md").write_text(CURIE)
    (tmp_path / "seine.txt").write_text(SEINE)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    return tmp_path


@pytest.fixture
def pgs(engine: PGS) -> PGS:
    answering(engine, reader)
    return engine


def model(pgs: PGS) -> ScriptedLLM:
    assert isinstance(pgs.sweep_llm, ScriptedLLM)
    return pgs.sweep_llm


async def everything(db: Database) -> list[Any]:
    """The numbers of nodes and relationships of the database, and all names in it."""
    counted = "MATCH (n) RETURN count(n) AS n UNION ALL MATCH ()-[r]->() RETURN count(r) AS n"
    named = (
        "CALL db.labels() YIELD label RETURN label AS name "
        "UNION CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey AS name"
    )
    return [await fetch(db, one) for one in (counted, named)]


async def graph_of(db: Database, graph: str = "docs") -> tuple[dict[str, Any], list[Any]]:
    """Nodes by id with their properties, and relationships between ids."""
    stored = await stored_graph(db, graph)
    nodes = {node["id"]: node for node in stored["nodes"]}
    links = [(link["source"], link["type"], link["target"]) for link in stored["links"]]
    return nodes, links


async def test_hostile_documents_are_named_with_reasons_and_end_no_ingestion(
    pgs: PGS, folder: Path
) -> None:
    hostile = {
        "a.json#record 1": "it is nested more than 20 levels deep",
        "b.csv": "it has 50,000 columns; at most 16,384 are read, so split it",
        "c.docx": "it defines XML entities, which no program that writes docx does",
        "d.docx": "it unpacks to over 100 times its size, which no document does",
    }
    made = ("deep.json", "wide.csv", "entities.docx", "deep.docx")
    for id_, name in zip(hostile, made, strict=True):
        (folder / id_.partition("#")[0]).write_bytes(DOCUMENTS[name]())
    done = await pgs.ingest(folder, "docs")
    failed = {one.id: one.reason for one in done.outcomes if one.state == "failed"}
    assert failed.keys() == hostile.keys()
    assert all(failed[id_].startswith(reason) for id_, reason in hostile.items()), failed
    assert {one.id for one in done.outcomes if one.state == "added"} == {
        "people/curie.md", "seine.txt",
    }  # fmt: skip


async def test_a_folder_becomes_the_graph_that_was_planned_and_leads_back_to_its_text(
    pgs: PGS, db: Database, folder: Path
) -> None:
    before = await everything(db)
    planned = await pgs.ingest.plan(folder, "docs")
    assert (await everything(db), model(pgs).prompts) == (before, [])
    done = await pgs.ingest(folder, "docs")
    assert (planned.calls, planned.outcomes) == (done.usage.calls, done.outcomes)
    again = await pgs.ingest.plan(folder, "docs")
    assert (again.calls, again.count("unchanged")) == (0, 2)
    assert [(one.id, one.state, one.chunks) for one in done.outcomes] == [
        ("people/curie.md", "added", 1), ("seine.txt", "added", 1),
    ]  # fmt: skip
    assert (done.skipped, done.complete) == ({".png": 1}, True)
    assert done.usage.calls == 1  # small documents share a prompt
    nodes, links = await graph_of(db)
    entities = {id_: node for id_, node in nodes.items() if "__Entity__" in node["labels"]}
    assert {node["properties"]["name"] for node in entities.values()} == set(NAMES)
    paris = entities["entity:Location:PARIS"]
    assert paris["labels"] == ["Docs", "DocsEntity", "LoadedNode", "Location", "__Entity__"]
    assert paris["properties"]["weight"] == 2.0
    stored = (await stored_graph(db, "docs"))["links"]
    for link in stored:
        if link["type"] == "MENTIONED_IN":
            text, spans = nodes[link["target"]]["properties"]["text"], link["properties"]["spans"]
            found = {text[a:b] for a, b in zip(spans[::2], spans[1::2], strict=True)}
            assert found == {nodes[link["source"]]["properties"]["name"]}
    assert ("entity:Location:SEINE", "RELATES", "entity:Location:PARIS") in links or (
        "entity:Location:PARIS", "RELATES", "entity:Location:SEINE",
    ) in links  # fmt: skip
    shown = await pgs.ingest.document("docs", "people/curie.md")
    assert (shown.source, shown.loader, shown.media_type) == (
        "people/curie.md", "FileLoader", "text/markdown",
    )  # fmt: skip
    assert (shown.entities, shown.relations, shown.stale) == (4, 2, ())
    assert [(one.index, one.entities, one.relations) for one in shown.chunks] == [(0, 4, 2)]
    assert shown.ingested_at.startswith("20")
    answer = await pgs.execute("What of the Seine?", graph="docs")
    assert answer.coverage.nodes_read == answer.coverage.nodes_total == 7
    assert {graph.name for graph in await pgs.graphs()} == {"docs", "docs.entities"}
    assert (await pgs.graphs.get(None)).name == "docs"  # it has all that is in the other


@pytest.mark.schema
async def test_what_did_not_change_costs_nothing_until_a_refresh_by_another_model(
    pgs: PGS, db: Database, folder: Path
) -> None:
    await pgs.ingest(folder, "docs")
    before = await stored_graph(db, "docs")
    again = await pgs.ingest(folder, "docs")
    assert (again.count("unchanged"), again.usage.calls) == (2, 0)
    (folder / "seine.txt").rename(folder / "river.txt")
    moved = await pgs.ingest(folder, "docs")
    assert [(one.id, one.state) for one in moved.outcomes] == [
        ("people/curie.md", "unchanged"), ("river.txt", "moved"),
    ]  # fmt: skip
    assert moved.usage.calls == 0
    await pgs.purge()
    purged = await pgs.ingest(folder, "docs")
    assert (purged.count("unchanged"), purged.usage.calls) == (2, 0)
    (folder / "river.txt").rename(folder / "seine.txt")
    await pgs.ingest(folder, "docs")
    assert await stored_graph(db, "docs") == before
    model(pgs).name = "another"
    stale = await pgs.ingest(folder, "docs")
    assert (stale.count("stale"), stale.usage.calls) == (2, 0)
    shown = await pgs.ingest.document("docs", "curie.md")  # by its title
    assert shown.stale == ("another model or prompt extracted it",)
    done = await pgs.ingest(folder, "docs", refresh=True)
    assert (done.count("changed"), done.usage.calls) == (2, 1)


@pytest.mark.thorough
async def test_what_many_chunks_describe_is_described_once_by_the_model(
    pgs: PGS, db: Database, tmp_path: Path
) -> None:
    llm = model(pgs)
    asked: list[str] = []

    def answer(prompt: Prompt) -> Reply:
        if prompt.task == "description":
            asked.append(prompt.user)
            return describing(prompt)
        return named_records(prompt.user, {"Paris": "Location"})

    def describing(prompt: Prompt) -> Reply:
        return ModelUnavailableError("the endpoint is away") if len(asked) == 1 else "It has gates."

    llm._answer = answer
    for n in range(9):
        (tmp_path / f"{n}.md").write_text(f"Paris has gate number {n}.\n")
    first = await pgs.ingest(tmp_path, "docs")
    assert (first.described, first.undescribed, first.complete) == (0, 1, False)
    assert "the endpoint is away" in first.undescribed_why
    later = DocumentSource(id="new.md", data="The newest gate of Paris is of glass.")
    planned = await pgs.ingest.plan(tmp_path / "0.md", "docs")
    assert described_calls(planned) == (1, 0)
    again = await pgs.ingest(tmp_path, "docs")
    assert (again.described, again.usage.calls, again.complete) == (1, 1, True)
    assert await description(db) == "It has gates."
    assert described_calls(await pgs.ingest.plan(tmp_path / "0.md", "docs")) == (0, 0)
    assert described_calls(await pgs.ingest.plan(later, "docs")) == (0, 1)
    assert (await pgs.ingest(tmp_path, "docs")).usage.calls == 0
    (tmp_path / "7.md").unlink()
    async with hold_with_resolved_names(db, "docs", "Docs") as writer:  # of someone without a model
        await delete_documents(db, writer, [(await read_documents(db, "docs"))["7.md"]])
    assert "gate number" in await description(db)
    assert (await pgs.ingest(tmp_path, "docs")).described == 1
    assert await description(db) == "It has gates."
    (tmp_path / "9.md").write_text("Paris has gate number 8.\nRome is far.\n")  # nothing new of it
    assert (await pgs.ingest(tmp_path, "docs")).usage.calls == 1
    assert await description(db) == "It has gates."
    (tmp_path / "8.md").write_text("Paris has gate number 80.\n")
    (tmp_path / "9.md").unlink()
    changed = await pgs.ingest(tmp_path, "docs", sync=True)
    assert (changed.described, "number 80" in asked[-1], "number 8." in asked[-1]) == (
        1,
        True,
        False,
    )
    for n in range(2, 9):
        (tmp_path / f"{n}.md").unlink(missing_ok=True)
    assert (await pgs.ingest(tmp_path, "docs", sync=True)).usage.calls == 0
    assert {*(await description(db)).splitlines()} == {
        "Paris has gate number 0.", "Paris has gate number 1.",
    }  # fmt: skip


def described_calls(planned: IngestPlan) -> tuple[int, int]:
    """The calls of a plan for descriptions: those that are sure, and those that are likely."""
    assert planned.describing is not None
    return planned.describing.calls.calls, planned.describing.more.calls


async def description(db: Database) -> str:
    nodes, _ = await graph_of(db)
    return str(nodes["entity:Location:PARIS"]["properties"]["description"])


@pytest.mark.thorough
async def test_files_that_are_gone_are_told_and_deleted_on_request(
    pgs: PGS, db: Database, folder: Path
) -> None:
    await pgs.ingest(folder, "docs")
    (folder / "seine.txt").unlink()
    told = await pgs.ingest(folder, "docs")
    assert [(one.id, one.state) for one in told.outcomes][1] == ("seine.txt", "missing")
    assert "entity:Location:SEINE" in (await graph_of(db))[0]
    done = await pgs.ingest(folder, "docs", sync=True)
    assert done.count("deleted") == 1
    nodes, _ = await graph_of(db)
    assert "entity:Location:SEINE" not in nodes
    assert nodes["entity:Location:PARIS"]["properties"]["weight"] == 1.0
    with pytest.raises(UsageError, match="no document nothing"):
        await pgs.ingest.delete("docs", ["people/curie.md", "nothing"])
    assert (await pgs.ingest.delete("docs", ["people/curie.md"])).documents == 1
    assert (await graph_of(db))[0] == {}


@pytest.mark.thorough
@pytest.mark.parametrize("calls", [["one", "two"], ["two", "one"], ["both"]])
async def test_a_copy_in_another_folder_stays_whatever_is_read_first(
    pgs: PGS, tmp_path: Path, calls: list[str]
) -> None:
    texts = {"one/a.md": "Paris is old.\n", "two/b.md": "Paris is old.\n"}
    texts |= {"one/c.md": "The Seine flows.\n", "two/d.md": "Radium is rare.\n"}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for call in calls:
        folders = [tmp_path / name for name in (("one", "two") if call == "both" else (call,))]
        done = await pgs.ingest(folders, "docs", sync=True)
        assert done.count("moved", "deleted", "missing") == 0
    stored = await pgs.ingest.documents("docs")
    assert [one.id for one in stored] == ["a.md", "b.md", "c.md", "d.md"]
    again = await pgs.ingest([tmp_path / "one", tmp_path / "two"], "docs")
    assert (again.count("unchanged"), again.usage.calls) == (4, 0)


@pytest.mark.thorough
async def test_a_sync_deletes_only_what_left_the_folders_that_are_read(
    pgs: PGS, db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pgs.ingest([folder, DocumentSource(id="note.md", data="Radium is rare.\n")], "docs")
    await alter(db, "MATCH (d:Document) SET d.roots = []")  # as uploads
    (folder / "new.md").write_text("Rome is far.\n")
    done = await pgs.ingest(folder / "new.md", "docs", sync=True)
    assert {one.id: one.state for one in done.outcomes} == {
        "new.md": "added", "note.md": "elsewhere", "people/curie.md": "elsewhere",
        "seine.txt": "elsewhere",
    }  # fmt: skip
    note = DocumentSource(id="note.md", data="Radium is rare.\n")
    assert (await pgs.ingest([folder, note], "docs")).usage.calls == 0
    (folder / "new.md").rename(folder / "rome.md")
    (folder / "seine.txt").unlink()
    monkeypatch.chdir(folder)
    done = await pgs.ingest(".", "docs", sync=True)
    assert {one.id: (one.state, one.former) for one in done.outcomes} == {
        "note.md": ("elsewhere", ""), "people/curie.md": ("unchanged", ""),
        "rome.md": ("moved", "new.md"), "seine.txt": ("deleted", ""),
    }  # fmt: skip
    assert done.usage.calls == 0


async def test_a_document_that_fails_leaves_the_others_and_loses_nothing(
    pgs: PGS, db: Database, folder: Path
) -> None:
    (folder / "empty.txt").write_text(" \n")
    (folder / "latin.txt").write_bytes("Caf\xe9".encode("latin-1"))
    (folder / "binary.txt").write_bytes(b"a\0b")
    llm = model(pgs)
    llm._answer = lambda prompt: "I refuse." if "Seine" in prompt.user else reader(prompt)
    done = await pgs.ingest(folder, "docs")
    reasons = {one.id: one.reason for one in done.outcomes if one.state == "failed"}
    assert reasons.keys() == {"binary.txt", "latin.txt", "seine.txt"}
    assert [one.id for one in done.outcomes if one.state == "empty"] == ["empty.txt"]
    assert "save it as UTF-8" in reasons["latin.txt"]
    assert "it is not text" in reasons["binary.txt"]
    assert "did not write records" in reasons["seine.txt"]
    assert not done.complete
    llm._answer, before = reader, len(llm.prompts)
    again = await pgs.ingest(folder, "docs")
    assert (again.count("added"), len(llm.prompts) - before) == (1, 1)
    stands, llm._answer = await stored_graph(db, "docs"), lambda prompt: "I refuse."
    (folder / "seine.txt").write_text("The Seine is long.\n")
    assert (await pgs.ingest(folder, "docs")).count("failed") == 3
    assert await stored_graph(db, "docs") == stands


async def test_a_limit_keeps_what_was_paid_for_and_its_job_is_resumed(
    pgs: PGS, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "seine.txt").write_text(SEINE * 60)  # large enough for a prompt of its own
    stopped = await pgs.ingest(folder, "docs", max_calls=1)
    assert stopped.stopped
    assert not stopped.complete
    assert (stopped.usage.calls, len(model(pgs).prompts)) == (1, 1)
    monkeypatch.chdir("/")
    rest = await pgs.ingest.resume(stopped.job)
    assert (rest.complete, len(model(pgs).prompts)) == (True, 2)
    assert [(job.kind, job.outcome) for job in await pgs.jobs("docs")] == [
        ("ingest", "ingested"), ("ingest", "partial"),
    ]  # fmt: skip
    assert (await pgs.jobs.get(rest.job)).figures["documents"] == {"added": 1, "unchanged": 1}


@pytest.mark.thorough
async def test_a_narrower_schema_costs_no_call_and_is_undone_without_one(
    pgs: PGS, db: Database, folder: Path, tmp_path: Path
) -> None:
    await pgs.ingest(folder, "docs")
    before = await stored_graph(db, "docs")
    narrow = tmp_path / "schema.toml"
    narrow.write_text(f'mode = "strict"\n[types]\nPerson = "{DEFAULT_TYPES["Person"]}"\n')
    done = await pgs.ingest(folder, "docs", schema=narrow)
    assert (done.count("changed"), done.usage.calls) == (2, 0)
    assert done.dropped == {"type": 4, "end": 3}
    nodes, _ = await graph_of(db)
    assert {id_ for id_ in nodes if id_.startswith("entity:")} == {
        "entity:Person:MARIE_CURIE", "entity:Person:PIERRE_CURIE",
    }  # fmt: skip
    again = await pgs.ingest(folder, "docs")  # the graph's own schema stays
    assert (again.count("unchanged"), again.usage.calls) == (2, 0)
    (folder / "people" / "curie.md").write_text(CURIE + "Marie Curie lived.\n")
    edited = await pgs.ingest(folder, "docs")
    assert (edited.count("changed"), edited.usage.calls) == (1, 1)
    (folder / "people" / "curie.md").write_text(CURIE)
    await pgs.ingest(folder, "docs")
    wide = await pgs.ingest(folder, "docs", schema="default")
    assert {one.id: one.state for one in wide.outcomes} == {
        "people/curie.md": "stale", "seine.txt": "changed",
    }  # fmt: skip
    refreshed = await pgs.ingest(folder, "docs", schema="default", refresh=True)
    assert refreshed.usage.calls == 1
    assert await stored_graph(db, "docs") == before


async def test_graphs_of_documents_and_of_files_stay_apart(
    pgs: PGS, folder: Path, tmp_path: Path
) -> None:
    brain = tmp_path / "brain.json"
    brain.write_text('{"nodes": [{"id": 1, "concept": "a"}], "edges": []}')
    await pgs.load(brain, "brain")
    with pytest.raises(UsageError, match="was loaded from a file of nodes"):
        await pgs.ingest(folder, "brain")
    await pgs.ingest(folder, "docs")
    with pytest.raises(UsageError, match="is made of documents"):
        await pgs.load(brain, "docs")
    with pytest.raises(UsageError, match="there is no"):
        await pgs.ingest(tmp_path / "nowhere", "docs")


@pytest.mark.thorough
async def test_types_never_bring_entities_into_the_view_of_another_graph(
    pgs: PGS, db: Database, tmp_path: Path
) -> None:
    law = DocumentSource(id="a.md", data="Marie Curie worked in Paris.")
    await pgs.ingest([law], "law")
    for type_ in ("Law", "Law Chunk", "LawEntity", "Notes Chunk"):
        (tmp_path / "notes.csv").write_text(f"id,name,text\n1,Ann Lee,By Ann Lee of {type_}.\n")
        columns = RecordColumns(entities=(("name", type_),))
        done = await pgs.ingest(tmp_path, "notes", columns=columns)
        assert done.complete
    nodes, _ = await graph_of(db, "notes")
    ann = nodes["entity:NotesChunk:ANN_LEE"]
    assert ann["labels"] == ["LoadedNode", "Notes", "NotesEntity", "__Entity__"]
    assert ann["properties"]["type"] == "NotesChunk"
    again = await pgs.ingest([law, DocumentSource(id="b.md", data="The Seine.")], "law")
    assert again.complete


@pytest.mark.thorough
async def test_records_become_documents_and_their_columns_entities(
    pgs: PGS, db: Database, tmp_path: Path
) -> None:
    (tmp_path / "books.csv").write_text(
        "id,title,author,text\n1,Radium,Marie Curie,Radium was found in Paris.\n"
        "2,Rivers,Ann Lee,The Seine flows.\n3,bad\n"
    )
    columns = RecordColumns(entities=(("author", "Person"),))
    done = await pgs.ingest(tmp_path, "docs", columns=columns)
    assert [(one.id, one.state) for one in done.outcomes] == [
        ("books.csv#1", "added"), ("books.csv#2", "added"), ("books.csv#line 4", "failed"),
    ]  # fmt: skip
    nodes, _ = await graph_of(db)
    assert nodes["books.csv#1"]["properties"]["name"] == "Radium"
    ann = nodes["entity:Person:ANN_LEE"]
    assert "DocsEntity" in ann["labels"]
    stored = (await stored_graph(db, "docs"))["links"]
    mentions = [link for link in stored if link["source"] == ann["id"]]
    assert [link["type"] for link in mentions] == ["MENTIONED_IN"]
    start, end = mentions[0]["properties"]["spans"]
    assert nodes[mentions[0]["target"]]["properties"]["text"][start:end] == "Ann Lee"
    again = await pgs.ingest(tmp_path, "docs", columns=columns, sync=True)
    assert (again.count("unchanged"), again.usage.calls) == (2, 0)
    (tmp_path / "books.csv").write_text("id,title,author,text\n2,Rivers,Ann Lee,The Seine flows.\n")
    gone = await pgs.ingest(tmp_path, "docs", columns=columns, sync=True)
    assert {one.id: one.state for one in gone.outcomes} == {
        "books.csv#1": "deleted", "books.csv#2": "unchanged",
    }  # fmt: skip
