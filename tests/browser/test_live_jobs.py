"""Jobs of the server: found again, followed, and stopped after the page was left."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.browser.scripted_page import ScriptedServer

if TYPE_CHECKING:
    from playwright.async_api import Page

LIVE = "/api/jobs/live"
JOB: dict[str, Any] = {
    "job": "b000000000001", "graph": "papers", "kind": "ingest", "state": "running",
    "events": f"{LIVE}/b000000000001/events", "record": None,
}  # fmt: skip


async def test_a_job_is_followed_and_stopped_after_a_reload(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers = {"/api/jobs": [], LIVE: [JOB], f"{LIVE}/b000000000001": JOB}
    scripted.held[JOB["events"]] = asyncio.Event()
    scripted.streams[JOB["events"]] = [("cancelled", {"job": JOB["job"]})]
    await page.goto("/jobs?graph=papers")
    await page.get_by_text("ingest on papers").wait_for()
    await page.get_by_role("link", name="Follow it").click()
    await page.get_by_role("progressbar").wait_for()
    assert await page.get_by_role("link", name="Follow it").count() == 0
    await page.reload()
    await page.get_by_role("button", name="Stop the job").click()
    scripted.answers[LIVE] = []
    scripted.held[JOB["events"]].set()
    await page.get_by_text("What it had done by then stays.").wait_for()
    assert scripted.seen[f"DELETE {LIVE}/b000000000001"] == 1


async def test_a_job_that_was_started_is_followed_after_a_reload(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers = {"/api/jobs": lambda query: [] if query else JOB, LIVE: [JOB]}
    scripted.held[JOB["events"]] = asyncio.Event()
    scripted.streams[JOB["events"]] = [("ended", {"record": "j1"})]
    await page.goto("/jobs?graph=papers")
    await page.get_by_role("button", name="Repartition now").click()
    await page.wait_for_url("**live=b000000000001")
    await page.reload()
    await page.get_by_role("progressbar").wait_for()
    scripted.answers[LIVE] = []
    scripted.held[JOB["events"]].set()
    await page.get_by_text("The job has ended.").wait_for()
    assert scripted.seen["POST /api/jobs"] == 1
