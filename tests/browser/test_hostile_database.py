"""Hostile texts in a database and in the replies of a model: they are shown, and that is all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.export import to_html
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Prompt
from tests.browser.inert import Watch, check_inert
from tests.conftest import Endpoint
from tests.engines import KNOBS, engine_on
from tests.graphs import papers
from tests.hostile import hostile_texts
from tests.serving import Served, served

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

SIZE, TOPICS = 76, 4
"""As many nodes as there are texts, or some more."""
NODES = 12
"""Nodes that are opened; the others are in lists."""
LONGEST_NAME, FILES = 120, 40
SESSION = "<img src=x onerror=owned('session') class=owned>\"'`&lt;{{x}}"
SET_TEXTS = """
UNWIND range(0, size($titles) - 1) AS i MATCH (p:Paper {doi: 'doi/' + i})
SET p.title = $titles[i], p.abstract = $texts[i], p.note = $notes[i], p[$names[i]] = $notes[i]
"""


def lines(place: str) -> list[str]:
    """All texts for a place, each on one line."""
    return [text.replace("\n", " ").replace("\r", " ") for _, text in hostile_texts(place)]


def marks(*places: str) -> list[str]:
    """The marks of some places."""
    return [mark for place in places for mark, _ in hostile_texts(place)]


QUESTION = " ".join(line for line in lines("question") if len(line) < 200)
THESIS = "\n".join(text for _, text in hostile_texts("thesis"))


def bullets(texts: Iterable[str], end: str = "") -> str:
    return "\n".join(f"- {text}{end}" for text in texts)


def reply(prompt: Prompt) -> str:
    """A model that repeats what it was shown, and more."""
    if prompt.task != "sweep":
        first = prompt.reports[0].report.citations[0]
        cited = f" [P{first.partition}:{first.alias}]"
        return (
            f"## Thesis\n{THESIS}{cited}\n\n"
            f"## Connections\n{bullets(lines('connection'), cited)}\n\n"
            f"## Absences\n- None.\n\n## Convergences\n{bullets(lines('convergence'))}\n"
        )
    part = slice((prompt.partition or 0) - 1, None, TOPICS)  # of the texts, each partition a part
    (node, *_), (other, *_) = prompt.nodes, prompt.neighbors
    return (
        f"## Domain State\n{' '.join(lines('state')[part])}\n\n"
        f"## Findings\n{bullets(lines('finding')[part], f' [{node.alias}]')}\n\n"
        f"## Outbound Flags\n{bullets(f'{other.name}: {line}' for line in lines('flag')[part])}\n\n"
        f"## Absences\n{bullets(lines('absence')[part])}\n"
    )


@pytest.fixture
async def pgs(browser: Browser, endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on nodes that are full of hostile texts, after a question about all of them."""
    assert browser.is_connected()
    mapping = await papers(db, topics=TOPICS, size=SIZE)
    titles, texts, notes = ([t for _, t in hostile_texts(p)] for p in ("title", "text", "note"))
    names = [*lines("name")[:NODES], *["note"] * (len(titles) - NODES)]
    given = {"titles": titles, "texts": texts, "notes": notes, "names": names}
    await db.call(SET_TEXTS, given, "write")
    async with engine_on(endpoint, **KNOBS | {"target_partition_max": 2 * SIZE}) as opened:
        await opened.add_graph("papers", mapping)
        opened.sweep_llm, opened.synthesis_llm = ScriptedLLM(reply), ScriptedLLM(reply)
        yield opened


@pytest.fixture
async def server(pgs: PGS) -> AsyncIterator[Served]:
    async with served(pgs) as running:
        yield running


async def watched(browser: Browser, server: Served) -> tuple[Page, Watch]:
    """A page that followed the link, and what goes wrong in it."""
    watch, place = Watch(server.base), await browser.new_context(base_url=server.base)
    place.set_default_timeout(120_000)
    await watch.begin(place)
    page = await place.new_page()
    await page.goto(server.link)
    await page.get_by_label("Question").wait_for()
    return page, watch


async def test_texts_of_nodes_and_of_a_model_are_only_shown(
    pgs: PGS, server: Served, browser: Browser, db: Database, tmp_path: Path
) -> None:
    answer = await pgs.execute(QUESTION, graph="papers", session_id=SESSION, full_sweep=True)
    assert answer.coverage.exhausted
    page, watch = await watched(browser, server)
    asked = [mark for mark in marks("question") if mark in QUESTION]
    assert len(asked) > 200
    said = marks("thesis", "connection", "convergence", "state", "finding", "flag", "absence")
    await page.goto(f"/run?id={answer.run}")
    await page.locator(".answer").wait_for()
    await check_inert(page, watch, [*said, *asked])
    for way, shown in (
        (f"/session?{urlencode({'session': SESSION, 'graph': 'papers'})}", asked[:50]),
        (f"/map?{urlencode({'session': SESSION, 'flags': 'on'})}", marks("flag")[:200]),
        ("/runs", asked), ("/sessions", []), ("/cost", []), ("/generations", []),
    ):  # fmt: skip
        await page.goto(way)
        await page.locator("text=Loading…").wait_for(state="detached")
        await check_inert(page, watch, shown)
    _, rows = await db.call(
        "MATCH (p:Paper) WHERE p.doi IN $keys RETURN p.doi AS key, elementId(p) AS id",
        {"keys": [f"doi/{number}" for number in range(NODES)]},
        "read",
    )
    for row in rows:
        number = int(row["key"].removeprefix("doi/"))
        shown = [marks(place)[number] for place in ("title", "text", "note", "name")]
        await page.goto(f"/node?{urlencode({'id': row['id'], 'graph': 'papers'})}")
        await check_inert(page, watch, shown)
    await page.context.close()


async def test_a_saved_answer_is_inert_without_a_server(
    pgs: PGS, browser: Browser, tmp_path: Path
) -> None:
    answer = await pgs.execute(QUESTION, graph="papers", full_sweep=True)
    saved = tmp_path / "answer.html"
    assert saved.write_text(to_html(await pgs.document(answer.run)), encoding="utf-8") > 10**5
    watch, place = Watch(saved.as_uri()), await browser.new_context()
    await watch.begin(place)
    page = await place.new_page()
    await page.goto(saved.as_uri())
    await check_inert(page, watch, marks("thesis", "finding", "flag", "absence"))
    await place.close()
