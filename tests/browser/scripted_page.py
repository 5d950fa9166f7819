"""The page before a server that a test writes: no database, and answers in the order wanted."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from pgs_neo4j.web.page import page_files

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Route

BASE = "http://127.0.0.1:9"
"""Nothing listens there; each request is answered by the test."""

OWNER: dict[str, Any] = {
    "name": "owner", "role": "operator", "graphs": None, "read_only": False, "confirm_cost": None,
}  # fmt: skip
GRAPH = {
    "name": "papers", "labels": ["Paper"], "generation": "g1", "nodes": 40, "partitions": 2,
    "redefined": False,
}  # fmt: skip
RUN: dict[str, Any] = {
    "run": "r000000000001", "graph": "papers", "session": "default", "question": "Why?",
    "state": "complete", "answered": True, "outcome": None, "sweeps": [],
}  # fmt: skip


def place(id_: int, *partitions: int, left: float = 0.0) -> dict[str, Any]:
    """A place of a map that has room for two."""
    return {
        "id": id_, "label": f"place {id_}", "nodes": 20, "partitions": [*partitions], "pool": False,
        "x": left, "y": 0.5, "area": [left, 0.0, 0.8, 1.0],
    }  # fmt: skip


def atlas(generation: str = "g1", level: int = 0) -> dict[str, Any]:
    """A map of two partitions, or of two groups of some."""
    places = [place(1, 1, left=0.0), place(2, 2, left=0.8)]
    if level:
        places = [place(1, 1, 2, left=0.0), place(2, 3, 4, left=0.8)]
    return {"generation": generation, "level": level, "places": places, "links": []}


@dataclass
class ScriptedServer:
    """Answers by path; a list is a stream of events, and all else is JSON or a text.

    ``failures`` are errors with their status, and what is ``held`` waits. While ``refused``, all
    but the log-in needs a token.
    """

    answers: dict[str, Any] = field(default_factory=dict)
    streams: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    failures: dict[str, tuple[int, Any]] = field(default_factory=dict)
    held: dict[str, asyncio.Event] = field(default_factory=dict)
    refused: bool = False
    seen: Counter[str] = field(default_factory=Counter)
    bodies: list[Any] = field(default_factory=list)

    async def answer(self, route: Route) -> None:
        """Answer a request."""
        address = urlsplit(route.request.url)
        path = address.path
        self.seen[f"{route.request.method} {path}"] += 1
        if route.request.method == "POST":
            self.bodies.append(route.request.post_data_json)
        if path in self.held:
            await self.held[path].wait()
        if path in self.streams:
            blocks = (
                f"event: {name}\nid: {number}\ndata: {json.dumps(data)}\n\n"
                for number, (name, data) in enumerate(self.streams[path], 1)
            )
            await route.fulfill(content_type="text/event-stream", body="".join(blocks))
            return
        if path.startswith("/api/"):
            await self._tell(route, path, parse_qs(address.query))
            return
        file = page_files().get(path[1:]) or page_files()["index.html"]
        await route.fulfill(content_type=file.kind, body=file.body)

    async def _tell(self, route: Route, path: str, query: dict[str, list[str]]) -> None:
        known: dict[str, Any] = {
            "/api/me": OWNER, "/api/graphs": [GRAPH], "/api/graphs/papers": GRAPH,
            "/api/login": {}, "/api/sessions": [], **self.answers,
        }  # fmt: skip
        missing = 404, {"error": "there is nothing here"}
        status, told = self.failures.get(path) or ((200, known[path]) if path in known else missing)
        if path == "/api/login":
            self.refused = False
        elif self.refused:
            status, told = 401, {"error": "this needs a token", "code": "unauthenticated"}
        if callable(told):
            told = told(query)
        if isinstance(told, str):
            await route.fulfill(content_type="text/html", body=told)
            return
        await route.fulfill(status=status, content_type="application/json", body=json.dumps(told))


@asynccontextmanager
async def scripted_page(browser: Browser, server: ScriptedServer) -> AsyncIterator[Page]:
    """Open a page of that server; at its end, no script may have failed in it."""
    place_ = await browser.new_context(base_url=BASE)
    place_.set_default_timeout(20_000)
    problems: list[str] = []
    page = await place_.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    await page.route("**/*", server.answer)
    try:
        yield page
        assert problems == []
    finally:
        await place_.close()
