"""Hostile texts in a database and in the replies of a model: an answer shows them, and that is all.

What else the page shows of a database, ``test_hostile_texts`` fills with such texts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.export import to_html
from pgs_neo4j.model import Prompt
from tests.browser.inert import Watch, check_inert
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.hostile import hostile_texts
from tests.serving import served

if TYPE_CHECKING:
    from playwright.async_api import Browser

SIZE, TOPICS = 76, 4
"""As many nodes as there are texts, or some more."""
SESSION = "<img src=x onerror=owned('session') class=owned>\"'`&lt;{{x}}"
SET_TEXTS = """
UNWIND range(0, size($titles) - 1) AS i MATCH (p:Paper {doi: 'doi/' + i})
SET p.title = $titles[i], p.abstract = $texts[i]
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
    """An engine on nodes that are full of hostile texts."""
    assert browser.is_connected()
    async with engine_on_papers(
        endpoint, db, reply, topics=TOPICS, size=SIZE, target_partition_max=2 * SIZE
    ) as opened:
        titles, texts = ([text for _, text in hostile_texts(of)] for of in ("title", "text"))
        await db.call(SET_TEXTS, {"titles": titles, "texts": texts}, "write")
        yield opened


@pytest.mark.nightly
async def test_an_answer_is_inert_on_the_page_and_saved_without_a_server(
    pgs: PGS, browser: Browser, tmp_path: Path
) -> None:
    answer = await pgs.execute(QUESTION, graph="papers", session_id=SESSION, full_sweep=True)
    assert answer.coverage.exhausted
    asked = [mark for mark in marks("question") if mark in QUESTION]
    assert len(asked) > 200
    said = marks("thesis", "connection", "convergence", "state", "finding", "flag", "absence")
    saved = tmp_path / "answer.html"
    assert saved.write_text(to_html(await pgs.runs.document(answer.run)), encoding="utf-8") > 10**5
    async with served(pgs) as server:
        watch, place = Watch(server.base), await browser.new_context(base_url=server.base)
        place.set_default_timeout(120_000)
        await watch.begin(place)
        page = await place.new_page()
        await page.goto(server.link)
        await page.get_by_label("Question").wait_for()
        await page.goto(f"/run?id={answer.run}")
        await page.locator(".answer").wait_for()
        await check_inert(page, watch, [*said, *asked])
        await place.close()
    watch, place = Watch(saved.as_uri()), await browser.new_context()
    await watch.begin(place)
    page = await place.new_page()
    await page.goto(saved.as_uri())
    await check_inert(page, watch, marks("thesis", "finding", "flag", "absence"))
    await place.close()
