"""A search on the page: what it finds is answered there, and the answer is rated there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.scripted_page import OWNER, RUN, ScriptedServer

if TYPE_CHECKING:
    from playwright.async_api import Page

RUNS = "/api/runs"
ONE = f"{RUNS}/r000000000001"
HIT = {
    "id": "4:a:1", "title": "Sea ice", "labels": ["Paper"], "text": "It melts.", "score": 1.0,
    "scores": {"text": 1.0}, "way": "",
}  # fmt: skip
FOUND: dict[str, Any] = {
    "question": "Why?", "items": [HIT], "seconds": 0.1, "mode": "local", "reason": "",
    "warnings": [], "facts": [], "units": [], "findings": [], "paths": [],
}  # fmt: skip
ANSWER = '<article class="answer"><h1>Why?</h1><p>Since it melts.</p></article>'
SEARCH = "/search?graph=papers&q=Why%3F&how=local"


@pytest.fixture
def scripted() -> ScriptedServer:
    """A server that finds a node, and answers from it."""
    return ScriptedServer(
        {
            "/api/search": FOUND, RUNS: {"run": RUN["run"]}, ONE: RUN,
            f"{ONE}/answer.fragment": ANSWER,
            f"{ONE}/feedback": {"nodes": 1, "triplets": 0},
        },
        {f"{ONE}/events": [("text_streamed", {"text": "Since"}), ("answered", {})]},
    )  # fmt: skip


async def test_what_a_search_found_is_answered_and_rated_in_its_view(
    page: Page, scripted: ScriptedServer
) -> None:
    await page.goto(SEARCH)
    await page.get_by_role("button", name="Answer from these").click()
    await page.get_by_text("Since it melts.").wait_for()
    assert scripted.bodies[-1] == {
        "question": "Why?", "graph": "papers", "answer_from": "search", "search_mode": "local",
    }  # fmt: skip
    await page.get_by_role("button", name="Useful").click()
    await page.get_by_text("Thank you.").wait_for()
    assert scripted.bodies[-1] == {"outcome": "accepted", "replace": True}
    await page.reload()
    await page.get_by_role("button", name="Useful").wait_for()
    assert scripted.seen[f"POST {RUNS}"] == 1, "the address names the run"
    assert await page.get_by_role("button", name="Sea ice").count() == 1


async def test_an_answer_that_costs_too_much_is_not_asked_for(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers["/api/me"] = {**OWNER, "confirm_cost": 1.0}
    scripted.answers["/api/search/plan"] = {"high": 5.0}
    await page.goto(SEARCH)
    await page.get_by_role("button", name="Answer from these").click()
    await page.get_by_text("This may cost 5.00, more than 1.00. Ask it?").wait_for()
    await page.get_by_role("button", name="No", exact=True).click()
    await (
        page.get_by_role("button", name="Answer from these")
        .and_(page.locator(":enabled"))
        .wait_for()
    )
    assert scripted.seen[f"POST {RUNS}"] == 0


async def test_a_reader_searches_and_asks_for_no_answer(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers["/api/me"] = {**OWNER, "role": "reader"}
    await page.goto(SEARCH)
    await page.get_by_role("button", name="Sea ice").wait_for()
    assert await page.get_by_role("button", name="Answer from these").count() == 0
