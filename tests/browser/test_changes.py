"""A graph that changes: what the map shows of it, and the generation that a job makes."""

from __future__ import annotations

import re

import pytest

from pgs_neo4j.database.connection import Database
from tests.browser.conftest import Window

FLAGGED = """
MATCH (:PgsGraph {name: 'papers'})-[:PGS_CURRENT]->(g)<-[:PGS_PART_OF]-(p:PgsPartition {id: 1})
MATCH (w:PgsSweep)-[:PGS_READ]->(p)
CREATE (:PgsFlag {id: 'x', text: 'look over there', place: 0, target: 2})-[:PGS_FROM]->(w)
CREATE (:PgsAnalogies {graph: 'papers', making: 'm'})
WITH p, g MATCH (p)<-[:PGS_IN {rank: 0}]-(a)
MATCH (b)-[:PGS_IN {rank: 0}]->(:PgsPartition {id: 3})-[:PGS_PART_OF]->(g)
CREATE (a)-[:PGS_ISOMORPHIC {
  delta: 0.5, skeleton: 0.9, raw: 0.1, graph: 'papers', making: 'm'
}]->(b)
"""


@pytest.mark.nightly
async def test_the_map_shows_arcs_and_what_changed_and_a_job_makes_another_generation(
    window: Window, database: Database
) -> None:
    page = window.page
    await window.ask("What do the papers say about sleep?")
    await database.call(FLAGGED, {}, "write")
    await window.open("/map")
    await page.get_by_role("checkbox", name="Analogies").check()
    await page.get_by_role("table", name="Analogies").wait_for()
    linked = await page.get_by_role("table", name="Analogies").inner_text()
    assert re.search(r"P1\s+P3\s+1\s+Paper \d+ ↔ Paper \d+", linked)
    await page.get_by_role("checkbox", name="Flags").focus()
    await page.keyboard.press("Space")
    flags = page.get_by_role("table", name="Flags")
    await flags.get_by_text("look over there").wait_for()
    assert "followed up" in await flags.inner_text()
    assert await page.locator(".legend .line").count() == 3
    assert await window.violations() == []
    await page.reload()
    await flags.get_by_text("look over there").wait_for()
    await page.get_by_role("checkbox", name="Flags").uncheck()
    await flags.wait_for(state="detached")
    await database.call("MATCH (p:Paper {doi: 'doi/1'}) DETACH DELETE p", {}, "write")
    await page.get_by_label("Colors").select_option("what changed since")
    await page.get_by_role("columnheader", name="Changed or gone").wait_for()
    shares = await page.locator("main table").first.inner_text()
    assert (shares.count("0 %"), shares.count("2.5 %")) == (3, 1)
    assert await window.violations() == []
    await page.get_by_label("Colors").select_option("their size")
    await page.get_by_role("columnheader", name="Of the largest").wait_for()
    await page.get_by_role("link", name="Jobs").click()
    await page.get_by_role("button", name="Repartition now").click()
    await page.get_by_text("The job has ended.").wait_for()
    assert "repartitioned" in await page.locator("main table").inner_text()
    await page.get_by_role("link", name="Generations").click()
    await page.locator("svg.flow").wait_for()
    assert await page.locator("svg.flow path").count() == 4
    assert "1 shrank" in await page.locator("main").inner_text()
    await page.get_by_label("From").select_option(index=0)
    await page.get_by_label("To").wait_for()
    assert await page.locator("svg.flow").count() == 0, "a generation is like itself"
