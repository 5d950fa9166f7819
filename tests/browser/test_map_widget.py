"""The map for notebooks in a browser: it draws, takes clicks, and follows its traits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pgs_neo4j.adapters.map_module import widget_data, widget_module, widget_sheet
from pgs_neo4j.engine.browse.maps import draw_map
from pgs_neo4j.model import Partition
from tests.browser.conftest import WAIT_MS

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

HOSTILE = "<img src=x onerror=alert(1)>"
# What anywidget does: it imports the module from a blob, and gives it a model and an element.
HOST = """
async ({module, state}) => {
  const url = URL.createObjectURL(new Blob([module], {type: "text/javascript"}));
  const widget = (await import(url)).default;
  const listeners = {};
  window.state = state;
  window.saved = [];
  window.change = (name, value) => { state[name] = value; listeners["change:" + name]?.(); };
  const model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => window.saved.push([state.place, state.partition]),
    on: (name, listener) => { listeners[name] = listener; },
    off: (name) => { delete listeners[name]; },
  };
  window.clean = widget.render({model, el: document.querySelector("#cell")});
  window.listeners = listeners;
}
"""
COLOR = """
([x, y]) => {
  const canvas = document.querySelector("canvas");
  const ratio = canvas.width / canvas.clientWidth;
  return [...canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data];
}
"""
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
READ, UNREAD = [0x3C, 0x6E, 0xA8, 255], [0xD8, 0xDC, 0xE1, 255]
UNPROVEN = [0xB3, 0x9C, 0xE0, 255]


async def show(page: Page, problems: list[str]) -> None:
    """Show a map of two partitions of equal size, of which the left one was read."""
    page.set_default_timeout(WAIT_MS)
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.on("request", lambda one: None if one.url[:5] == "blob:" else problems.append(one.url))
    parts = [
        Partition(id=1, size=30, tokens=9, label=HOSTILE, pool=False),
        Partition(id=2, size=30, tokens=9, label="", pool=False),
    ]
    atlas, read = widget_data(draw_map("g1", parts), {1: 30})
    state: dict[str, Any] = {"atlas": atlas, "read": read, "drawing": "areas"}
    await page.set_content(f"<style>{widget_sheet()}</style><div id=cell></div>")
    await page.evaluate(HOST, {"module": widget_module(), "state": json.loads(json.dumps(state))})
    await page.evaluate(FRAMES)


async def test_a_click_tells_the_partition_and_colors_follow_reading_and_theme(
    browser: Browser,
) -> None:
    problems: list[str] = []
    place = await browser.new_context(color_scheme="light", offline=True)
    page = await place.new_page()
    await show(page, problems)
    box = await page.locator("canvas").bounding_box()
    assert box is not None
    left, right = ([box["width"] / 2 + side, box["height"] / 2 + 60] for side in (-60, 60))
    assert await page.evaluate(COLOR, left) == READ
    assert await page.evaluate(COLOR, right) == UNREAD
    await page.locator("canvas").click(position={"x": left[0], "y": left[1]})
    await page.locator("canvas").click(position={"x": right[0], "y": right[1]})
    assert await page.evaluate("window.saved") == [[1, 1], [2, 2]]
    assert await page.locator(".picked").inner_text() == "P2: 30 nodes, 0 read"

    await page.evaluate("change('unproven', [0, 5])")
    await page.evaluate(FRAMES)
    assert await page.evaluate(COLOR, right) == UNPROVEN
    assert await page.locator(".key.unproven").count() == 1
    await page.locator("canvas").click(position={"x": right[0], "y": right[1]})
    assert await page.locator(".picked").inner_text() == "P2: 30 nodes, 0 read, 5 shown, unproven"

    await page.evaluate("change('unproven', [0, 0])")
    assert await page.locator(".key.unproven").count() == 0
    await page.evaluate("change('read', [30, 30])")
    await page.evaluate(FRAMES)
    assert await page.evaluate(COLOR, right) == READ
    await page.locator("summary").click()
    await page.locator("button.link").first.click()
    assert await page.locator(".picked").inner_text() == f"P1 {HOSTILE}: 30 nodes, 30 read"
    assert await page.locator("img").count() == 0

    ink = "getComputedStyle(document.querySelector('.pgs-map')).color"
    light = await page.evaluate(ink)
    await page.evaluate("document.body.setAttribute('data-jp-theme-light', 'false')")
    assert (light, await page.evaluate(ink)) == ("rgb(27, 32, 37)", "rgb(226, 229, 233)")

    await page.evaluate("change('drawing', 'network')")
    await page.evaluate("clean()")
    assert await page.evaluate("Object.keys(listeners)") == []
    await place.close()
    assert problems == []
