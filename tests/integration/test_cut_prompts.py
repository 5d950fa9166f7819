"""Answers, orders, and extractions from prompts that a server cut are made again, or named."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pgs_neo4j.cli.commands.documents import document_lines
from pgs_neo4j.cli.pages.ingested import as_json, lines, notes
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import PromptTooLongError
from pgs_neo4j.events import TextStreamed
from pgs_neo4j.export import to_json
from pgs_neo4j.export.figures import figures
from pgs_neo4j.web.jobs import ingested_data
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import model_on_papers, with_model
from tests.fakes.extractors import named_records
from tests.fakes.openai_server import Answer, Body, FakeOpenAI, Recorded, Scripted
from tests.fakes.windows import Cut, Window

CUTS: list[Cut] = ["refuse", "head", "tail", "middle"]
NOTHING: Callable[[int], int | None] = lambda tokens: None  # noqa: E731
LENGTHEN = (
    "MATCH (p:Paper) SET p.abstract = p.abstract + "
    "reduce(t = '', i IN range(1, 20) | t + ' clay and slip met the kiln at dawn') + ' end'"
)


def report(body: Body) -> str:
    """A long report on the first node of a pass."""
    said = str(body["messages"][-1]["content"])
    alias = re.findall(r"^\[(n\d+)\]", said, re.MULTILINE)[0]
    findings = "\n".join(f"- The kiln was fired at dawn, as is said [{alias}]" for _ in range(150))
    return (
        f"## Domain State\nRead.\n\n## Findings\n{findings}\n\n"
        "## Outbound Flags\nNone.\n\n## Absences\nNone.\n"
    )


def write(seen: str) -> str:
    """An answer that cites every node it was given, and says whether it saw the whole prompt."""
    nodes = dict.fromkeys(re.findall(r"^\[(n\d+)\]", seen, re.MULTILINE))
    cited = f" [{', '.join(nodes)}]" if nodes else ""
    return f"## Thesis\nIt is so{cited}.\n\n## Findings\nNone.\n"


def prompt_of(request: Recorded) -> str:
    return "\n".join(str(message["content"]) for message in request.body["messages"])


@asynccontextmanager
async def on_writer(
    endpoint: Endpoint, db: Database, fake: FakeOpenAI, window: Window, model: str = "writer"
) -> AsyncIterator[PGS]:
    """An engine of whose two models one reads no more than a window."""

    def limit(request: Recorded) -> Scripted | None:
        return window(request) if request.body.get("model") == model else None

    fake.refuse = limit
    async with model_on_papers(endpoint, db, fake, topics=2, synthesis_effort="none") as pgs:
        await alter(db, LENGTHEN)
        yield pgs


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(default=Answer(report)) as server:
        yield server


# What vanishes between two codes cannot be noticed where no tokens are counted.
@pytest.mark.parametrize(
    ("cut", "count"),
    [
        *((cut, lambda tokens: tokens) for cut in CUTS),
        *((cut, NOTHING) for cut in CUTS if cut != "middle"),
    ],
)
async def test_a_synthesis_that_was_cut_is_written_from_shorter_reports(
    endpoint, db, fake, cut, count
):
    window = Window(3_000, cut, reply=write, count=count)
    async with on_writer(endpoint, db, fake, window) as pgs:
        events = []
        answer = await pgs.execute("Why?", full_sweep=True, on_event=events.append)
    asked = [request for request in fake.chats if request.body.get("model") == "writer"]
    assert len(asked) > 1
    assert len(prompt_of(asked[-1]).encode()) // 4 <= window.context
    # A refusal costs nothing and shows nothing, so there is nothing to say of it.
    withdrawn = 0 if cut == "refuse" else len(asked) - 1
    assert sum("shorter reports, because" in one for one in answer.warnings) == withdrawn
    assert answer.synthesis.proven
    assert answer.text.startswith("## Thesis\nIt is so")
    assert "Codes" not in answer.text
    streamed = "".join(one.text for one in events if isinstance(one, TextStreamed))
    assert streamed.endswith(answer.text)
    assert streamed.count("does not count") == withdrawn
    refused = len(asked) - 1 if cut == "refuse" else 0
    assert answer.usage.calls == len(fake.chats) + len(fake.settling) - refused


async def test_a_synthesis_that_cannot_be_made_shorter_fails_with_one_sentence(endpoint, db, fake):
    window = Window(300, "tail", reply=write)
    async with on_writer(endpoint, db, fake, window) as pgs:
        with pytest.raises(PromptTooLongError, match="cut the prompt") as caught:
            await pgs.execute("Why?", full_sweep=True)
    assert str(caught.value).count(". ") == 0


@pytest.mark.parametrize("cut", CUTS)
async def test_an_answer_cites_only_what_the_model_was_given(endpoint, db, fake, cut):
    window = Window(2_000, cut, reply=write)
    async with on_writer(endpoint, db, fake, window) as pgs:
        found = await pgs.search("clay and slip", graph="papers", answer=True)
    asked = [request for request in fake.chats if request.body.get("model") == "writer"]
    assert len(asked) > 1
    last = prompt_of(asked[-1])
    assert len(last.encode()) // 4 <= window.context
    answer = found.answer
    shown = {citation.alias for citation in answer.shown.nodes}
    assert shown == set(re.findall(r"^\[(n\d+)\]", last, re.MULTILINE))
    assert {one.alias for one in answer.synthesis.citations if one.valid} == shown
    assert any("from fewer texts, because" in one for one in answer.warnings)
    assert answer.synthesis.proven


@pytest.mark.parametrize("repeats", [True, False])
async def test_what_nothing_can_prove_is_shown_unproven(endpoint, db, fake, repeats):
    window = Window(10**6, reply=write, count=NOTHING, repeats=repeats)
    async with on_writer(endpoint, db, fake, window) as pgs:
        answer = (await pgs.search("clay and slip", graph="papers", answer=True)).answer
        document = await pgs.runs.document(answer.run)
    assert answer.synthesis.proven == repeats
    assert json.loads(to_json(document))["proven"] == repeats
    assert any("shown, unproven" in text for _, text in figures(answer)) != repeats
    assert sum("it is not known whether" in one for one in answer.warnings) == (not repeats)
    assert "Codes" not in answer.text


@pytest.mark.parametrize("cut", CUTS)
async def test_an_order_from_a_cut_prompt_is_not_taken(endpoint, db, fake, cut):
    window = Window(800, cut, reply=lambda seen: "30, 29, 28")
    fake.default = Answer("## Answer\nIt is so.\n")
    async with on_writer(endpoint, db, fake, window, "reader") as pgs:
        plain = (
            await pgs.search("clay and slip", graph="papers", answer=True, rerank="none")
        ).items
        found = await pgs.search("clay and slip", graph="papers", answer=True, rerank="model")
        shown = [one.node for one in found.answer.shown.nodes]
        assert shown == [item.key for item in plain][: len(shown)]
        assert any("the order was kept, because" in one for one in found.answer.warnings)
        window.context = 10**6
        found = await pgs.search("clay and slip", graph="papers", answer=True, rerank="model")
        assert next(one.node for one in found.answer.shown.nodes) == plain[29].key


async def test_an_order_without_proof_is_named_also_where_it_is_cached(endpoint, db, fake):
    window = Window(10**6, reply=lambda seen: "30, 29, 28", count=NOTHING, repeats=False)
    fake.default = Answer("## Answer\nIt is so.\n")
    async with on_writer(endpoint, db, fake, window, "reader") as pgs:
        for _ in range(2):
            found = await pgs.search("clay and slip", graph="papers", answer=True, rerank="model")
            assert sum("the call that orders the nodes" in one for one in found.answer.warnings)
    assert len([chat for chat in fake.chats if chat.body.get("model") == "reader"]) == 1


# Ingestion


def prose(number: int, name: str) -> str:
    return f"The potter {name} used ash and tin in the workshop near the old harbor wall. "


def listed(number: int, name: str) -> str:
    return f"- item {number}: {name}, 12 x 7, ref. {number * 37}\n"


def quoted(number: int, name: str) -> str:
    return f"“I knew {name},” she wrote on day {number}. "


def foreign(number: int, name: str) -> str:
    return f"Der Töpfer {name} brannte Ziegel für das Königreich Nr. {number}. "


@pytest.mark.parametrize("sentence", [prose, listed, quoted, foreign])
@pytest.mark.parametrize("cut", CUTS)
async def test_no_entity_is_lost_in_a_chunk_that_was_cut(
    endpoint: Endpoint,
    db: Database,
    tmp_path: Path,
    cut: Cut,
    sentence: Callable[[int, str], str],
) -> None:
    names = {f"Zorvath{number:03}": "Person" for number in range(150)}
    text = "".join(sentence(number, name) for number, name in enumerate(names))
    (tmp_path / "long.md").write_text(f"# Potters\n\n{text}\n")
    window = Window(1_100, cut, reply=lambda seen: named_records(seen, names))
    with FakeOpenAI() as fake:
        fake.refuse = window
        async with with_model(endpoint, fake) as pgs:
            done = await pgs.ingest(tmp_path, "docs", gleaning="0")
    assert (done.complete, done.count("added"), done.uncounted) == (True, 1, 0)
    found = await fetch(db, "MATCH (n) WHERE n.name STARTS WITH 'Zorvath' RETURN n.name AS name")
    assert {row["name"] for row in found} == set(names)


async def test_a_sentence_that_does_not_fit_fails_its_document_by_name(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    (tmp_path / "curie.md").write_text("Marie Curie met Pierre Curie. They met Irene Curie.\n")
    names = {"Marie Curie": "Person"}
    with FakeOpenAI() as fake:
        fake.refuse = Window(200, "tail", reply=lambda seen: named_records(seen, names))
        async with with_model(endpoint, fake) as pgs:
            done = await pgs.ingest(tmp_path, "docs", gleaning="0")
    (failed,) = done.outcomes
    assert (failed.id, failed.state) == ("curie.md", "failed")
    assert "cut the prompt" in failed.reason
    assert not done.complete
    assert any("curie.md" in note and "cut the prompt" in note for note in notes(done))


async def test_an_ingestion_that_nothing_proves_says_so(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    (tmp_path / "fine.md").write_text("Marie Curie met Pierre Curie.\n")
    names = {"Marie Curie": "Person"}
    window = Window(
        10**6, repeats=False, count=NOTHING, reply=lambda seen: named_records(seen, names)
    )
    with FakeOpenAI() as fake:
        fake.refuse = window
        async with with_model(endpoint, fake) as pgs:
            done = await pgs.ingest(tmp_path, "docs", gleaning="0")
            again = await pgs.ingest(tmp_path, "docs", gleaning="0")
            shown = await pgs.ingest.document("docs", "fine.md")
            (listed_,) = await pgs.ingest.documents("docs")
            record = await pgs.jobs.get(done.job)
    assert done.complete
    assert (done.uncounted, done.chunks_unproven) == (1, 1)
    assert any("nothing proves that the model was given all of 1 prompt" in n for n in notes(done))
    # What nothing proved stays so, and is named, as long as its chunk is not extracted again.
    assert (again.uncounted, again.chunks_unproven, again.count("unchanged")) == (0, 1, 1)
    assert (listed_.unproven, [one.proven for one in shown.chunks]) == (1, [False])
    assert any("shown, unproven" in line for line in document_lines(shown, 100))
    assert (record.figures["prompts_unproven"], record.figures["chunks_unproven"]) == (1, 1)
    for one in (done, again):
        assert as_json(one)["chunks_unproven"] == 1
        assert "  fine.md: 1 chunk" in [*notes(one)]
        assert any("1 unproven" in line for line in lines(one, 100))
        assert "1 chunk shown to the model, unproven" in ingested_data(one)["documents"][0]["note"]
