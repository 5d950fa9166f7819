"""The page before a server that a test writes: no database, and answers in the order wanted."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from pgs_neo4j.web.page import page_files

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Route

BASE = "http://127.0.0.1:9"
"""Nothing listens there; each request is answered by the test."""
FILES = page_files()

OWNER: dict[str, Any] = {
    "name": "owner", "role": "operator", "graphs": None, "scope": {}, "read_only": False,
    "confirm_cost": None,
}  # fmt: skip
GRAPH = {
    "name": "papers", "labels": ["Paper"], "generation": "g1", "nodes": 40, "partitions": 2,
    "redefined": False,
}  # fmt: skip
RUN: dict[str, Any] = {
    "run": "r000000000001", "graph": "papers", "session": "default", "question": "Why?",
    "state": "complete", "answered": True, "outcome": None, "sweeps": [],
}  # fmt: skip


def view_paths() -> set[str]:
    """The paths of all views of the page, as its script has them."""
    script = FILES["app.js"].body.decode()
    paths = set(re.findall(r'^  "(/\w*)": \{ title: ', script, re.MULTILINE))
    assert len(paths) > 10
    return paths


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
    """Answers by path, or by method and path; what is not a text is JSON.

    ``streams`` are lists of events; with ``once``, nothing is known of them after the first answer.
    ``failures`` are errors with their status, and what is ``held`` waits. While ``refused``, all
    but the log-in needs a token. All answers have the ``headers``.
    """

    answers: dict[str, Any] = field(default_factory=dict)
    streams: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    failures: dict[str, tuple[int, Any]] = field(default_factory=dict)
    held: dict[str, asyncio.Event] = field(default_factory=dict)
    refused: bool = False
    once: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    bodies: list[Any] = field(default_factory=list)

    async def answer(self, route: Route) -> None:
        """Answer a request."""
        address = urlsplit(route.request.url)
        path = unquote(address.path)
        self.seen[f"{route.request.method} {path}"] += 1
        if route.request.headers.get("content-type") == "application/json":
            self.bodies.append(route.request.post_data_json)
        if path in self.held:
            await self.held[path].wait()
        if path in self.streams:
            last = int(route.request.headers.get("last-event-id", "0"))
            blocks = (
                f"event: {name}\nid: {number}\ndata: {json.dumps(data)}\n\n"
                for number, (name, data) in enumerate(self.streams[path], 1)
                if number > last
            )
            await self._fulfill(route, "text/event-stream", "".join(blocks))
            if self.once:
                del self.streams[path]
            return
        if path.startswith("/api/"):
            await self._tell(route, path, parse_qs(address.query))
            return
        file = FILES.get(path[1:]) or FILES["index.html"]
        await self._fulfill(route, file.kind, file.body)

    async def _tell(self, route: Route, path: str, query: dict[str, list[str]]) -> None:
        known: dict[str, Any] = {
            "/api/me": OWNER, "/api/graphs": [GRAPH], "/api/graphs/papers": GRAPH,
            "/api/login": {}, "/api/sessions": [], **self.answers,
        }  # fmt: skip
        known[path] = known.get(f"{route.request.method} {path}", known.get(path))
        missing = 404, {"error": "there is nothing here"}
        found = missing if known[path] is None else (200, known[path])
        status, told = self.failures.get(path) or found
        if path == "/api/login":
            self.refused = False
        elif self.refused:
            status, told = 401, {"error": "this needs a token", "code": "unauthenticated"}
        if callable(told):
            told = told(query)
        if isinstance(told, str):
            await self._fulfill(route, "text/html", told)
            return
        await self._fulfill(route, "application/json", json.dumps(told), status)

    async def _fulfill(self, route: Route, kind: str, body: str | bytes, status: int = 200) -> None:
        headers = self.headers | {"Content-Type": kind}
        await route.fulfill(status=status, headers=headers, body=body)


@asynccontextmanager
async def opened_place(browser: Browser) -> AsyncIterator[BrowserContext]:
    """Open a place for pages of scripted servers; to start one for each page takes seconds."""
    made = await browser.new_context(base_url=BASE)
    kept = await made.new_page()  # its process is that of the others
    await kept.route("**/*", lambda route: route.fulfill(body=""))
    await kept.goto("/")
    try:
        yield made
    finally:
        await made.close()


@asynccontextmanager
async def scripted_page(place: BrowserContext, server: ScriptedServer) -> AsyncIterator[Page]:
    """Open a page of that server; at its end, no script may have failed in it."""
    problems: list[str] = []
    page = await place.new_page()
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: problems.append(str(error)))
    await page.route("**/*", server.answer)
    try:
        yield page
        assert problems == []
    finally:
        await page.close()
