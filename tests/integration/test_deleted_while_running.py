"""A run stores nothing of a document that is deleted while it reads."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.fence import raise_fence
from pgs_neo4j.documents.publish import publication as publishing
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import RunLostError, TextDeletedError
from pgs_neo4j.events import Event, TextStreamed
from pgs_neo4j.export import to_markdown
from pgs_neo4j.llm.scripted import Reply, contract_reply
from pgs_neo4j.model import Prompt
from pgs_neo4j.model.ingest import Deletion
from pgs_neo4j.text.traces import Traces
from tests.conftest import Endpoint
from tests.database import fetch
from tests.engines import KNOBS, answering, engine_on
from tests.graphs import count
from tests.thorough import histories, in_two_parts
from tests.waiting import until

SECRET = "Marie Curie hid seven grams of radium under the laboratory stairs."
SEINE = "The Seine flows through Paris and carries many small wooden boats."
QUESTION = "What was hidden in the laboratory, and what flows through Paris?"
SENTENCE = re.compile(r"[A-Z][^.|<>\n]*\.")
WORDS = (
    *("copper", "lantern", "harbor", "violet", "meadow", "anchor", "thunder", "marble", "willow"),
    *("falcon", "ember", "cobalt", "juniper", "saddle", "compass", "velvet", "orchard", "granite"),
)
KEPT = "CREATE (:PgsDeletion {uid: $uid, graph: 'docs', runs: $runs, sizes: $sizes})"
BLOCKED = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"
HIDDEN = "Where did Marie Curie hide seven grams of radium?"
HOLDING = """
MATCH (n) WHERE any(label IN labels(n) WHERE label STARTS WITH 'Pgs')
UNWIND keys(n) AS key WITH n, key, n[key] AS value
WITH n, key, CASE WHEN value IS :: LIST<STRING NOT NULL> NOT NULL
                  THEN reduce(all = '', one IN value | all + ' ' + one)
                  ELSE toStringOrNull(value) END AS text
WHERE toLower(text) CONTAINS toLower($text) RETURN labels(n)[0] + '.' + key AS place ORDER BY place
"""


async def holding(db: Database, text: str) -> list[str]:
    """The properties of our nodes that hold a text."""
    return [row["place"] for row in await fetch(db, HOLDING, text=text)]


def quoting(prompt: Prompt) -> Reply:
    """Quote every line that is read, in reports and in answers."""
    if prompt.task == "extraction":
        return "<|COMPLETE|>\n"
    reply = contract_reply(prompt)
    said = [one for one in {*SENTENCE.findall(prompt.user)} if len(one.split()) > 8]
    told = [one for one in said if one in (SECRET, SEINE) or one.split()[0].lower() in WORDS]
    if prompt.task == "sweep":
        bullets = "".join(f"- {one} [n1]\n" for one in told)
        return reply.replace("## Findings", f"## Findings\n{bullets}")
    if prompt.task == "synthesis":
        return reply.replace("## Thesis", "## Thesis\n" + " ".join(told))
    return " ".join(told) if prompt.task in ("answer", "search") else reply


@pytest.fixture
async def docs(engine: PGS, tmp_path: Path) -> PGS:
    """An engine on two documents, of which one is to be deleted."""
    (tmp_path / "hidden.md").write_text(f"{SECRET}\n")
    (tmp_path / "river.md").write_text(f"{SEINE}\n")
    answering(engine, quoting)
    await engine.ingest(tmp_path, "docs")
    return engine


@pytest.fixture
async def other(endpoint: Endpoint, docs: PGS) -> AsyncIterator[PGS]:
    """An engine as another process has it: the database is all that both share."""
    async with engine_on(endpoint, quoting, **KNOBS) as opened:
        yield opened


class Paused:
    """Answers as ``quoting`` does; the ``number``-th call waits until it may end."""

    def __init__(self, number: int, task: str = "") -> None:
        self.number, self.task = number, task
        self.asked, self.answered = asyncio.Event(), asyncio.Event()

    async def reply(self, prompt: Prompt) -> Reply:
        if self.task in ("", prompt.task):
            self.number -= 1
            if not self.number:
                self.asked.set()
                await self.answered.wait()
        return quoting(prompt)

    async def reached(self, running: asyncio.Task[Any]) -> None:
        """Wait until the call has come, or the run has ended before it."""
        asked = asyncio.create_task(self.asked.wait())
        await asyncio.wait({asked, running}, return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()


async def deleted_at(
    paused: Paused, pgs: PGS, other: PGS, work: Coroutine[Any, Any, Any], *, forget: bool = False
) -> tuple[Deletion, Any]:
    """Delete a document while a call waits; return the proof, and what the work returned."""
    answering(pgs, paused.reply)
    running = asyncio.create_task(work)
    await paused.reached(running)
    assert paused.asked.is_set()
    done = await other.ingest.delete("docs", ["hidden.md"], forget=forget)
    paused.answered.set()
    return done, (await asyncio.gather(running, return_exceptions=True))[0]


async def test_a_report_of_a_deleted_document_is_recorded_without_it(
    docs: PGS, other: PGS, db: Database
) -> None:
    work = docs.execute(QUESTION, graph="docs")
    done, answer = await deleted_at(Paused(1, "sweep"), docs, other, work)
    assert done.proven
    assert await holding(db, SECRET) == []
    assert {"PgsFinding.text", "PgsThesis.text"} <= {*await holding(db, SEINE)}
    assert SECRET not in answer.text
    assert SEINE in answer.text
    assert [one for one in answer.warnings if "deleted during this run" in one] != []
    (sweep,) = answer.sweeps
    assert SECRET not in repr(sweep)
    assert sweep.nodes_read == answer.coverage.nodes_total
    assert await count(db, "(x:PgsDeletion)") == 0


@pytest.mark.parametrize("forget", [False, True])
async def test_an_answer_that_quotes_a_deleted_document_is_not_stored(
    docs: PGS, other: PGS, db: Database, forget: bool
) -> None:
    work = docs.execute(QUESTION, graph="docs", run="rb1c2d3e4f5a6")
    done, ended = await deleted_at(Paused(1, "synthesis"), docs, other, work, forget=forget)
    assert isinstance(ended, TextDeletedError)
    assert "resume the run" in str(ended)
    assert [one.run for one in done.quoting] == ["rb1c2d3e4f5a6"]  # its reports were there already
    assert {*await holding(db, SECRET)} <= ({"PgsFinding.text"} if not forget else set())
    answering(docs, quoting)
    if forget:
        answer = await docs.resume("rb1c2d3e4f5a6")
        assert SECRET not in answer.text
        assert SEINE in answer.text
        assert await holding(db, SECRET) == []


async def test_an_answer_from_a_search_is_not_stored_either(
    docs: PGS, other: PGS, db: Database
) -> None:
    work = docs.search(HIDDEN, graph="docs", answer=True)
    done, ended = await deleted_at(Paused(1, "answer"), docs, other, work)
    assert done.proven
    assert isinstance(ended, TextDeletedError), ended
    assert await holding(db, SECRET) == []


async def test_a_run_that_begins_during_a_deletion_stores_nothing_of_it(
    docs: PGS, other: PGS, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Any] = []
    publish = publishing.publish

    async def ask_first(*given: Any, **named: Any) -> None:
        answers.append(await docs.execute(QUESTION, graph="docs"))
        await publish(*given, **named)

    monkeypatch.setattr("pgs_neo4j.documents.deletion.delete.publish", ask_first)
    done = await other.ingest.delete("docs", ["hidden.md"])
    assert done.proven
    assert SEINE in answers[0].text
    assert await holding(db, SECRET) == []


@pytest.mark.parametrize("task", ["sweep", "synthesis", "answer", "search"])
async def test_nobody_who_listens_hears_text_that_was_deleted_before_it_was_told(
    docs: PGS, other: PGS, task: str
) -> None:
    """Pieces of an answer, answers of searches, and reports are told before anything is stored."""
    events: list[Event] = []
    works: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
        "answer": lambda: docs.search(HIDDEN, graph="docs", answer=True, on_event=events.append),
        "search": lambda: docs.layered_search(
            QUESTION, graph="docs", top_k=3, on_event=events.append
        ),
    }
    if task in works:
        work = works[task]()
    else:
        work = docs.execute(QUESTION, graph="docs", on_event=events.append)
    paused = Paused(1, task)
    answering(docs, paused.reply)
    running = asyncio.create_task(work)
    await paused.reached(running)
    assert (await other.ingest.delete("docs", ["hidden.md"], forget=True)).proven
    events.clear()  # what was told before
    paused.answered.set()
    await asyncio.gather(running, return_exceptions=True)
    assert events != []
    told = "".join(one.text for one in events if isinstance(one, TextStreamed))
    assert not any(SECRET in repr(one) for one in events)
    assert SECRET not in told


@pytest.mark.schema
async def test_a_run_that_a_purge_overtakes_writes_nothing(
    docs: PGS, other: PGS, db: Database
) -> None:
    paused = Paused(1, "sweep")
    answering(docs, paused.reply)
    running = asyncio.create_task(docs.execute(QUESTION, graph="docs"))
    await paused.reached(running)
    await other.purge()
    paused.answered.set()
    with pytest.raises((TextDeletedError, RunLostError)):
        await running
    assert await count(db, "(x) WHERE any(name IN labels(x) WHERE name STARTS WITH 'Pgs')") == 0


async def test_what_an_engine_remembers_of_partitions_goes_with_a_deletion(
    docs: PGS, other: PGS, db: Database
) -> None:
    answer = await docs.execute(QUESTION, graph="docs", cache=False)
    assert SECRET in answer.text
    await other.ingest.delete("docs", ["hidden.md"], forget=True)
    again = await docs.execute(QUESTION, graph="docs")
    assert SECRET not in repr(again)
    assert await holding(db, SECRET) == []


async def test_a_write_is_compared_with_a_deletion_that_another_task_met_first(
    docs: PGS, other: PGS, db: Database
) -> None:
    """A run has many tasks, which share what they know of deletions."""
    writer, runs = await docs.db.fenced(), Traces()
    assert writer.fence is not None
    runs.add(SECRET)
    query = queries.get("llm/calls/write_replies")
    row = {"key": "k", "text": SECRET, "run": "r", "private": False, "size": 1}
    async with other.db.driver.session() as session:
        transaction = await session.begin_transaction()
        await transaction.run("MERGE (r:PgsReply {key: 'k'}) SET r.size = 0")
        writing = asyncio.create_task(writer.write(query, replies=[row]))
        await until(lambda: is_blocked(db), 60.0)
        # A deletion begins, and another task of the writer meets it.
        uid = "docs/late/0"
        await db.call(KEPT, {"uid": uid, "runs": runs.runs, "sizes": runs.sizes}, "write")
        await raise_fence(db, [uid])
        await writer.fence.review(writer)
        await transaction.commit()
    with pytest.raises(TextDeletedError):
        await writing
    assert await holding(db, SECRET) == []


async def is_blocked(db: Database) -> bool:
    """Whether a transaction waits for a lock."""
    return bool(await fetch(db, BLOCKED))


async def test_runs_of_another_graph_go_on(
    docs: PGS, other: PGS, db: Database, tmp_path: Path
) -> None:
    (tmp_path / "hidden.md").unlink()
    await docs.ingest(tmp_path, "rivers", label="Rivers")
    work = docs.execute("Where does the Seine flow?", graph="rivers")
    _, answer = await deleted_at(Paused(1, "synthesis"), docs, other, work)
    assert SEINE in answer.text
    assert await holding(db, SECRET) == []


async def test_a_file_is_not_written_with_what_was_deleted_since_it_was_read(
    docs: PGS, other: PGS
) -> None:
    answer = await docs.execute(QUESTION, graph="docs")
    check = await docs.watch_deletions()
    text = to_markdown(await docs.runs.document(answer.run))
    await check(text)
    await other.ingest.delete("docs", ["hidden.md"])
    assert SECRET in text
    with pytest.raises(TextDeletedError):
        await check(text)


@pytest.mark.parametrize("seeds", in_two_parts(histories(4, thorough=40), first=10))
async def test_random_histories_leave_no_deleted_sentence(
    docs: PGS, other: PGS, db: Database, tmp_path: Path, seeds: range
) -> None:
    """Runs, searches, and partitionings are overtaken by a deletion at any of their calls."""
    met = 0
    for seed in seeds:
        random = Random(seed)
        sentence = " ".join(random.choice(WORDS) for _ in range(12)).capitalize() + "."
        (tmp_path / "hidden.md").write_text(f"{sentence} {random.choice(('', SEINE))}\n")
        answering(docs, quoting)
        await docs.ingest(tmp_path, "docs")
        number, hold, forget = random.randint(1, 4), random.random(), random.random() < 0.5
        kind = random.choice(("run", "run", "layered", "search", "partition"))
        paused = Paused(number)
        answering(docs, paused.reply)
        question = f"What about {' '.join(sentence.split()[:3])}, and the Seine?"
        running = asyncio.create_task(worked(docs, kind, question))
        if random.random() < 0.3:
            await asyncio.sleep(random.random() / 5)
        else:
            await paused.reached(running)
        deleting = asyncio.create_task(other.ingest.delete("docs", ["hidden.md"], forget=forget))
        if hold < 0.4:
            await asyncio.sleep(random.random() / 5)
        elif hold < 0.9:
            await asyncio.wait({deleting})
        paused.answered.set()
        done = await deleting
        told = {*await holding(db, sentence)}
        (ended,) = await asyncio.gather(running, return_exceptions=True)
        left = {*await holding(db, sentence)}
        met += isinstance(ended, TextDeletedError) or "deleted during this run" in repr(ended)
        story = (seed, kind, number, forget, repr(ended)[:300])
        assert left <= told, story
        assert not left or (done.quoting and not forget), story
        assert isinstance(ended, TextDeletedError) or not isinstance(ended, BaseException), story
    assert met


async def worked(pgs: PGS, kind: str, question: str) -> object:
    """Do what writes texts later."""
    if kind == "search":
        return await pgs.search(question, graph="docs", answer=True)
    if kind == "layered":
        return await pgs.layered_search(question, graph="docs")
    if kind == "partition":
        return await pgs.partitions.build("docs", force=True)
    return await pgs.execute(question, graph="docs")
