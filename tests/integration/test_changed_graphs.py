"""Searches of a graph that another client has changed since it was partitioned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgs_neo4j.cli.pages import found_page
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.schema import read_change_token
from pgs_neo4j.model import Found, SearchMode
from pgs_neo4j.search.indexes import drop_indexes, make_indexes, want_vectors
from pgs_neo4j.search.paths import words
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on_papers, without_models
from tests.graphs import MAPPING, papers

CHANGES = """
UNWIND range(1, 25) AS i
CREATE (:Paper {doi: 'new/' + i, title: 'Tungsten ' + i, abstract: 'On zirconium alloys'})
WITH count(*) AS added
MATCH (p:Paper {doi: 'doi/101'}) SET p.abstract = 'Now it is about praseodymium'
WITH p
MATCH (q:Paper {doi: 'doi/102'}) DETACH DELETE q
"""
COMMAND = "run: pgs partition --graph papers"
MODES: tuple[SearchMode, ...] = ("naive", "local", "global", "hybrid", "mix", "multipath", "auto")


def advice(found: Found) -> list[str]:
    return [note for note in found.warnings if note.endswith(COMMAND)]


def keys(found: Found) -> list[str]:
    return [item.key for item in found.items]


@pytest.mark.parametrize("mode", [*MODES, "triplets", "structural"])
async def test_texts_that_another_client_wrote_are_found_in_every_mode(
    endpoint: Endpoint, db: Database, mode: SearchMode
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partitions.build("papers")
        fresh = await pgs.search("fact101", graph="papers", mode=mode)
        assert (fresh.changed, advice(fresh)) == (False, [])
        await alter(db, CHANGES)
        added = await pgs.search("Tungsten and zirconium", graph="papers", mode=mode)
        assert added.changed
        assert len(advice(added)) == 1
        assert keys(added)
        assert all(key.startswith("new/") for key in keys(added))
        changed = await pgs.search("praseodymium", graph="papers", mode=mode)
        assert keys(changed)[0] == "doi/101"
        # Neither what a node said once nor a node that is gone is found.
        assert "text" not in _scores(await pgs.search("fact101", graph="papers"), "doi/101")
        assert "doi/102" not in keys(await pgs.search("fact102", graph="papers", mode=mode))
        await pgs.partitions.build("papers")
        again = await pgs.search("Tungsten and zirconium", graph="papers", mode=mode)
        assert (again.changed, advice(again)) == (False, [])
        assert keys(again)


async def test_a_plan_of_a_changed_graph_does_not_say_that_nothing_matches(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partitions.build("papers")
        plan = await pgs.plan("Tungsten?", graph="papers")
        assert "no text in the graph matches" in plan.routing.note
        await alter(db, CHANGES)
        plan = await pgs.plan("Tungsten?", graph="papers")
        assert "it may have changed since" in plan.routing.note
        assert "no text in the graph matches" not in plan.routing.note
        assert plan.partitions_note.startswith("the graph has changed")


def _scores(found: Found, key: str) -> dict[str, float]:
    return next((dict(item.scores) for item in found.items if item.key == key), {})


async def test_a_large_graph_that_changed_is_never_said_to_hold_nothing(
    endpoint: Endpoint, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "MOST_READ_TOKENS", 0)
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partitions.build("papers")
        nothing = await pgs.search("Tungsten", graph="papers")
        assert found_page.lines(nothing, 100)[0] == "nothing in the graph matches the question"
        await alter(db, CHANGES)
        found = await pgs.search("Tungsten", graph="papers")
        assert (found.items, found.changed) == ((), True)
        assert found_page.lines(found, 100)[0] == found_page.CHANGED
        assert found_page.as_json(found)["changed"] is True
        assert "may not be found" in advice(found)[0]
        # A text that changed no longer counts by what it said.
        assert "doi/101" not in keys(await pgs.search("fact101", graph="papers", mode="naive"))
        answered = await pgs.search("Tungsten", graph="papers", answer=True)
        assert answered.answer is not None
        assert "has changed since" in answered.answer.text
        assert "in the graph matches" not in answered.answer.text


@pytest.mark.schema
async def test_indexes_of_ours_are_no_change_of_the_graph(endpoint: Endpoint, db: Database) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partitions.build("papers")
        for _ in range(2):  # the second time, there is nothing to make or to drop
            await pgs.indexes.create("papers", text=True)
            found = await pgs.search("fact101", graph="papers")
            assert (found.changed, advice(found)) == (False, [])
        assert await pgs.indexes.drop()
        assert not (await pgs.search("fact101", graph="papers")).changed
        assert (await pgs.partitions.build("papers")).reused
        await pgs.indexes.create("papers", text=True)
        await alter(db, CHANGES)
        assert (await pgs.search("fact101", graph="papers")).changed
        # What another client does to the schema is not counted as ours.
        await pgs.partitions.build("papers")
        await alter(db, "CREATE INDEX by_others FOR (n:Paper) ON (n.title)")
        assert (await pgs.search("fact101", graph="papers")).changed


@pytest.mark.schema
async def test_a_vector_index_of_ours_leaves_the_change_token(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partitions.build("papers")
        before = await read_change_token(db)
        assert before is not None
        wanted = want_vectors(replace(MAPPING, embedding="abstract"), 8)
        for _ in range(2):
            await make_indexes(db, wanted)
            assert await read_change_token(db) == before
        for _ in range(2):
            await drop_indexes(db)
            assert await read_change_token(db) == before


async def test_a_plan_of_a_search_says_that_the_graph_changed(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partitions.build("papers")
        assert (await pgs.search.plan("fact101", graph="papers")).notes == ()
        await alter(db, CHANGES)
        planned = await pgs.search.plan("fact101", graph="papers")
        assert [note for note in planned.notes if note.endswith(COMMAND)]


async def test_routing_by_old_texts_says_that_the_graph_may_have_changed(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partitions.build("papers")
        before = await pgs.route("Tungsten", graph="papers")
        assert before.unmatched
        assert before.note.startswith("no text in the graph matches the question")
        await alter(db, CHANGES)
        after = await pgs.route("Tungsten", graph="papers")
        assert not after.unmatched
        assert "may have changed since" in after.note


async def test_a_graph_without_a_text_index_says_how_to_make_one(
    endpoint: Endpoint, db: Database
) -> None:
    await papers(db)
    async with without_models(endpoint) as pgs:
        await pgs.graphs.add("papers", MAPPING)
        found = await pgs.search("fact101", graph="papers")
        assert keys(found)[0] == "doi/101"
        assert advice(found)[0].startswith("the graph has no text index")
        await pgs.partitions.build("papers")
        assert not advice(await pgs.search("fact101", graph="papers"))
