"""Two tabs that show one run: both cancel it, and both say so."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM
from tests.browser.conftest import WAIT_MS, opened_window, second_tab
from tests.serving import Held, Served

if TYPE_CHECKING:
    from playwright.async_api import Browser


async def test_two_tabs_stop_one_run_and_one_resumes_it(
    pgs: PGS, server: Served, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Held()
    monkeypatch.setattr(pgs, "sweep_llm", ScriptedLLM(model.answer))
    async with opened_window(browser, server) as window:
        page = window.page
        await page.get_by_label("Question").fill("Why?")
        await page.get_by_role("button", name="Ask", exact=True).click()
        await page.get_by_text("in progress").wait_for()
        await model.asked.wait()
        async with second_tab(window) as other:
            tabs = (page, other.page)
            stops = [tab.get_by_role("button", name="Stop") for tab in tabs]
            buttons = [await stop.element_handle(timeout=WAIT_MS) for stop in stops]
            # At once, before the end of the run takes the buttons away.
            await asyncio.gather(*(one.evaluate("one => one.click()") for one in buttons))
            for tab in tabs:
                await tab.get_by_text("cancelled", exact=True).wait_for()
                assert await tab.get_by_role("alert").count() == 0
                assert await tab.get_by_role("button", name="Stop").count() == 0
            model.go.set()
            await other.page.get_by_role("button", name="Resume").click()
            await other.page.locator(".answer").wait_for()
            await page.reload()
            await page.locator(".answer").wait_for()
