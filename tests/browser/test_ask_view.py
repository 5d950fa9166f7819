"""The form of a question: what each way of asking costs, and a plan that comes by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.browser.scripted_page import ScriptedServer

if TYPE_CHECKING:
    from playwright.async_api import Page

SWEEP = {
    "partition": 2, "nodes": 20, "passes": 1, "input_tokens": 900, "reason": "closest",
}  # fmt: skip
PLAN: dict[str, Any] = {
    "sweeps": [SWEEP], "calls": 2, "cached": 0, "input_tokens": 900, "output_tokens": 300,
    "cost": {"low": 0.01, "high": 0.02}, "sweep_model": "scripted", "budget": "", "note": "",
    "advice": "",
}  # fmt: skip


async def test_each_way_of_asking_says_what_it_costs(page: Page) -> None:
    await page.goto("/?graph=papers")
    told = page.locator("#costs")
    for choice, value, expected in (
        ("#mode", "full", "a call for each pass over a partition"),
        ("#mode", "search", "one call, or two if the search needs keywords"),
        ("#how", "naive", "It costs one call."),
        ("#how", "mix", "for the keywords, and for the answer"),
    ):
        await page.select_option(choice, value)
        assert expected in await told.inner_text()


async def test_continuing_shows_its_plan_before_anything_is_asked(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers = {"/api/plan": PLAN}
    await page.goto("/?graph=papers&session=s&mode=continue&question=Why%3F")
    await page.get_by_text("closest").wait_for()
    assert scripted.bodies == [
        {
            "question": "Why?", "graph": "papers", "session": "s", "mode": "continue",
            "full_sweep": False,
        },
    ]  # fmt: skip
    await page.goto("/?graph=papers&question=Why%3F")
    await page.locator("#costs").get_by_text("Plan tells").wait_for()
    assert scripted.seen["POST /api/plan"] == 1
    assert scripted.seen["POST /api/runs"] == 0
