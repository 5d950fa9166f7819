"""A run that is followed on the page: what the events of the server make of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.scripted_page import GRAPH, RUN, ScriptedServer, atlas, scripted_page

if TYPE_CHECKING:
    from playwright.async_api import Browser

LIVE: dict[str, Any] = {**RUN, "state": "running", "answered": False}
EVENTS = "/api/runs/r000000000001/events"
SWEEP = {"partition": 1, "status": "read", "nodes": 20, "nodes_read": 20, "findings": 3}


@pytest.fixture
def server() -> ScriptedServer:
    """A server with one run in progress on a graph with a map."""
    return ScriptedServer(
        {"/api/runs/r000000000001": LIVE, "/api/graphs/papers/map": atlas()}, {EVENTS: []}
    )


async def test_a_run_of_another_process_is_said_to_be_one(
    browser: Browser, server: ScriptedServer
) -> None:
    record = {**LIVE, "elsewhere": True}
    server.answers["/api/runs/r000000000001"] = record
    server.held[EVENTS] = asyncio.Event()
    server.streams[EVENTS] = [("snapshot", {**record, "sweeps": [SWEEP]})]
    async with scripted_page(browser, server) as page:
        await page.goto("/run?id=r000000000001")
        await page.get_by_text("in progress in another process").wait_for()
        assert await page.get_by_role("button", name="Stop").count() == 0
        server.held[EVENTS].set()
        await page.get_by_text("20 of 20 nodes").wait_for()
