"""Graphs that are made on the page: of what a database holds, of the demo, and of documents."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.demo import graph
from pgs_neo4j.engine.demo.graph import DEMO_QUESTIONS, build_demo
from tests.browser.conftest import Window
from tests.conftest import Endpoint
from tests.engines import KNOBS

DROP = """files => {
  const moved = new DataTransfer();
  for (const [name, text] of files) moved.items.add(new File([text], name));
  const told = {bubbles: true, cancelable: true, dataTransfer: moved};
  document.querySelector('main').dispatchEvent(new DragEvent('dragover', told));
  document.querySelector('main').dispatchEvent(new DragEvent('drop', told));
}"""
TEXT = "The lighthouse keeper counts eleven copper bells in the vault below the stairs."


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine without a graph."""
    settings: dict[str, Any] = {"llm_provider": "extractive", "max_document_mb": 0.01, **KNOBS}
    await db.call("CREATE (:Paper {title: 'One', abstract: 'The only one.'})", {}, "write")
    async with PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        **settings,
    ) as opened:
        yield opened


async def test_a_database_without_graphs_says_how_to_begin(window: Window, pgs: PGS) -> None:
    page = window.page
    await page.get_by_role("heading", name="No graph is here yet").wait_for()
    assert await window.violations() == []
    await page.get_by_role("link", name=re.compile("add a graph")).click()
    await page.get_by_role("button", name="See what the database holds").click()
    await page.get_by_label("Name").fill("mine")
    await page.get_by_role("button", name="Add").click()
    await page.get_by_role("heading", name="Ask mine").wait_for()
    assert [graph.name for graph in await pgs.graphs()] == ["mine"]


async def test_a_graph_without_labels_is_one_of_all_labels(window: Window, pgs: PGS) -> None:
    page = window.page
    await page.get_by_role("link", name=re.compile("add a graph")).click()
    await page.get_by_role("button", name="See what the database holds").click()
    await page.get_by_label("Name").fill("mine")
    await page.get_by_role("textbox", name="Labels").fill(" , ")
    await page.get_by_role("button", name="Add").click()
    await page.get_by_role("heading", name="Ask mine").wait_for()
    assert (await pgs.graphs.get("mine")).mapping.labels == ()


async def test_a_button_builds_the_demo_where_there_is_no_graph(
    window: Window, pgs: PGS, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("brush", "paint"):
        lines = (f'def {name}{i}():\n    """Handle {name} number {i}."""' for i in range(30))
        (tmp_path / f"{name}.py").write_text("\n".join(lines))
    small = build_demo(tmp_path)
    monkeypatch.setattr(graph, "build_demo", lambda: small)
    await window.page.get_by_role("button", name="Build the demo").click()
    await window.page.get_by_role("heading", name="Ask stdlib").wait_for()
    assert await window.page.get_by_label("Question").input_value() == DEMO_QUESTIONS[0]
    (stored,) = await pgs.graphs()
    assert (stored.name, stored.node_count) == ("stdlib", 62)


async def drop(window: Window, *files: tuple[str, str]) -> None:
    await window.page.evaluate(DROP, [list(file) for file in files])


@pytest.mark.nightly
async def test_files_are_dropped_refused_updated_and_deleted(window: Window) -> None:
    page = window.page
    main = page.locator("main")
    await window.open("/documents")
    await page.get_by_label("Graph to make of them").fill("notes")
    await drop(window, ("bells.md", TEXT), ("rivers.txt", "Rivers run to the sea."))
    await page.get_by_role("heading", name="Documents of notes").wait_for()
    assert await page.locator("main table a").all_inner_texts() == ["bells.md", "rivers.txt"]

    many = ("large.md", "x" * 10_001)
    await drop(window, ("a.exe", "x"), many, ("e.md", ""), ("bells.md", TEXT), ("n.md", TEXT))
    await page.get_by_role("alert").wait_for()
    refused = await page.get_by_role("alert").inner_text()
    assert "3 files were not taken" in refused
    assert "a.exe: No reader takes .exe; the endings that can be read are .txt" in refused
    assert "large.md: It is larger than 0.01 MB; raise max_document_mb" in refused
    assert "e.md: It is empty." in refused
    await page.get_by_role("region", name="What became of the files").wait_for()
    outcome = await page.get_by_role("region", name="What became of the files").inner_text()
    assert ("unchanged" in outcome, "added" in outcome) == (True, True)
    await page.get_by_role("link", name="n.md").last.wait_for()
    assert await window.violations() == []

    await page.get_by_label("or choose files").set_input_files(
        {"name": "n.md", "mimeType": "text/markdown", "buffer": b"It was changed since."}
    )
    await page.locator(".badge.confirmed", has_text="changed").wait_for()
    await page.get_by_role("region", name="Documents", exact=True).get_by_text("bells.md").click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Delete").click()
    await page.get_by_role("heading", name="Deleted").wait_for()
    assert "nothing holds them" in await main.inner_text()
    await page.get_by_role("link", name="Documents", exact=True).click()
    await page.get_by_text("2 documents.").wait_for()


async def test_a_folder_is_dropped_with_all_that_is_below_it(
    window: Window, tmp_path: Path
) -> None:
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notes" / ".hidden.md").write_text(TEXT)
    (tmp_path / "notes" / "bells.md").write_text(TEXT)
    (tmp_path / "notes" / "deep" / "rivers.txt").write_text("Rivers run to the sea.")
    dragged = {"items": [], "files": [str(tmp_path / "notes")], "dragOperationsMask": 1}
    page = window.page
    await window.open("/documents")
    await page.get_by_label("Graph to make of them").fill("notes")
    mouse = await page.context.new_cdp_session(page)
    for event in ("dragEnter", "dragOver", "drop"):
        told = {"type": event, "x": 300, "y": 300, "data": dragged}
        await mouse.send("Input.dispatchDragEvent", told)
    await page.get_by_role("heading", name="Documents of notes").wait_for()
    found = await page.locator("main table a").all_inner_texts()
    assert found == ["bells.md", "deep/rivers.txt"]


async def test_a_server_that_only_reads_takes_no_files(window: Window) -> None:
    await window.page.route(
        "**/api/me",
        lambda route: route.fulfill(
            json={"name": "owner", "role": "operator", "graphs": None, "scope": {}, "version": "0",
                  "read_only": True, "confirm_cost": None}
        ),
    )  # fmt: skip
    await window.open("/documents")
    assert await window.page.get_by_label("or choose files").count() == 0
    assert "pgs ingest" in await window.page.locator("main").inner_text()
