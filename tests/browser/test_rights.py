"""The page offers what the server would do: operators of some graphs see less than the owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.scripted_page import GRAPH, OWNER, ScriptedServer

if TYPE_CHECKING:
    from playwright.async_api import Page

KEEPER = {**OWNER, "name": "keeper", "graphs": ["papers", "notes"]}
WATCHER = {**OWNER, "read_only": True}
DOCUMENT: dict[str, Any] = {
    "id": "a.md", "name": "a.md", "size": 9, "entities": 0, "relations": 0, "chunks": [],
    "stale": [], "unread": [],
}  # fmt: skip


def answers_for(me: dict[str, Any], *graphs: Any) -> dict[str, Any]:
    """The answers of a server with some graphs, one of whose documents is a.md."""
    papers = "/api/graphs/papers"
    return {
        "/api/me": me, "/api/graphs": [*graphs], f"{papers}/document": DOCUMENT,
        f"{papers}/documents": {"total": 0, "after": None, "documents": []},
        "/api/uploads": {"endings": [".md"], "most_bytes": 9, "most_files": 9},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("me", "looks", "changes"), [(OWNER, 1, 1), (WATCHER, 1, 0), (KEEPER, 0, 0)]
)
async def test_what_reaches_beyond_graphs_is_offered_to_those_who_may(
    page: Page, scripted: ScriptedServer, me: dict[str, Any], looks: int, changes: int
) -> None:
    scripted.answers = answers_for(me, GRAPH)
    await page.goto("/graphs?graph=papers")
    await page.get_by_role("heading", name="Graphs").wait_for()
    assert await page.get_by_role("link", name="Doctor").count() == looks
    inspect = page.get_by_role("button", name="See what the database holds")
    assert await inspect.count() == looks
    await page.goto("/document?graph=papers&id=a.md")
    await page.get_by_role("heading", name="a.md").wait_for()
    assert await page.get_by_label("Remove its text from answers too").count() == changes
    delete = page.get_by_role("button", name="Delete")
    assert await delete.count() == (0 if me["read_only"] else 1)


@pytest.mark.parametrize(("me", "offered"), [(OWNER, 1), (KEEPER, 0)])
async def test_the_first_screen_offers_the_demo_to_those_who_may_load_it(
    page: Page, scripted: ScriptedServer, me: dict[str, Any], offered: int
) -> None:
    scripted.answers = answers_for(me)
    await page.goto("/")
    await page.get_by_role("link", name="Make a graph of files.").wait_for()
    assert await page.get_by_role("button", name="Build the demo").count() == offered
    assert await page.get_by_role("link", name="See what the database").count() == offered
    assert await page.get_by_text("Or try the demo").count() == offered


async def test_a_graph_of_files_gets_one_of_the_names_that_its_operator_may_give(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers = answers_for(KEEPER, GRAPH)
    await page.goto("/documents?graph=papers")
    choice = page.get_by_label("Graph to make of them")
    await choice.wait_for()
    assert await choice.locator("option").all_inner_texts() == ["notes", "papers"]
    assert await choice.input_value() == "notes"
