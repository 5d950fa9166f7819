"""A browser before the page of a server; the database is real, and the model is scripted."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pgs_neo4j.database.connection import Database, connect
from pgs_neo4j.engine import PGS
from tests.browser.scripted_page import ScriptedServer, opened_place, scripted_page
from tests.conftest import Endpoint
from tests.database import empty
from tests.engines import engine_on_papers
from tests.serving import Served, served

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

CHROMIUM = shutil.which("chromium")
HERE = Path(__file__).parent
WAIT_MS = 60_000
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# What passes is neither told in full nor sent: that takes as long as looking for what does not. Nor
# are style sheets and media loaded once more, for rules about sound and about turning a screen.
VIOLATIONS = """tags => axe.run({
  runOnly: {type: 'tag', values: tags}, resultTypes: ['violations'], preload: false
}).then((found) => found.violations)"""


@dataclass(frozen=True, slots=True)
class Window:
    """A page of the browser, and what went wrong in it."""

    page: Page
    server: Served
    problems: list[str] = field(default_factory=list)

    async def open(self, way: str) -> None:
        """Open an address of the server, and wait until its view is there."""
        await self.page.goto(f"{self.server.base}{way}")
        await self.settled()

    async def ask(self, question: str) -> None:
        """Ask a question about all partitions, and wait for the answer."""
        await self.page.get_by_label("Question").fill(question)
        await self.page.get_by_label("Read every partition").check()
        await self.page.get_by_role("button", name="Ask", exact=True).click()
        await self.page.locator(".answer").wait_for()

    async def settled(self) -> None:
        """Wait until the view has loaded."""
        await self.page.locator("main#view h1").wait_for()
        await self.page.locator("text=Loading…").wait_for(state="detached")

    async def violations(self) -> list[str]:
        """What axe-core finds against WCAG 2.2 AA."""
        if await self.page.evaluate("!window.axe"):
            axe = files("axe_playwright_python").joinpath("axe.min.js").read_text()
            await self.page.evaluate(axe)
        found: Any = await self.page.evaluate(VIOLATIONS, WCAG)
        return [
            f"{one['id']}: {node['html'][:200]}: {node['failureSummary']}"
            for one in found
            for node in one["nodes"]
        ]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this folder is thorough."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Debian's Chromium."""
    if find_spec("playwright") is None or find_spec("axe_playwright_python") is None:
        pytest.skip("playwright or axe-playwright-python is not installed (extra browser)")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        await opened.close()


@pytest.fixture(scope="module")
async def database(browser: Browser, endpoint: Endpoint) -> AsyncIterator[Database]:
    """A connection to the test database, which all tests of a file fill and none empties."""
    assert browser.is_connected()
    async with connect(endpoint.uri, endpoint.user, endpoint.password) as opened:
        await empty(opened)
        yield opened


@pytest.fixture(scope="module")
async def pgs(endpoint: Endpoint, database: Database) -> AsyncIterator[PGS]:
    """An engine on four topics of papers; who changes them is alone in a file."""
    async with engine_on_papers(endpoint, database) as opened:
        await opened.partitions.build("papers")
        yield opened


@pytest.fixture
async def server(pgs: PGS) -> AsyncIterator[Served]:
    """A server of that engine."""
    async with served(pgs) as running:
        yield running


@pytest.fixture
async def window(browser: Browser, server: Served) -> AsyncIterator[Window]:
    """A window that followed the link; at its end, nothing may have gone wrong in it."""
    async with opened_window(browser, server) as made:
        yield made


@asynccontextmanager
async def opened_window(
    browser: Browser, server: Served, way: str = "", **context: Any
) -> AsyncIterator[Window]:
    """Open a window by the link of a server."""
    place = await browser.new_context(base_url=server.base, **context)
    place.set_default_timeout(WAIT_MS)
    made = Window(await place.new_page(), server)
    _watch(made)
    try:
        await made.page.goto(way or server.link)
        await made.settled()
        yield made
        await asyncio.sleep(0)
        assert made.problems == []
    finally:
        await place.close()


@pytest.fixture
def scripted() -> ScriptedServer:
    """A server that a test writes; files have servers of their own."""
    return ScriptedServer()


@pytest.fixture(scope="session")
async def place(browser: Browser) -> AsyncIterator[BrowserContext]:
    """Where pages of scripted servers open."""
    async with opened_place(browser) as made:
        yield made


@pytest.fixture
async def page(place: BrowserContext, scripted: ScriptedServer) -> AsyncIterator[Page]:
    """A page of the scripted server."""
    async with scripted_page(place, scripted) as opened:
        yield opened


@asynccontextmanager
async def second_tab(window: Window) -> AsyncIterator[Window]:
    """Open the address of a window once more in the same browser."""
    made = Window(await window.page.context.new_page(), window.server)
    _watch(made)
    await made.page.goto(window.page.url)
    await made.settled()
    yield made
    await asyncio.sleep(0)
    assert made.problems == []


def _watch(window: Window) -> None:
    """Note whatever goes wrong in a window."""
    page, base, note = window.page, window.server.base, window.problems.append
    page.on("console", lambda said: note(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: note(str(error)))
    page.on("dialog", lambda dialog: note(f"a dialog: {dialog.message}"))
    page.on("request", lambda request: None if request.url.startswith(base) else note(request.url))
