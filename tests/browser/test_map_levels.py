"""The map of a graph with so many partitions that it shows groups of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.scripted_page import ScriptedServer, atlas, place

if TYPE_CHECKING:
    from playwright.async_api import Page

PART: dict[str, Any] = {
    "id": 3, "label": "three", "nodes": 10, "tokens": 100, "pool": False, "keywords": ["ice"],
    "abstract": "It is about ice.", "adjacent": [{"partition": 4, "relationships": 5}],
}  # fmt: skip
MEMBER = {"element_id": "4:a:1", "title": "Sea ice", "labels": ["Paper"]}


@pytest.fixture
def scripted() -> ScriptedServer:
    """A server with a map of two groups."""
    papers = "/api/graphs/papers"
    return ScriptedServer(
        {
            f"{papers}/map": lambda query: atlas(level=0 if "within" in query else 1),
            f"{papers}/read": [],
            f"{papers}/partitions": {
                "generation": "g1",
                "total": 2,
                "after": None,
                "partitions": [{**PART, "id": id_} for id_ in (1, 2)],
            },
            f"{papers}/partitions/3": PART,
            f"{papers}/partitions/4": {**PART, "id": 4, "label": "four"},
            f"{papers}/partitions/3/members": {"members": [MEMBER], "after": None},
            f"{papers}/partitions/4/members": {"members": [], "after": None},
        }
    )


async def test_a_link_to_a_partition_opens_it_though_the_map_shows_groups(
    page: Page, scripted: ScriptedServer
) -> None:
    await page.goto("/map?graph=papers&partition=3")
    panel = page.locator("#panel")
    await panel.get_by_role("button", name="Sea ice").wait_for()
    assert await panel.locator("h2").first.inner_text() == "P3 three"
    assert "It is about ice." in await panel.inner_text()
    await panel.get_by_role("link", name="P4").click()
    await panel.get_by_role("heading", name="P4 four").wait_for()
    assert "2 groups of partitions" in await page.locator("main").inner_text()


async def test_a_group_opens_and_a_link_leads_to_a_partition_of_another(
    page: Page, scripted: ScriptedServer
) -> None:
    await page.goto("/map?graph=papers")
    await page.locator("main table button.link").first.click()
    await page.get_by_role("link", name="All of the graph").wait_for()
    await page.goto(f"{page.url}&partition=3")
    await page.locator("#panel").get_by_role("heading", name="P3 three").wait_for()
    assert scripted.seen["GET /api/graphs/papers/partitions/3"] == 1


async def test_a_partition_that_is_gone_is_said_to_be(page: Page, scripted: ScriptedServer) -> None:
    gone = {"error": "graph papers has no partition 9; it has 4"}
    scripted.failures["/api/graphs/papers/partitions/9"] = (400, gone)
    await page.goto("/map?graph=papers&partition=9")
    await page.locator("#status").get_by_text("has no partition 9").wait_for()
    await page.get_by_role("heading", name="Map of papers").wait_for()
    assert await page.locator("#panel").is_hidden()


def page_of(query: dict[str, list[str]]) -> dict[str, Any]:
    """A page of 300 partitions, of which the first says "ice 1"."""
    start, limit = int(query.get("after", ["0"])[0]), int(query["limit"][0])
    ids = range(start + 1, min(start + limit, 300) + 1)
    return {
        "generation": "g1", "total": 300, "after": ids[-1] if ids[-1] < 300 else None,
        "partitions": [{**PART, "id": id_, "keywords": [f"ice {id_}"]} for id_ in ids],
    }  # fmt: skip


async def test_the_list_below_a_map_comes_in_pages(page: Page, scripted: ScriptedServer) -> None:
    places = [place(id_, id_, left=id_ / 400) for id_ in range(1, 301)]
    papers = "/api/graphs/papers"
    scripted.answers[f"{papers}/map"] = {**atlas(), "places": places}
    scripted.answers[f"{papers}/partitions"] = page_of
    await page.goto("/map?graph=papers")
    more = page.get_by_role("button", name="List more")
    await more.wait_for()
    rows = page.locator("main tbody tr")
    assert await rows.count() == 200
    await more.click()
    await page.locator("main").get_by_text("ice 300").wait_for()
    assert (await rows.count(), await more.is_hidden()) == (300, True)
    assert scripted.seen[f"GET {papers}/partitions"] == 2


async def test_a_place_that_is_not_listed_yet_opens_from_the_map(
    page: Page, scripted: ScriptedServer
) -> None:
    papers = "/api/graphs/papers"
    scripted.answers[f"{papers}/map"] = {**atlas(), "places": [place(3, 3)]}
    empty = {"generation": "g1", "total": 1, "after": None, "partitions": []}
    scripted.answers[f"{papers}/partitions"] = empty
    await page.goto("/map?graph=papers")
    await page.locator("main tbody button").click()
    await page.locator("#panel").get_by_text("It is about ice.").wait_for()
    assert scripted.seen[f"GET {papers}/partitions/3"] == 1
