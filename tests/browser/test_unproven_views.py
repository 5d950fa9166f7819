"""What was shown without proof, what models can take, and written cache tokens, on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.scripted_page import RUN, ScriptedServer, atlas
from tests.browser.test_scripted_views import PLAN

if TYPE_CHECKING:
    from playwright.async_api import Page

ONE = "/api/runs/r000000000001"
PAPERS = "/api/graphs/papers"
UNKNOWN = (
    "unknown; its server does not report it, so each reply has to prove that it read the prompt"
)
CONTEXTS = {"reader": "4,096 tokens (as the server says)", "writer": UNKNOWN}
ADVICE = "reader takes 4,096 tokens a call; for fewer, start it with: more"
SHOWN = {"partition": 1, "status": "accepted", "nodes": 20, "nodes_read": 0, "nodes_unproven": 20}
MIXED = {**SHOWN, "partition": 2, "nodes_read": 12, "nodes_unproven": 8}
COVERAGE = {
    "partitions_swept": 0, "partitions_total": 2, "nodes_read": 12, "nodes_total": 40,
    "nodes_unproven": 28,
}  # fmt: skip
USAGE: dict[str, Any] = {
    "calls": 3, "tokens": 9_000, "cached": 0, "cache_read_tokens": 0, "cache_write_tokens": 2_000,
    "cost": 0.5,
}  # fmt: skip
SESSION = {
    "session": "default", "graph": "papers", "runs": 1, "coverage": COVERAGE,
    "updated_at": "2026-01-02T03:04:05Z",
}  # fmt: skip
LISTED = {
    "run": RUN["run"], "question": "Why?", "session": "default", "status": "complete",
    "nodes_read": 12, "nodes_unproven": 28, "cost": 0.5, "started_at": "2026-01-02T03:04:05Z",
}  # fmt: skip
COST = {
    "day": "2026-01-02", "graph": "papers", "session": "default", "model": "reader", "runs": 1,
    "calls": 3, "cached": 0, "input_tokens": 8_000, "output_tokens": 1_000, "cost": 0.5,
    "unpriced": 0, "cache_read_tokens": 0, "cache_write_tokens": 2_000,
}  # fmt: skip
# The color at the upper right of each half of the map, away from its labels.
COLORS = """
() => {
  const canvas = document.querySelector(".board canvas");
  const {width, height} = canvas;
  return [0.4, 0.6].map((x) => [
    ...canvas.getContext("2d").getImageData(width * x, height * 0.8, 1, 1).data,
  ].slice(0, 3));
}
"""
PARTIAL, UNPROVEN = [0x96, 0x64, 0x0F], [0xB3, 0x9C, 0xE0]


@pytest.fixture
def scripted() -> ScriptedServer:
    """A server on whose graph one partition was read in part, and all else shown without proof."""
    return ScriptedServer(
        {
            "/api/plan": {**PLAN, "contexts": CONTEXTS, "context_advice": [ADVICE]},
            ONE: {**RUN, "state": "running", "answered": False},
            f"{PAPERS}/map": atlas(),
            f"{PAPERS}/read": [SHOWN, MIXED],
            f"{PAPERS}/partitions": {"partitions": [], "after": None},
            f"{PAPERS}/sessions/default": {
                **SESSION, "runs": [{**LISTED, "id": RUN["run"], "mode": "full"}],
            },
            "/api/sessions": [SESSION],
            "/api/runs": [LISTED],
            "/api/cost": [COST],
        }
    )  # fmt: skip


async def test_a_plan_says_what_its_models_can_take_and_what_to_do(page: Page) -> None:
    await page.goto("/?graph=papers&mode=continue&question=Why%3F")
    plan = page.get_by_label("Plan", exact=True)
    await plan.get_by_text("reader: 4,096 tokens (as the server says)").wait_for()
    told = await plan.inner_text()
    assert f"writer: {UNKNOWN}" in told
    assert ADVICE in told.splitlines(), "as the command line has it, with the model's own name"


async def test_a_run_shows_what_was_shown_without_proof(
    page: Page, scripted: ScriptedServer
) -> None:
    routed = {"routes": [{"partition": id_, "reason": "near"} for id_ in (1, 2)]}
    ended = {"findings": [], "targets": [], "report": None}
    scripted.streams[f"{ONE}/events"] = [
        ("contexts", {"contexts": CONTEXTS}),
        ("routed", routed),
        ("sweep_finished", {**SHOWN, **ended}),
        ("sweep_finished", {**MIXED, **ended}),
        ("usage", USAGE),
    ]
    await page.goto("/run?id=r000000000001")
    await page.get_by_text("12 of 20 nodes, 8 shown, unproven").wait_for()
    await page.get_by_text("9,000 (2,000 written to the provider's cache)").wait_for()
    await page.get_by_text("being read, or read in part").wait_for()  # the map comes last
    told = await page.locator("main").inner_text()
    assert "0 of 20 nodes, 20 shown, unproven" in told
    assert f"writer: {UNKNOWN}" in told
    assert await page.locator(".legend .key.unproven").count() == 1
    assert await page.locator(".badge.unproven").inner_text() == "accepted"
    await page.wait_for_function(f"({COLORS})()[1][0] === {PARTIAL[0]}")
    assert await page.evaluate(COLORS) == [UNPROVEN, PARTIAL]


async def test_the_map_colors_what_was_shown_without_proof(
    page: Page, scripted: ScriptedServer
) -> None:
    await page.goto("/map?graph=papers")
    note = page.get_by_text("12 of 40 nodes read in session default, 28 shown, unproven.")
    await note.wait_for()
    await page.wait_for_function(f"({COLORS})()[1][0] === {PARTIAL[0]}")
    assert await page.evaluate(COLORS) == [UNPROVEN, PARTIAL]
    assert await page.locator(".legend .key.unproven").count() == 1
    assert "0 (20 more shown, unproven)" in await page.locator("main table").inner_text()
    scripted.answers[f"{PAPERS}/read"] = [{**MIXED, "nodes_unproven": 0}]
    await page.reload()
    await page.get_by_text("12 of 40 nodes read in session default.").wait_for()
    assert await page.locator(".legend .key.unproven").count() == 0


@pytest.mark.parametrize(
    ("way", "text"),
    [
        ("/sessions", "12 of 40 nodes (28 more shown, unproven), 0 of 2 partitions"),
        ("/session?session=default", "12 of 40 nodes (28 more shown, unproven), 0 of 2 partitions"),
        ("/session?session=default", "12 nodes read, 28 shown, unproven · cost 0.50"),
        ("/runs", "12 (28 more shown, unproven)"),
        ("/cost", "Written to the cache"),
        ("/cost", "2,000"),
    ],
)
async def test_lists_show_what_was_shown_without_proof_and_what_was_written(
    page: Page, way: str, text: str
) -> None:
    await page.goto(way)
    await page.get_by_text(text).first.wait_for()
    assert await page.locator("main h1").count() == 1
