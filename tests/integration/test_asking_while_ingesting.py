"""A question that is asked while documents change ends with an answer that is true."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import Reply, contract_reply
from pgs_neo4j.model import Answer, Citation, Prompt
from tests.database import alter, fetch
from tests.engines import answering
from tests.fakes.extractors import named_records

BEFORE = "Marie Curie hid radium under the stairs of the laboratory."
AFTER = "Marie Curie moved radium to the cellar of the laboratory."
KEPT = "Pierre Curie weighed radium on the scales of the laboratory."
GONE = "Irene Curie sold radium at the gates of the laboratory."


class Reader:
    """Cites every node that it reads, and waits with its first report until it is released."""

    def __init__(self) -> None:
        self.reading, self.released = asyncio.Event(), asyncio.Event()
        self.shown: list[str] = []

    async def answer(self, prompt: Prompt) -> Reply:
        if prompt.task == "extraction":
            return named_records(prompt.user, NAMES)
        if prompt.task != "sweep":
            return contract_reply(prompt)
        self.shown.append(prompt.user)
        self.reading.set()
        await self.released.wait()
        cited = "\n".join(f"- It says “{node.text}” [{node.alias}]." for node in prompt.nodes)
        return contract_reply(prompt).replace("## Findings", f"## Findings\n{cited}")


NAMES = dict.fromkeys(("Marie Curie", "Pierre Curie", "Irene Curie", "radium"), "Person")


@pytest.fixture
def reader(engine: PGS) -> Reader:
    made = Reader()
    answering(engine, made.answer)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("changed", BEFORE), ("kept", KEPT), ("gone", GONE)):
        (tmp_path / f"{name}.md").write_text(f"{text}\n")
    return tmp_path


@pytest.mark.thorough
async def test_an_answer_stays_true_while_its_documents_change(
    engine: PGS, db: Database, folder: Path, reader: Reader
) -> None:
    await engine.ingest(folder, "docs")
    asking = asyncio.create_task(engine.execute("Where is radium?", graph="docs"))
    await reader.reading.wait()
    (folder / "changed.md").write_text(f"{AFTER}\n")
    (folder / "gone.md").unlink()
    done = await engine.ingest(folder, "docs", sync=True)
    assert (done.count("changed"), done.count("deleted")) == (1, 1)
    await alter(db, "UNWIND range(1, 500) AS n CREATE (:Other {id: n})")
    reader.released.set()
    answer = await asking
    assert not answer.partial
    assert (answer.coverage.nodes_read, answer.coverage.nodes_total) == (7, 7)
    assert answer.coverage == answer.own_coverage
    assert await engine.sessions.coverage(answer.session, "docs") == answer.coverage
    told = await engine.runs.answer(answer.run)
    assert (told.text, told.coverage, told.warnings) == (
        answer.text, answer.coverage, answer.warnings,
    )  # fmt: skip
    rows = await fetch(db, "MATCH (n) RETURN elementId(n) AS at, n.id AS id")
    ids = {row["at"]: row["id"] for row in rows}
    for given in (answer, told):
        cited = {one.node: one for one in citations(given)}
        assert len(cited) == 6, "what quotes a document that was deleted is not kept"
        assert {one.valid for one in cited.values()} == {True}
        lost = [one for one in cited.values() if one.element_id is None]
        assert sorted(one.title or "" for one in lost) == ["changed.md", "gone.md"]
        assert all(ids[one.element_id] == one.node for one in cited.values() if one.element_id)
    gone = [
        source.title
        for source in (await engine.runs.document(answer.run)).sources
        if not source.text
    ]
    assert sorted(gone) == ["changed.md", "gone.md"]
    reader.shown.clear()
    later = await engine.execute("Where is radium?", graph="docs", mode="continue")
    shown = "".join(reader.shown)
    assert (AFTER in shown, BEFORE in shown, GONE in shown) == (True, False, False)
    assert later.coverage.exhausted


def citations(answer: Answer) -> list[Citation]:
    """All citations of an answer, and of its reports."""
    reports = [sweep.report for sweep in answer.sweeps if sweep.report]
    return [*answer.synthesis.citations, *(one for report in reports for one in report.citations)]
