"""Deleted documents leave no text behind, and what still holds it is told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from mcp.client import Client

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.deletion import delete as deletion
from pgs_neo4j.documents.deletion.scan import ANSWERS, FORGOTTEN
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import BusyError, DatabaseError, UsageError
from pgs_neo4j.llm.scripted import Reply, contract_reply
from pgs_neo4j.mcp_server.questions import QuestionBoard
from pgs_neo4j.mcp_server.server import create_server
from pgs_neo4j.mcp_server.service import McpService
from pgs_neo4j.model import Prompt
from tests.database import alter, fetch
from tests.engines import answering
from tests.graphs import count
from tests.serving import events, served
from tests.waiting import until

SECRET = "Marie Curie hid seven grams of radium under the laboratory stairs."
SHARED = "Marie Curie and Pierre Curie were married in the summer of that year."
SEINE = "The Seine flows through Paris and carries many small wooden boats."
LATER = "Marie Curie buried nine golden clocks behind the chemistry cellar door."
QUESTION = "What was hidden?"
KEPT = "MATCH (x:PgsExtraction) RETURN x.key AS key"
MOST_READ = 3
"""Prompts that are answered before the others wait."""
EVERY_TEXT = """
MATCH (n) UNWIND keys(n) AS key WITH n, key, toStringOrNull(n[key]) AS text
WHERE text CONTAINS $text RETURN labels(n) AS labels, key
UNION ALL
MATCH (n) UNWIND keys(n) AS key WITH n, key, n[key] AS value
WHERE value IS :: LIST<STRING NOT NULL> NOT NULL AND any(one IN value WHERE one CONTAINS $text)
RETURN labels(n) AS labels, key
UNION ALL
MATCH ()-[r]->() UNWIND keys(r) AS key WITH r, key, toStringOrNull(r[key]) AS text
WHERE text CONTAINS $text RETURN [type(r)] AS labels, key
"""


def quoting(prompt: Prompt) -> Reply:
    """Extract names, and quote the secret wherever it is read."""
    if prompt.task == "extraction":
        lines = []
        for line in prompt.user.splitlines():
            number, _, text = line.partition("] ")
            if "Curie" in text:
                told = "Marie Curie<|#|>Person<|#|>" + text
                lines.append(f"entity<|#|>{told}<|#|>{number[1:]}")
                lines.append(f"entity<|#|>radium<|#|>Concept<|#|>{text}<|#|>{number[1:]}")
                ends = "Marie Curie<|#|>radium<|#|>holds"
                lines.append(f"relation<|#|>{ends}<|#|>{text}<|#|>{number[1:]}")
        return "\n".join([*lines, "<|COMPLETE|>", ""])
    reply = contract_reply(prompt)
    if prompt.task == "sweep" and SECRET in prompt.user:
        reply = reply.replace("## Findings", f'## Findings\n- "{SECRET}" [n1].\n- Radium [n1].')
    if prompt.task == "synthesis" and SECRET in prompt.user:
        reply = reply.replace("## Thesis", f"## Thesis\nIt says that {SECRET.lower()}")
    return reply


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hidden.md").write_text(f"{SECRET} {SHARED}\n")
    (tmp_path / "married.md").write_text(f"{SHARED} Radium was named by Marie Curie.\n")
    (tmp_path / "river.md").write_text(f"{SEINE}\n")
    return tmp_path


@pytest.fixture
def pgs(engine: PGS) -> PGS:
    answering(engine, quoting)
    return engine


async def holding(db: Database, text: str) -> set[tuple[str, str]]:
    """Labels and properties that hold a text, as a plain search of the database finds them."""
    rows = await fetch(db, EVERY_TEXT, text=text)
    own = {(*row["labels"], row["key"]) for row in rows}
    return {(":".join(sorted(one[:-1])), one[-1]) for one in own}


@pytest.mark.schema
async def test_all_documents_are_deleted_with_their_graph_and_a_purge_tells_what_stays(
    pgs: PGS, db: Database, folder: Path
) -> None:
    await pgs.ingest(folder, "docs")
    await pgs.ingest(folder / "river.md", "other")
    done = await pgs.ingest.delete("docs", [one.id for one in await pgs.ingest.documents("docs")])
    assert done.documents == 3
    with pytest.raises(UsageError, match="graph other has documents"):
        await pgs.ingest.remove_views("other")
    await pgs.ingest.remove_views("docs")
    await pgs.ingest.remove_views("docs")
    assert {graph.name for graph in await pgs.graphs()} == {"other", "other.entities"}
    assert not await fetch(db, "MATCH (n:LoadedNode {graph: 'docs'}) RETURN n.id AS id")
    purged = await pgs.purge()
    (kept,) = purged.kept
    assert (kept.graph, kept.documents) == ("other", 1)
    (counted,) = await fetch(db, "MATCH (n:LoadedNode) RETURN count(n) AS nodes")
    assert kept.nodes == counted["nodes"] > 1
    assert purged.kept_constraints == ("loaded_node_key",)
    indexes = {row["name"] for row in await fetch(db, "SHOW INDEXES YIELD name RETURN name")}
    assert {*purged.kept_indexes} == {name for name in indexes if name.startswith("ingested_")}
    assert purged.kept_indexes
    assert not {name for name in indexes if name.startswith("pgs_")}


async def test_nothing_holds_the_text_of_a_deleted_document(
    pgs: PGS, db: Database, folder: Path
) -> None:
    await pgs.ingest(folder, "docs")
    assert await holding(db, SECRET)
    done = await pgs.ingest.delete("docs", ["hidden.md"])
    assert (done.documents, done.chunks, done.entities, done.relations) == (1, 1, 0, 0)
    assert (done.sentences, done.held, done.quoting, done.proven) == (2, 0, (), True)
    assert done.scanned > 100
    assert done.indexes == 1
    assert await holding(db, SECRET) == set()
    assert await holding(db, SHARED)  # another document says it as well
    last = await pgs.ingest.delete("docs", ["married.md", "river.md"])
    assert (last.documents, last.entities, last.relations, last.proven) == (2, 2, 1, True)


async def break_off(pgs: PGS, db: Database, paths: Path) -> None:
    """Ingest files, and end that when some of their chunks are paid for and kept."""
    read, held = 0, asyncio.Event()

    async def waiting(prompt: Prompt) -> Reply:
        nonlocal read
        read += 1
        if read > MOST_READ:
            await held.wait()
        return quoting(prompt)

    answering(pgs, waiting)
    ingesting = asyncio.create_task(pgs.ingest(paths, "docs"))

    async def is_kept() -> bool:
        return read > MOST_READ and len(await fetch(db, KEPT)) >= MOST_READ - 1

    await until(is_kept, 60)
    with pytest.raises(BusyError):
        await pgs.ingest.delete("docs", ["river.md"])
    ingesting.cancel()
    await asyncio.wait([ingesting])


def long_text(name: str) -> str:
    padding = "Boats are small. " * 250
    return "\n\n".join(f"{LATER} It is part {n} of {name}. {padding}" for n in range(4))


async def test_what_a_broken_off_ingestion_read_of_a_document_goes_with_it(
    pgs: PGS, db: Database, folder: Path
) -> None:
    """The graph never had this text, so no search of what was deleted could find it."""
    await pgs.ingest(folder, "docs")
    for name in ("hidden.md", "river.md"):
        (folder / name).write_text(long_text(name))
    await break_off(pgs, db, folder)
    kept = await fetch(db, KEPT)
    assert await holding(db, LATER)
    done = await pgs.ingest.delete("docs", ["hidden.md", "river.md"])
    assert await holding(db, LATER) == set()
    assert not await fetch(db, KEPT)
    assert done.replies >= len(kept)


@pytest.fixture
async def unfinished(pgs: PGS, db: Database, folder: Path) -> Path:
    """A file beside a graph whose first ingestion broke off, and what is kept of it."""
    await pgs.ingest(folder, "docs")
    (folder / "new").mkdir()
    (folder / "new" / "new.md").write_text(long_text("new.md"))
    await break_off(pgs, db, folder / "new" / "new.md")
    assert "new.md" not in {one.id for one in await pgs.ingest.documents("docs")}
    assert await holding(db, LATER)
    return folder


async def test_what_is_kept_of_a_file_that_was_never_ingested_goes_by_its_id(
    pgs: PGS, db: Database, unfinished: Path
) -> None:
    assert await pgs.ingest.unfinished("docs") == ["new.md"]
    assert await pgs.ingest.unfinished("other") == []
    kept = len(await fetch(db, KEPT))
    done = await pgs.ingest.delete("docs", ["new.md"])
    assert (done.documents, done.replies, done.proven) == (0, kept, True)
    assert await holding(db, LATER) == set()
    assert not await fetch(db, KEPT)
    assert len(await pgs.ingest.documents("docs")) == 3
    with pytest.raises(UsageError, match=r"no document new\.md"):
        await pgs.ingest.delete("docs", ["new.md"])


async def test_what_is_kept_of_a_file_goes_with_all_documents_of_its_graph(
    pgs: PGS, db: Database, unfinished: Path
) -> None:
    await pgs.ingest.delete("docs", ["hidden.md", "river.md"])
    assert await fetch(db, KEPT)  # it is paid for, and may be ingested yet
    await pgs.ingest.delete("docs", ["married.md"])
    assert not await fetch(db, KEPT)
    assert await holding(db, LATER) == set()


async def test_a_deleted_sentence_in_what_is_kept_of_another_file_is_removed(
    pgs: PGS, db: Database, unfinished: Path
) -> None:
    answering(pgs, quoting)
    (unfinished / "cellar.md").write_text(f"{LATER}\n")
    await pgs.ingest(unfinished / "cellar.md", "docs")
    done = await pgs.ingest.delete("docs", ["cellar.md"], forget=True)
    assert done.proven
    assert done.replies > 0
    assert await holding(db, LATER) == set()


async def test_a_purge_leaves_nothing_of_a_file_that_was_never_ingested(
    pgs: PGS, db: Database, unfinished: Path
) -> None:
    await pgs.purge()
    assert not await fetch(db, KEPT)


async def test_what_was_kept_of_one_document_goes_with_another_that_has_it_as_well(
    pgs: PGS, db: Database, folder: Path
) -> None:
    """The first was never in the graph, so nobody can delete it."""
    await pgs.ingest(folder, "docs")
    held = asyncio.Event()

    def write(name: str) -> None:
        text = f"{LATER} {'Boats are small. ' * 250}\n\n{'Clocks are large. ' * 250}"
        (folder / name).write_text(text)

    async def break_off() -> None:
        waits = False

        async def waiting(prompt: Prompt) -> Reply:
            nonlocal waits
            if LATER not in prompt.user:
                waits = True
                await held.wait()
            return quoting(prompt)

        async def is_kept() -> bool:
            return waits and bool(await holding(db, LATER))

        answering(pgs, waiting)
        ingesting = asyncio.create_task(pgs.ingest(folder, "docs"))
        await until(is_kept, 60)
        ingesting.cancel()
        await asyncio.wait([ingesting])

    write("new.md")
    await break_off()
    (folder / "new.md").unlink()
    write("hidden.md")
    await break_off()
    await pgs.ingest.delete("docs", ["hidden.md"])
    assert await holding(db, LATER) == set()


@pytest.mark.thorough
async def test_kept_replies_and_descriptions_go_and_answers_are_told(
    pgs: PGS, db: Database, folder: Path
) -> None:
    await pgs.ingest(folder, "docs")
    answer = await pgs.execute(QUESTION, graph="docs", session_id="hunt")
    other = await pgs.execute("Which river?", graph="docs.entities")
    assert SECRET.lower() in answer.text.lower()
    assert ("PgsReply", "text") in await holding(db, SECRET)
    assert "PgsPartition" in {labels for labels, _ in await holding(db, SECRET)}
    replies = (await pgs.kept_replies()).replies
    done = await pgs.ingest.delete("docs", ["hidden.md"])
    assert (await pgs.kept_replies()).replies == replies - done.replies < replies
    assert done.descriptions >= 1
    assert done.held == 0
    assert {labels for labels, _ in await holding(db, SECRET)} <= ANSWERS
    quoted = [(one.session, one.run, one.question, one.forgotten) for one in done.quoting]
    assert ("hunt", answer.run, QUESTION, False) in quoted
    assert not done.proven
    assert (await pgs.runs.answer(answer.run)).text == answer.text
    assert other.run


@pytest.mark.thorough
async def test_forgetting_removes_what_answers_quote_and_leaves_their_numbers(
    pgs: PGS, db: Database, folder: Path
) -> None:
    await pgs.ingest(folder, "docs")
    answer = await pgs.execute(QUESTION, graph="docs", session_id="hunt")
    doubted = "MATCH (f:PgsFinding) WHERE f.text CONTAINS $text SET f.doubts = ['no seven grams']"
    await alter(db, doubted, text=SECRET)
    done = await pgs.ingest.delete("docs", ["hidden.md"], forget=True)
    assert [(one.run, one.forgotten) for one in done.quoting] == [(answer.run, True)]
    assert done.proven
    assert await holding(db, SECRET) == await holding(db, SECRET.lower()) == set()
    # The reason for a doubt quotes only two words, and says the same.
    assert await holding(db, "seven grams") == set()
    assert ("PgsFinding", "doubts") in await holding(db, FORGOTTEN)
    left = await pgs.runs.answer(answer.run)
    assert left.text == FORGOTTEN
    assert (left.coverage, left.own_coverage) == (answer.coverage, answer.own_coverage)
    assert [sweep.nodes_read for sweep in left.sweeps] == [
        sweep.nodes_read for sweep in answer.sweeps
    ]
    texts = [one.text for sweep in left.sweeps if sweep.report for one in sweep.report.findings]
    assert FORGOTTEN in texts
    assert any("Radium" in text for text in texts)  # what quotes nothing stays
    assert FORGOTTEN in (await pgs.runs.document(answer.run)).answer.text


async def test_what_others_hold_is_named_and_left_alone(
    pgs: PGS, db: Database, folder: Path
) -> None:
    await pgs.ingest(folder, "docs")
    await alter(
        db,
        "CREATE (a:Note {id: 7, text: $text})-[:SAYS {words: ['no', $text]}]->(:Note {id: 8})",
        text=f"Copied: {SECRET}",
    )
    (folder / "hidden.md").unlink()
    done = await pgs.ingest(folder, "docs", sync=True)
    assert done.deletion is not None
    named = [(one.kind, one.id, one.place) for one in done.deletion.holders]
    assert named == [("Note", "7", "text"), ("SAYS", "7 -> 8", "words")]
    assert (done.deletion.held, done.deletion.proven) == (2, False)
    assert await count(db, "(x:Note {id: 7})") == 1
    again = await pgs.ingest(folder, "docs", sync=True)
    assert again.deletion is None


async def test_a_deletion_that_broke_off_before_its_search_is_continued(
    pgs: PGS, db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pgs.ingest(folder, "docs")
    answer = await pgs.execute(QUESTION, graph="docs", session_id="hunt")
    await alter(db, "CREATE (:Note {id: 7, text: $text})", text=SECRET)
    gone = ["hidden.md", "river.md"]
    with monkeypatch.context() as patch:
        patch.setattr(deletion, "scan_database", AsyncMock(side_effect=DatabaseError("it is away")))
        with pytest.raises(DatabaseError, match="it is away"):
            await pgs.ingest.delete("docs", gone, forget=True)
    assert {one.id for one in await pgs.ingest.documents("docs")} == {"married.md"}
    held = {labels for labels, _ in await holding(db, SECRET)}
    assert held - ANSWERS == {"Note"}
    assert await count(db, "(x:PgsDeletion)") == 1
    assert "PgsDeletion" not in {labels for labels, _ in await holding(db, "hidden.md")}
    done = await pgs.ingest.delete("docs", gone, forget=True)
    assert (done.documents, done.resumed, done.sentences, done.indexes) == (0, 2, 3, 0)
    assert [(one.kind, one.id) for one in done.holders] == [("Note", "7")]
    assert [(one.run, one.forgotten) for one in done.quoting] == [(answer.run, True)]
    assert {labels for labels, _ in await holding(db, SECRET)} == {"Note"}
    assert await count(db, "(x:PgsDeletion)") == 0
    with pytest.raises(UsageError, match=r"no document hidden\.md"):
        await pgs.ingest.delete("docs", gone)


@pytest.mark.parametrize("purged", [False, True], ids=["forgotten", "purged"])
async def test_no_door_tells_from_its_memory_what_was_deleted(
    pgs: PGS, folder: Path, purged: bool
) -> None:
    """A server keeps the events of runs that ended, and an agent's service their answers."""
    await pgs.ingest(folder, "docs")
    service = McpService(pgs, QuestionBoard())
    async with (
        served(pgs) as server,
        server.owner() as owner,
        Client(create_server(service)) as agent,
    ):
        body = {"question": QUESTION, "graph": "docs", "full_sweep": True}
        run = (await owner.post("/api/runs", json=body)).json()
        told = await events(owner, run["events"])
        assert any(SECRET in str(one.data) for one in told)
        answered = await agent.call_tool("ask", {"question": QUESTION, "graph": "docs"})
        assert SECRET.lower() in str(answered.structured_content).lower()
        if purged:
            await pgs.purge()
        else:
            done = await pgs.ingest.delete("docs", ["hidden.md"], forget=True)
            assert done.proven
        again = await owner.get(run["events"])
        assert SECRET.lower() not in again.text.lower()
        assert await events(owner, run["events"], after=told[-1].id) == [], "it has heard all"
        (left,) = await events(owner, run["events"])
        assert left.name == "snapshot"
        assert left.data["state"] == ("answered" if purged else "complete")
        wanted = {"run": answered.structured_content["run"]}
        result = await agent.call_tool("result", wanted)
        assert SECRET.lower() not in str(result.content).lower()
        assert result.is_error == purged
        assert purged or FORGOTTEN in str(result.structured_content)
