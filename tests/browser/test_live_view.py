"""A run that is followed on the page: what the events of the server make of it."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.scripted_page import (
    GRAPH,
    RUN,
    ScriptedServer,
    atlas,
    opened_place,
    scripted_page,
)

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

LIVE: dict[str, Any] = {**RUN, "state": "running", "answered": False}
EVENTS = "/api/runs/r000000000001/events"
SWEEP = {"partition": 1, "status": "read", "nodes": 20, "nodes_read": 20, "findings": 3}


@pytest.fixture
def scripted() -> ScriptedServer:
    """A server with one run in progress on a graph with a map."""
    return ScriptedServer(
        {"/api/runs/r000000000001": LIVE, "/api/graphs/papers/map": atlas()}, {EVENTS: []}
    )


async def test_a_run_of_another_process_is_said_to_be_one(
    page: Page, scripted: ScriptedServer
) -> None:
    record = {**LIVE, "elsewhere": True}
    scripted.answers["/api/runs/r000000000001"] = record
    scripted.held[EVENTS] = asyncio.Event()
    scripted.streams[EVENTS] = [("snapshot", {**record, "sweeps": [SWEEP]})]
    await page.goto("/run?id=r000000000001")
    await page.get_by_text("in progress in another process").wait_for()
    assert await page.get_by_role("button", name="Stop").count() == 0
    scripted.held[EVENTS].set()
    await page.get_by_text("20 of 20 nodes").wait_for()


ROUTED = ("routed", {"routes": [{"partition": 1, "evidence": 3, "reason": "3 nodes match"}]})
MAP = "GET /api/graphs/papers/map"


async def test_the_map_appears_when_the_first_question_has_made_partitions(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers["/api/graphs/papers"] = {**GRAPH, "generation": None, "partitions": 0}
    scripted.held[EVENTS] = asyncio.Event()
    scripted.streams[EVENTS] = [ROUTED]
    await page.goto("/run?id=r000000000001")
    await page.get_by_text("in progress").wait_for()
    assert scripted.seen[MAP] == 0, "no map exists yet"
    scripted.answers["/api/graphs/papers"] = GRAPH
    scripted.held[EVENTS].set()
    await page.locator(".board canvas").wait_for()
    await page.get_by_text("3 nodes match").wait_for()
    assert scripted.seen[MAP] == 1


async def test_the_map_is_drawn_again_for_a_run_of_another_generation(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.held[EVENTS] = asyncio.Event()
    scripted.streams[EVENTS] = [ROUTED]
    await page.goto("/run?id=r000000000001")
    await page.get_by_label("Map of 2 places").wait_for()
    alone = {**atlas("g2"), "places": atlas("g2")["places"][:1]}
    scripted.answers["/api/graphs/papers/map"] = alone
    scripted.answers["/api/graphs/papers"] = {**GRAPH, "generation": "g2"}
    scripted.answers["/api/runs/r000000000001"] = {**LIVE, "generation": "g2"}
    scripted.held[EVENTS].set()
    await page.get_by_label("Map of 1 place.").wait_for()
    assert scripted.seen[MAP] == 2


async def test_no_map_of_the_graph_is_drawn_for_a_run_of_a_former_generation(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers["/api/runs/r000000000001"] = {**LIVE, "generation": "g0"}
    scripted.streams[EVENTS] = [ROUTED]
    await page.goto("/run?id=r000000000001")
    await page.get_by_text("3 nodes match").wait_for()
    assert await page.locator(".board canvas").count() == 0
    assert scripted.seen[MAP] == 0


def wait_of(seconds: float, ago: float = 0.0, **more: Any) -> dict[str, Any]:
    """The data of a wait that began some seconds ago."""
    until = datetime.now(UTC) + timedelta(seconds=seconds - ago)
    return {"reason": "429", "wait_s": seconds, "until": until.isoformat(), **more}


async def test_waits_are_told_until_they_are_over(
    browser: Browser, scripted: ScriptedServer
) -> None:
    scripted.streams[EVENTS] = [
        ("call_retried", wait_of(20, task="sweep", partition=1)),
        ("calls_held", wait_of(40, reason="the endpoint asks to wait")),
        ("call_retried", wait_of(90, ago=100, task="synthesis", partition=None)),
    ]
    # The clock is that of all pages in a place.
    async with opened_place(browser) as place, scripted_page(place, scripted) as page:
        await page.clock.install()
        await page.goto("/run?id=r000000000001")
        line = page.locator(".waits")
        await line.wait_for()
        told = await line.inner_text()
        assert told.startswith("The run waits ")
        assert told.endswith("s: the endpoint asks to wait, and 1 more.")
        await page.clock.fast_forward(45_000)
        await line.wait_for(state="hidden")


async def test_a_wait_of_a_partition_ends_with_its_pass(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.streams[EVENTS] = [
        ("sweep_started", {"partition": 1, "nodes": 20, "passes": 3, "keywords": []}),
        ("call_retried", wait_of(500, task="sweep", partition=1)),
    ]
    await page.goto("/run?id=r000000000001")
    await page.get_by_text(re.compile(r"P1 waits \d+ s: the endpoint is busy\.$")).wait_for()
    await page.get_by_text("20 nodes, 0 of 3 passes done").wait_for()
    ended = {"partition": 1, "number": 2, "passes": 3, "error": None}
    scripted.streams[EVENTS].append(("pass_finished", ended))
    await page.reload()
    await page.get_by_text("20 nodes, 2 of 3 passes done").wait_for()
    assert await page.locator(".waits").is_hidden()


async def test_a_reply_that_is_being_written_is_told_until_its_call_ends(
    page: Page, scripted: ScriptedServer
) -> None:
    def grew(partition: int, tokens: int) -> tuple[str, dict[str, Any]]:
        return "reply_grew", {"task": "sweep", "partition": partition, "tokens": tokens}

    scripted.streams[EVENTS] = [grew(1, 40), grew(2, 60), grew(1, 1_240)]
    await page.goto("/run?id=r000000000001")
    await page.get_by_text("P1 writes: 1,240 tokens so far, and 1 more at work.").wait_for()
    begun = {"partition": 3, "nodes": 20, "passes": 3, "keywords": []}
    scripted.streams[EVENTS] += [grew(2, 0), grew(1, 0), ("sweep_started", begun)]
    await page.reload()
    await page.get_by_text("20 nodes, 0 of 3 passes done").wait_for()
    assert await page.locator(".waits").is_hidden()


async def test_partitions_that_flags_name_are_marked_until_they_are_read(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.held[EVENTS] = asyncio.Event()
    sweep = {**SWEEP, "status": "accepted", "findings": ["It melts."], "targets": [2]}
    scripted.streams[EVENTS] = [ROUTED, ("sweep_finished", sweep)]
    await page.goto("/run?id=r000000000001")
    await page.locator(".board canvas").wait_for()
    before = await page.evaluate(PIXELS)
    scripted.held[EVENTS].set()
    await page.get_by_text("P1 points to it").wait_for()
    await page.get_by_text("an open flag").wait_for()
    await page.wait_for_function(f"{PIXELS} !== {before!r}")
    assert await page.get_by_text("It melts.").count() == 1


PIXELS = "document.querySelector('.board canvas').toDataURL()"


REPORT: dict[str, Any] = {
    "domain_state": "It is about ice.", "errors": [], "absences": ["No date."],
    "findings": [{
        "text": "It says that ice melts.", "quotes": [{"text": "ice melts", "found": True}],
        "citations": [
            {"alias": "n1", "partition": 1, "title": "Sea ice", "valid": True,
             "element_id": "4:a:1"},
            {"alias": "n9", "partition": 1, "title": None, "valid": False, "element_id": None},
        ],
    }],
    "flags": [{"text": "See there.", "target": 2, "citations": []}],
}  # fmt: skip


async def test_the_report_of_a_partition_opens_and_stays_open(
    page: Page, scripted: ScriptedServer
) -> None:
    link = "/api/runs/r000000000001/reports/1"
    scripted.answers[link] = REPORT
    ended = {**SWEEP, "status": "accepted", "findings": ["It says that ice melts."], "report": link}
    other = {**ended, "partition": 2, "status": "failed", "findings": [], "report": None}
    scripted.streams[EVENTS] = [("sweep_finished", ended), ("sweep_finished", other)]
    await page.goto("/run?id=r000000000001")
    await page.get_by_text("P2").wait_for()
    assert await page.locator("details.report").count() == 1
    await page.get_by_text("Report of P1").click()
    report = page.locator("details.report")
    await report.get_by_text("No date.").wait_for()
    assert await report.locator("mark").inner_text() == "ice melts"
    told = await report.inner_text()
    assert "To P2 See there." in told
    assert "n9 (was not shown)" in told
    # The stream broke off, and comes again: what it tells draws the list again.
    await page.wait_for_function("performance.now() > 3000")
    assert await report.evaluate("(element) => element.open")
    assert await page.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert scripted.seen[f"GET {link}"] == 1
    async with page.expect_request("**/api/graphs/papers/nodes/4%3Aa%3A1"):
        await report.get_by_role("button", name="Sea ice").click()
