"""A server that is killed while its page shows a run: the run is resumed from the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pgs_neo4j.database.connection import Database
from tests.browser.conftest import WAIT_MS
from tests.conftest import Endpoint
from tests.engines import model_on_papers
from tests.fakes.openai_server import Answer, FakeOpenAI, Hang, contract_answer
from tests.serve_process import serving
from tests.serving import free_port, served

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

READ = 2
"""Of four partitions; the calls about the others wait."""
SILENT = "MATCH (r:PgsRun) SET r.updated_at = datetime() - duration('PT5M')"


async def ask(page: Page) -> None:
    """Ask about all partitions, and wait until those that have answers are read."""
    await page.get_by_label("Question").fill("Why?")
    await page.get_by_label("Read every partition").check()
    await page.get_by_role("button", name="Ask", exact=True).click()
    for place in range(READ):
        await page.get_by_text("A finding of the fake model").nth(place).wait_for()


@pytest.mark.nightly
async def test_a_run_of_a_killed_server_is_resumed_from_the_page(
    endpoint: Endpoint, db: Database, browser: Browser, tmp_path: Path
) -> None:
    port, place = free_port(), await browser.new_context()
    place.set_default_timeout(2 * WAIT_MS)
    page = await place.new_page()
    with FakeOpenAI(default=Hang()) as fake:
        async with model_on_papers(endpoint, db, fake) as pgs:
            await pgs.partitions.build("papers")
            fake.script(*[Answer(contract_answer)] * READ)
            model = {
                "PGS_LLM_PROVIDER": "openai", "PGS_LLM_BASE_URL": fake.base_url,
                "PGS_SWEEP_MODEL": "reader", "PGS_SYNTHESIS_MODEL": "writer",
            }  # fmt: skip
            async with serving(endpoint, tmp_path, port, **model) as (process, link):
                await page.goto(link)
                await ask(page)
                address = page.url
                process.kill()
                await process.wait()
                await page.get_by_role("status").get_by_text("the connection was lost").wait_for()
            fake.default = Answer(contract_answer)
            before = len(fake.chats)
            async with served(pgs, port=port) as server:
                await page.reload()
                await page.get_by_role("heading", name="Log in").wait_for()
                assert page.url == address
                await page.goto(f"{address}#token={server.token}")
                await page.get_by_text("in progress in another process").wait_for()
                await db.call(SILENT, {}, "write")
                await page.get_by_text("its process is gone").wait_for()
                assert f"{READ} partitions" in await page.locator("main").inner_text()
                await page.get_by_role("button", name="Resume").click()
                await page.locator(".answer").wait_for()
                assert "160 of 160 nodes" in await page.locator("main").inner_text()
                assert len(fake.chats) - before == 4 - READ + 1, "what was read is paid for once"
                assert page.url == address
    await place.close()
