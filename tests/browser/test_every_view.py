"""Every view of the page: it survives a reload, and nobody is shut out of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from tests.browser.conftest import Window, opened_window
from tests.browser.scripted_page import view_paths
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import Held, Served

if TYPE_CHECKING:
    from playwright.async_api import Browser, ViewportSize

FIXED = (
    *("/", "/map", "/map?as=network", "/map?partition=1", "/runs", "/sessions", "/graphs"),
    *("/search?q=orbital+debris", "/generations", "/documents", "/jobs", "/cost", "/doctor"),
    *("/session?session=default", "/documents?graph=docs", "/document?graph=docs&id=bells.md"),
    *("/nothing", "/manual", "/manual/settings", "/manual/server"),
)
LOOKS: tuple[tuple[Literal["light", "dark"], ViewportSize], ...] = (
    ("light", {"width": 1280, "height": 720}),
    ("dark", {"width": 360, "height": 740}),
)
"""Both themes and both sizes: colors do not depend on the size, nor the layout on the theme."""
FOLLOW = """way => {
  const link = Object.assign(document.createElement('a'), {href: way});
  document.body.append(link);
  link.click();
  link.remove();
}"""


@pytest.fixture(scope="module")
async def pgs(
    endpoint: Endpoint, database: Database, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[PGS]:
    """An engine on papers and a document, with something to see in every view."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "bells.md").write_text("# Bells\n\nThe keeper counts eleven copper bells.\n")
    async with PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        llm_provider="extractive",
        embedder="none",
    ) as keeper:
        assert (await keeper.ingest(folder, "docs")).count("added") == 1
    async with engine_on_papers(endpoint, database) as opened:
        await opened.partitions.build("papers")
        await opened.jobs.run("papers")
        await opened.execute("What do the papers say?", graph="papers", full_sweep=True)
        yield opened


def test_no_view_is_left_out() -> None:
    ways = ("/run", "/job", "/node", *FIXED)
    assert view_paths() <= {way.partition("?")[0] for way in ways}


@pytest.fixture
async def ways(pgs: PGS, database: Database) -> list[str]:
    """The addresses of all views."""
    run, job = (await pgs.runs())[0].id, (await pgs.jobs())[0].id
    _, rows = await database.call("MATCH (p:Paper) RETURN elementId(p) AS id LIMIT 1", {}, "read")
    node = urlencode({"id": rows[0]["id"]})
    ways = [f"/run?id={run}", f"/job?id={job}", f"/node?{node}", *FIXED]
    return [_of_papers(way) for way in ways]


def _of_papers(way: str) -> str:
    """A browser remembers the graph that was chosen last."""
    if "graph=" in way or way.startswith("/manual"):
        return way
    return f"{way}{'&' if '?' in way else '?'}graph=papers"


async def faults_of(window: Window, view: str) -> dict[tuple[str, str], list[str]]:
    """What is wrong with a view in light on a wide screen, and in dark on a narrow one."""
    page, found = window.page, {}
    for scheme, size in LOOKS:
        await page.emulate_media(color_scheme=scheme)
        await page.set_viewport_size(size)
        found[view, scheme] = await window.violations()
        if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found[view, scheme].append("it is wider than the screen")
    return {seen: listed for seen, listed in found.items() if listed}


async def heading_of(window: Window) -> str:
    """The first heading of a view that raises no alarm."""
    assert await window.page.get_by_role("alert").count() == 0, window.page.url
    return await window.page.locator("h1").first.inner_text()


async def heading_after_reload(window: Window, address: str, before: str) -> str:
    """The first heading that an address shows, once the one from before is there."""
    await window.page.goto(address)
    await window.settled()
    await window.page.locator("h1", has_text=before).first.wait_for()
    return await heading_of(window)


@pytest.mark.nightly
async def test_every_view_is_open_to_all_and_survives_a_reload(
    window: Window, ways: list[str]
) -> None:
    """Each view is reached by a link and looked at; later its address is loaded again."""
    page = window.page
    found: dict[tuple[str, str], list[str]] = {}
    headings = {}
    for way in ways:
        if way.startswith("/manual"):
            await window.open(way)  # a page of its own
        else:
            await page.evaluate(FOLLOW, way)
            await window.settled()
        if way.startswith("/run?"):
            await page.locator(".answer button.cite").first.click()
            await page.locator("#panel").get_by_role("heading", name="Neighbors").wait_for()
            found |= await faults_of(window, "panel")
            await page.keyboard.press("Escape")
        found |= await faults_of(window, way)
        headings[page.url] = await heading_of(window)
    assert len(headings) == len(ways)
    for address, heading in headings.items():
        assert await heading_after_reload(window, address, heading) == heading
    assert found == {}


async def test_a_run_in_progress_is_open_to_all_and_survives_a_reload(
    window: Window, pgs: PGS
) -> None:
    page, model = window.page, Held(pgs)
    await window.open("/?graph=papers")
    await page.get_by_label("Question").fill("Why is it so?")
    await page.get_by_role("button", name="Ask", exact=True).click()
    await model.asked.wait()
    for _ in range(2):
        await page.locator(".board canvas").wait_for()
        await page.get_by_text("reading", exact=True).first.wait_for()
        assert await faults_of(window, "live") == {}
        assert await heading_of(window) == "Why is it so?"
        assert await heading_after_reload(window, page.url, "Why is it so?") == "Why is it so?"
    model.go.set()
    await page.locator(".answer").wait_for()


async def test_the_log_in_is_open_to_all_and_survives_a_reload(
    server: Served, browser: Browser
) -> None:
    async with opened_window(browser, server, server.base) as window:
        page = window.page
        assert await faults_of(window, "log-in") == {}
        assert await heading_after_reload(window, page.url, "Log in") == "Log in"
        await page.get_by_label("Token").fill("wrong")
        await page.get_by_role("button", name="Log in").click()
        await page.get_by_role("alert").wait_for()
        assert await faults_of(window, "refused") == {}
        await asyncio.sleep(0)
        assert all("401" in problem for problem in window.problems), window.problems
        window.problems.clear()
