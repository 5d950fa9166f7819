"""Hundreds of hostile texts in every field of every view: they are shown, and that is all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from pgs_neo4j.web.access import guard
from tests.browser.hostile_answers import VIEWS, Fields, View
from tests.browser.inert import Watch, check_inert, made_of_texts, note_marks
from tests.browser.scripted_page import BASE, ScriptedServer, opened_place, view_paths
from tests.hostile import hostile_texts

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

DROP = """names => {
  const moved = new DataTransfer();
  for (const name of names) moved.items.add(new File(['x'], name));
  const told = {bubbles: true, cancelable: true, dataTransfer: moved};
  document.querySelector('main').dispatchEvent(new DragEvent('drop', told));
}"""


@pytest.fixture(scope="module")
async def watched(browser: Browser) -> AsyncIterator[tuple[BrowserContext, Watch]]:
    """Where all pages open, and what goes wrong in them."""
    async with opened_place(browser) as place:
        watch = Watch(BASE)
        await watch.begin(place)
        yield place, watch


@asynccontextmanager
async def watched_page(
    watched: tuple[BrowserContext, Watch], server: ScriptedServer
) -> AsyncIterator[tuple[Page, Watch]]:
    """A page of that server; nothing of it is left for the next one."""
    place, watch = watched
    page = await place.new_page()
    page.set_default_timeout(60_000)
    await page.route("**/*", server.answer)
    try:
        yield page, watch
    finally:
        await page.close()
        watch.problems.clear()


async def use(page: Page, view: View) -> None:
    """Open a view, drop its files, and press its buttons."""
    await page.goto(view.way)
    if view.files:
        await page.locator("section.drop").wait_for()
        await page.evaluate(DROP, [*view.files])
    for name in view.buttons:
        inside = page.get_by_role("dialog") if name.startswith("dialog ") else page
        button = inside.get_by_role("button", name=name.removeprefix("dialog "), exact=True)
        await button.wait_for()
        await note_marks(page)
        await button.click()


def test_no_view_is_left_out() -> None:
    ways = (view.way for view in VIEWS.values())
    assert view_paths() <= {way.partition("?")[0].partition("#")[0] for way in ways}


@pytest.mark.parametrize("name", VIEWS)
async def test_texts_are_only_shown(watched: tuple[BrowserContext, Watch], name: str) -> None:
    fields = Fields()
    view = fields.fill_view(VIEWS[name])
    assert len({*fields.marks}) >= 20
    server = ScriptedServer(view.answers, view.streams, view.failures, once=True)
    server.headers = guard.HEADERS
    async with watched_page(watched, server) as (page, watch):
        await use(page, view)
        await check_inert(page, watch, fields.marks)


AS_MARKUP = """texts => {
  for (const text of texts) document.body.append(Object.assign(
    document.createElement('main'), {innerHTML: text}));
}"""


async def test_the_texts_run_where_nothing_stops_them(
    watched: tuple[BrowserContext, Watch],
) -> None:
    """Or the test above would find nothing."""
    texts = dict(hostile_texts())
    assert len({*texts.values()}) >= 200
    server = ScriptedServer({"/api/blank": "<!doctype html><title>x</title>"})
    async with watched_page(watched, server) as (page, watch):
        await page.route("**/*evil.example/**", lambda route: route.fulfill(status=204))
        await page.goto("/api/blank")
        await page.evaluate(AS_MARKUP, [*texts.values()])
        ran: set[str] = set()
        while len(ran) < 40:
            await page.evaluate("() => new Promise(requestAnimationFrame)")
            ran = {one.removeprefix("ran: ") for one in watch.problems if one.startswith("ran: ")}
        assert ran <= {*texts}
        assert len(await made_of_texts(page)) > 100
        assert [one for one in watch.problems if one.startswith("a request: ")]
