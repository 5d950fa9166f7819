"""Engines with a condition or a date see what a copy would hold that has just that."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import (
    ConditionError,
    PGSError,
    ScopeError,
    UnknownNodeError,
    UnknownRunError,
)
from pgs_neo4j.model import GraphMapping, SearchMode
from tests.conftest import Endpoint
from tests.engines import engine_on
from tests.integration.test_scopes import Ear

KNOBS: dict[str, Any] = {"min_community_size": 5, "target_partition_max": 40, "graph": "notes"}
QUESTION = "What do the notes report on sleep and memory?"
MODES: tuple[SearchMode, ...] = (
    *("naive", "local", "global", "hybrid", "mix", "multipath", "triplets", "structural"),
)
MAPPING = GraphMapping(
    labels=("Note",),
    relationship_types=("CITES", "NEAR"),
    text=("text",),
    title="title",
    key="key",
    embedding="embedding",
    relationship_text="fact",
    valid_from="since",
    valid_to="until",
)
WHERE = "year >= 2010 and kind = 'report'"
AS_OF = "2015"
CHANGING = re.compile(
    r"\b[gr]?[0-9a-f]{12,}\b|\d{4}-\d\d-\d\dT[\d:.+Z]+|seconds=[\d.e-]+|\b[0-9a-f]{8}-[0-9a-f-]{27,}"
    r"|seconds=\{[^}]*\}|token='[^']*'"
)
"""Ids and times, which no two runs share."""
TOPICS = ("catalysis of ammonia", "sleep and memory", "orbital debris", "medieval trade")

CREATE = """
UNWIND range(0, 159) AS i
CREATE (n:Note {
  place: i, key: 'note ' + i, title: 'On ' + $topics[i % 4] + ' ' + i, year: 2000 + i % 20,
  kind: CASE i % 5 WHEN 0 THEN 'letter' ELSE 'report' END,
  text: 'Note ' + i + ' of ' + (2000 + i % 20) + ' reports on ' + $topics[i % 4] + '. '
        + CASE i % 5 WHEN 0 THEN 'It mentions zorblattium.' ELSE 'It mentions iron.' END,
  embedding: [1.0, (i * 7 % 11) / 11.0, (i * 5 % 13) / 13.0, (i % 17) / 17.0]
})
FOREACH (_ IN CASE WHEN i % 6 = 1 THEN [1] ELSE [] END | SET n.since = 2012 + i % 7)
FOREACH (_ IN CASE WHEN i % 7 = 1 THEN [1] ELSE [] END | SET n.until = toString(2012 + i % 8))
"""
CONNECT = """
MATCH (a:Note), (b:Note)
WHERE b.place IN [a.place + 4, a.place + 8, a.place + 1]
CREATE (a)-[r:CITES {fact: a.title + ' builds on ' + b.title}]->(b)
FOREACH (_ IN CASE WHEN a.place % 3 = 0 THEN [1] ELSE [] END |
  SET r.since = date({year: 2010 + a.place % 9}))
FOREACH (_ IN CASE WHEN a.place % 4 = 0 THEN [1] ELSE [] END | SET r.until = 2011 + a.place % 9)
"""
KEEP_WHERE = "MATCH (n:Note) WHERE NOT (n.year >= 2010 AND n.kind = 'report') DETACH DELETE n"
KEEP_AS_OF = (
    "MATCH (n:Note) WHERE n.since > 2015 OR toInteger(n.until) <= 2015 DETACH DELETE n",
    "MATCH ()-[r:CITES]->() WHERE r.since.year > 2015 OR r.until <= 2015 DELETE r",
)


@pytest.fixture
async def notes(endpoint: Endpoint, db: Database) -> None:
    """A graph of notes with years, kinds, and dates of validity."""
    await create_notes(endpoint, db)


async def create_notes(endpoint: Endpoint, db: Database) -> None:
    await db.call(CREATE, {"topics": list(TOPICS)}, "write")
    await db.call(CONNECT, {}, "write")
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("notes", MAPPING)


def open_engine(
    endpoint: Endpoint, ear: Ear | None = None, **settings: Any
) -> AbstractAsyncContextManager[PGS]:
    return engine_on(endpoint, ear or Ear(), **KNOBS, **settings)


async def look(pgs: PGS) -> list[object]:
    """Return what an engine shows of its graph in every way that needs no model."""
    shown: list[object] = [await pgs.graphs(), await pgs.partitions(), await pgs.partitions.units()]
    shown += [await pgs.search(QUESTION, mode=mode, top_k=50) for mode in MODES]
    shown += [await pgs.search("zorblattium letter", mode="hybrid", top_k=50)]
    for node in (await pgs.browse.members("notes", 1)).members[:5]:
        shown.append(await pgs.browse.node("notes", node.element_id))
        shown.append(await pgs.browse.neighbors("notes", node.element_id))
        shown.append(await pgs.browse.findings_on_node("notes", node.element_id))
    shown += [await pgs.browse.map("notes"), await pgs.partitions.check()]
    shown += [await pgs.sessions(), await pgs.runs()]
    shown += [(job.graph, job.outcome) for job in await pgs.jobs()]
    for run in await pgs.runs():
        shown += [await pgs.runs.answer(run.id), await pgs.runs.document(run.id)]
    return shown


async def ask_and_look(pgs: PGS) -> list[object]:
    plan = await pgs.plan(QUESTION)
    answer = await pgs.execute(QUESTION, full_sweep=True)
    job = await pgs.jobs.run(if_changed=True)
    layered = await pgs.layered_search(QUESTION, top_k=5)
    route = await pgs.route(QUESTION)
    return [plan, answer, job.outcome, layered, route, *await look(pgs), await pgs.kept_replies()]


async def compare_with_copy(
    endpoint: Endpoint,
    db: Database,
    settings: dict[str, Any],
    keep: Callable[[], Awaitable[None]],
) -> list[object]:
    """Compare a view with a copy that holds nothing else, and return what the view shows."""
    async with open_engine(endpoint) as pgs:  # another reader of the whole graph
        await pgs.execute(QUESTION, full_sweep=True)
    seen, first = [], list[object]()
    for alone in (False, True):
        if alone:
            async with open_engine(endpoint) as pgs:
                await pgs.purge()
                await keep()
                await pgs.graphs.add("notes", MAPPING)
        ear = Ear()
        async with open_engine(endpoint, ear, **({} if alone else settings)) as pgs:
            shown = await ask_and_look(pgs)
        first = first or shown
        seen.append((sorted(ear.heard), [CHANGING.sub("*", repr(one)) for one in shown]))
    assert seen[0][0] == seen[1][0]
    for in_view, in_copy in zip(seen[0][1], seen[1][1], strict=True):
        assert in_view == in_copy
    return first


@pytest.mark.usefixtures("notes")
async def test_a_condition_shows_the_same_as_a_copy_that_holds_just_that(
    endpoint: Endpoint, db: Database
) -> None:
    async def keep() -> None:
        await db.call(KEEP_WHERE, {}, "write")

    shown = await compare_with_copy(endpoint, db, {"where": WHERE}, keep)
    assert "zorblattium." not in repr(shown)


@pytest.mark.usefixtures("notes")
async def test_a_date_shows_the_same_as_a_copy_that_holds_just_that(
    endpoint: Endpoint, db: Database
) -> None:
    async def keep() -> None:
        for statement in KEEP_AS_OF:
            await db.call(statement, {}, "write")

    shown = await compare_with_copy(endpoint, db, {"as_of": AS_OF}, keep)
    assert "zorblattium" in repr(shown)


@pytest.mark.usefixtures("notes")
async def test_a_view_follows_what_other_programs_write(endpoint: Endpoint, db: Database) -> None:
    async with open_engine(endpoint, where="place < 3") as pgs:
        assert (await pgs.execute(QUESTION)).coverage.nodes_total == 3
        await db.call("MATCH (n:Note {place: 3}) SET n.place = 0", {}, "write")
        await db.call("MATCH (n:Note {place: 1}) SET n.place = 4", {}, "write")
        await db.call("CREATE (:Note {place: 2, text: 'A new note.'})", {}, "write")
        answer = await pgs.execute(QUESTION, full_sweep=True)
        assert answer.coverage.nodes_total == answer.coverage.nodes_read == 4
        assert (await pgs.sessions())[0].runs == 2
        [hidden] = (
            await db.call("MATCH (n:Note {place: 4}) RETURN elementId(n) AS id LIMIT 1", {}, "read")
        )[1]
        with pytest.raises(UnknownNodeError):
            await pgs.browse.node(None, hidden["id"])


@pytest.mark.usefixtures("notes")
async def test_views_know_nothing_of_each_other(endpoint: Endpoint) -> None:
    async with open_engine(endpoint) as pgs:
        few, many = pgs.within(where="place < 20"), pgs.within(where="place >= 20")
        run = (await few.execute(QUESTION)).run
        assert [info.id for info in await few.runs()] == [run]
        assert await many.runs() == await pgs.runs() == []
        assert (await few.runs.get(run)).graph == "notes"
        assert (await few.resume(run)).run == run
        for other in (many, pgs):
            with pytest.raises(UnknownRunError):
                await other.runs.answer(run)
        assert few.within(where="place < 20").where == few.where
        assert (await few.within(where="place >= 10").execute(QUESTION)).coverage.nodes_total == 10


@pytest.mark.usefixtures("notes")
async def test_removing_a_graph_removes_what_its_views_have_made(
    endpoint: Endpoint, db: Database
) -> None:
    async with open_engine(endpoint) as pgs:
        for where in ("place < 20", "place >= 20"):
            await pgs.within({"kind": "report"}, where=where).execute(QUESTION)
        await pgs.graphs.remove("notes")
    left = "MATCH (n:PgsView|PgsGraph|PgsPartition|PgsSession|PgsRun) RETURN labels(n) AS labels"
    assert (await db.call(left, {}, "read"))[1] == []


@pytest.mark.usefixtures("notes")
async def test_what_cannot_be_shown_or_done_in_a_view_says_why(endpoint: Endpoint) -> None:
    async with open_engine(endpoint) as pgs:
        with pytest.raises(ConditionError, match=r"has a property yaer; did you mean year\?"):
            await pgs.within(where="yaer > 2000").execute(QUESTION)
        with pytest.raises(ConditionError, match="cannot be read as part of a condition"):
            pgs.within(where="year > ;")
        view = pgs.within(where="year > 2000")
        with pytest.raises(PGSError, match=r"has no nodes|no text|empty"):
            await pgs.within(where="year > 3000").execute(QUESTION)
        refused = [
            view.ingest([], "docs"), view.entities("docs"), view.graphs.remove("notes"),
            view.graphs.add("other", MAPPING), view.gate("MATCH (n:Note) RETURN n"),
        ]  # fmt: skip
        for call in refused:
            with pytest.raises(ScopeError, match="not possible"):
                await call
        await pgs.graphs.add("undated", GraphMapping(labels=("Note",), text=("text",)))
        with pytest.raises(ConditionError, match="has no dates of validity"):
            await pgs.within(as_of="2024").search("sleep", graph="undated")
        assert [graph.name for graph in await pgs.within(as_of="2024").graphs()] == ["notes"]
