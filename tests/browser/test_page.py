"""The page in a real browser: what people do there, and that nothing else happens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pgs_neo4j.engine import PGS
from tests.browser.conftest import WAIT_MS, Window, opened_window, second_tab
from tests.serving import Held

if TYPE_CHECKING:
    from playwright.async_api import Browser

QUESTION = "What do the papers say about sleep?"


async def test_the_link_logs_in_once_and_leaves_no_token(window: Window, browser: Browser) -> None:
    page = window.page
    assert "token" not in page.url
    (cookie,) = await page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert cookie["value"] not in await page.content()
    async with opened_window(browser, window.server) as second:
        # The link is used up, and the browser says so in its console.
        await second.page.get_by_label("Token").fill("wrong")
        await second.page.get_by_role("button", name="Log in").click()
        await second.page.get_by_role("alert").wait_for()
        assert all("401" in problem for problem in second.problems)
        second.problems.clear()


async def test_a_question_is_planned_and_asked_and_leads_to_nodes_and_the_map(
    window: Window,
) -> None:
    page = window.page
    await page.get_by_label("Question").fill(QUESTION)
    await page.get_by_label("Read every partition").check()
    await page.get_by_role("button", name="Plan").click()
    await page.get_by_role("heading", name="Plan").wait_for()
    assert await page.locator("table tbody tr").count() == 4
    await window.ask(QUESTION)
    address = page.url
    assert await page.locator("h1").first.inner_text() == QUESTION
    assert "160 of 160 nodes" in await page.locator(".strip").inner_text()
    await page.locator(".answer button.cite").first.click()
    panel = page.locator("#panel")
    await panel.get_by_role("heading", name="Findings that cite it").wait_for()
    assert "studies" in await panel.locator(".text").inner_text()
    assert await panel.locator("svg.around circle").count() > 3
    assert await panel.locator("ul.found").last.locator("li").count() > 0
    await page.keyboard.press("Escape")
    assert await panel.is_hidden()
    await page.reload()
    await page.locator(".answer").wait_for()
    assert page.url == address
    await page.get_by_role("link", name="Map").click()
    await page.get_by_role("heading", name="Map of papers").wait_for()
    assert "160 of 160 nodes" in await page.locator("main").inner_text()
    assert await page.locator(".board canvas").count() == 1
    await page.locator("main table button.link").first.click()
    members = page.locator("#panel ul.found li button")
    await members.first.wait_for()
    assert await members.count() == 40
    await members.first.click()
    await page.locator("#panel").get_by_role("heading", name="Neighbors").wait_for()
    await page.get_by_role("link", name="Link to this node").click()
    await window.settled()
    node = page.url
    await page.reload()
    await page.locator("main .text").wait_for()
    assert page.url == node


async def test_the_canvas_moves_as_a_picture_and_a_click_opens_the_partition_under_it(
    window: Window,
) -> None:
    page = window.page
    await window.open("/map?as=network")
    canvas = page.locator(".board canvas")
    for key in ("+", "ArrowLeft", "-", "0"):
        await canvas.press(key)
    await window.open("/map")
    box = await canvas.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    await page.mouse.move(x, y)
    await page.mouse.wheel(0, -300)
    still = page.locator(".board canvas[style*='none']")
    await still.wait_for()
    await page.mouse.move(x, y)
    title = await page.locator(".board .tip").inner_text()
    await page.mouse.down()
    await page.mouse.move(x + 60, y + 20)
    await page.mouse.move(x + 61, y + 21)
    await page.mouse.up()
    await still.wait_for()
    assert await page.locator("#panel").is_hidden(), "a drag opens nothing"
    await page.mouse.move(x + 61, y + 21)
    assert await page.locator(".board .tip").inner_text() == title, "what was held moved along"
    await page.mouse.click(x + 61, y + 21)
    await page.locator("#panel ul.found li").first.wait_for()


async def test_a_search_leads_to_nodes_and_to_an_answer(window: Window) -> None:
    page = window.page
    await page.get_by_role("link", name="Search").click()
    await page.get_by_label("What to look for").fill("orbital debris")
    await page.get_by_label("Mode").select_option("hybrid")
    await page.get_by_role("button", name="Search").click()
    await page.get_by_role("heading", name="How each path went").wait_for()
    found = page.url
    await page.reload()
    await page.locator("ol.found button.link").first.click()
    await page.locator("#panel").get_by_role("heading", name="Neighbors").wait_for()
    assert "how=hybrid" in found
    await page.get_by_role("link", name="Ask the partitions").click()
    await page.get_by_label("Mode").select_option("search")
    assert await page.get_by_label("Read every partition").is_hidden()
    await page.get_by_label("Search by").select_option("local")
    await page.get_by_role("button", name="Plan").click()
    await page.get_by_role("heading", name="Plan").wait_for()
    assert "local" in await page.locator(".strip").inner_text()
    await page.get_by_role("button", name="Ask", exact=True).click()
    await page.locator(".answer").wait_for()
    await page.get_by_role("button", name="Useful").click()
    await page.get_by_text("Thank you.").wait_for()
    await page.reload()
    pressed = page.get_by_role("button", name="Useful")
    await pressed.wait_for()
    assert await pressed.get_attribute("aria-pressed") == "true"


async def test_the_whole_journey_by_keyboard(window: Window) -> None:
    page = window.page
    await window.open("/runs")
    await page.keyboard.press("?")
    await page.get_by_role("dialog", name="Keys").wait_for()
    await page.keyboard.press("Escape")
    await page.get_by_role("dialog").wait_for(state="detached")
    await page.keyboard.press("/")
    await page.get_by_label("Question").wait_for()
    await page.keyboard.type(QUESTION)
    for _ in range(20):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.textContent") == "Ask":
            break
    await page.keyboard.press("Enter")
    await page.locator(".answer").wait_for()
    await page.locator(".answer button.cite").first.focus()
    await page.keyboard.press("Enter")
    await page.locator("#panel").get_by_role("heading", name="Neighbors").wait_for()
    await page.keyboard.press("Escape")
    assert await page.locator("#panel").is_hidden()


async def test_the_manual_opens_from_the_page_and_leads_back(window: Window) -> None:
    page = window.page
    await page.get_by_role("link", name="Manual").click()
    await page.get_by_role("heading", name="Manual").wait_for()
    await page.locator("main").get_by_role("link", name="server").click()
    await page.get_by_role("link", name="Tokens", exact=True).click()
    assert page.url.endswith("/manual/server#tokens")
    assert await page.locator("h2#tokens").is_visible()
    await page.get_by_role("link", name="pgs", exact=True).click()
    await page.get_by_label("Question").wait_for()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Help").click()
    await page.get_by_role("dialog").get_by_role("link", name="manual").click()
    await page.get_by_role("heading", name="Manual").wait_for()


async def test_two_tabs_stop_one_run_and_one_resumes_it(pgs: PGS, window: Window) -> None:
    model = Held(pgs)
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
