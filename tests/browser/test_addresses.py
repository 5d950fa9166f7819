"""Addresses of the page: places within a view, and links that log in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.scripted_page import RUN, ScriptedServer

if TYPE_CHECKING:
    from playwright.async_api import Page

ANSWER = """<article class="answer"><h1>Why?</h1>
<nav><a id="go" href="#absences">All checked absences</a></nav>
<div style="height:3000px"></div><h2 id="absences">Absences</h2><div style="height:900px"></div>
</article>"""
FRAGMENT = "/api/runs/r000000000001/answer.fragment"


@pytest.fixture
def scripted() -> ScriptedServer:
    """A server with one run that has an answer."""
    return ScriptedServer(
        {"/api/runs/r000000000001": RUN, FRAGMENT: ANSWER},
        {"/api/runs/r000000000001/events": [("snapshot", RUN)]},
    )


async def test_a_link_within_an_answer_leads_there_and_loads_nothing(
    page: Page, scripted: ScriptedServer
) -> None:
    await page.goto("/run?id=r000000000001")
    await page.locator("#go").click()
    await page.wait_for_function("scrollY > 2000")
    top = await page.locator("#absences").evaluate("one => one.getBoundingClientRect().top")
    assert top >= await page.locator("#frame").evaluate("one => one.offsetHeight"), "in sight"
    await page.go_back()
    await page.wait_for_function("scrollY < 100")
    assert scripted.seen[f"GET {FRAGMENT}"] == 1
    await page.goto("/runs")
    await page.goto("/run?id=r000000000001#absences")
    await page.wait_for_function("scrollY > 2000")


async def test_the_skip_link_leaves_what_was_typed(page: Page, scripted: ScriptedServer) -> None:
    await page.goto("/")
    await page.get_by_label("Question").fill("A long question")
    await page.locator("a.skip").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_function("document.activeElement.id === 'view'")
    assert await page.get_by_label("Question").input_value() == "A long question"


async def test_going_back_shows_the_view_that_was_left(
    page: Page, scripted: ScriptedServer
) -> None:
    await page.goto("/")
    await page.locator("a.skip").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("link", name="Sessions").click()
    await page.get_by_role("heading", name="Sessions").wait_for()
    await page.go_back()
    await page.get_by_label("Question").wait_for()
    assert await page.get_by_role("heading", name="Sessions").count() == 0


async def test_a_fresh_link_logs_in_where_the_page_is_open_already(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.refused = True
    await page.goto("/")
    await page.get_by_label("Token").wait_for()
    await page.goto("/#token=abc")
    await page.get_by_label("Question").wait_for()
    assert scripted.bodies == [{"token": "abc"}]
    assert "token" not in page.url
    await page.goto("/#token=def")
    await page.wait_for_function("!location.hash")
    await page.get_by_label("Question").wait_for()
    assert scripted.seen["POST /api/login"] == 2, "a browser that is logged in may log in again"


async def test_a_used_link_says_so_where_the_page_is_open_already(
    page: Page, scripted: ScriptedServer
) -> None:
    used = {"error": "the link was used", "code": "unauthenticated", "fix": "open a fresh one"}
    await page.goto("/")
    await page.get_by_label("Question").wait_for()
    scripted.failures["/api/login"] = (401, used)
    await page.goto("/#token=abc")
    await page.get_by_role("alert").wait_for()
    assert "token" not in page.url
    assert "The link was used" in await page.get_by_role("alert").inner_text()
