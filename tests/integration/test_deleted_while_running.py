"""A run stores nothing of a document that is deleted while it reads."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import Reply, contract_reply
from pgs_neo4j.model import Prompt
from tests.database import fetch
from tests.engines import answering

SECRET = "Marie Curie hid seven grams of radium under the laboratory stairs."
SEINE = "The Seine flows through Paris and carries many small wooden boats."
QUESTION = "What was hidden in the laboratory, and what flows through Paris?"
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
    """Quote every sentence that is read, in reports and in answers."""
    if prompt.task == "extraction":
        return "<|COMPLETE|>\n"
    reply = contract_reply(prompt)
    for told in (SECRET, SEINE):
        if told not in prompt.user:
            continue
        if prompt.task == "sweep":
            reply = reply.replace("## Findings", f"## Findings\n- {told} [n1]")
        if prompt.task == "synthesis":
            reply = reply.replace("## Thesis", f"## Thesis\n{told}")
    return reply


@pytest.fixture
async def docs(engine: PGS, tmp_path: Path) -> PGS:
    """An engine on two documents, of which one is to be deleted."""
    (tmp_path / "hidden.md").write_text(f"{SECRET}\n")
    (tmp_path / "river.md").write_text(f"{SEINE}\n")
    answering(engine, quoting)
    await engine.ingest(tmp_path, "docs")
    return engine


class Paused:
    """Answers as ``quoting`` does; the first call of a task waits until it may end."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.asked, self.answered = asyncio.Event(), asyncio.Event()

    async def reached(self, running: asyncio.Task[object]) -> None:
        """Wait for the call, or raise what ended the run before it."""
        asked = asyncio.create_task(self.asked.wait())
        await asyncio.wait({asked, running}, return_when=asyncio.FIRST_COMPLETED)
        if not asked.done():
            asked.cancel()
            raise AssertionError(f"the run ended before: {await running}")

    async def reply(self, prompt: Prompt) -> Reply:
        if prompt.task == self.task:
            self.asked.set()
            await self.answered.wait()
        return quoting(prompt)


async def test_a_report_of_a_deleted_document_is_recorded_without_it(
    docs: PGS, db: Database
) -> None:
    paused = Paused("sweep")
    answering(docs, paused.reply)
    running = asyncio.create_task(docs.execute(QUESTION, graph="docs"))
    await paused.reached(running)
    done = await docs.ingest.delete("docs", ["hidden.md"])
    assert done.proven
    paused.answered.set()
    answer = await running
    assert await holding(db, SECRET) == []
    assert {"PgsFinding.text", "PgsThesis.text"} <= {*await holding(db, SEINE)}
    assert SECRET not in answer.text
    assert SEINE in answer.text
    assert any("deleted during this run" in warning for warning in answer.warnings)
