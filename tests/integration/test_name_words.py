"""The names of labels and relationship types are words of their nodes: no absence denies them."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import AbsenceStatus, GraphMapping, Prompt
from pgs_neo4j.search.lookup import look_up
from pgs_neo4j.search.lookup_order import LookupOrder
from pgs_neo4j.text.matching import SearchTerms
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import KNOBS, engine_on

FILMS = """
UNWIND range(0, 39) AS i
CREATE (f:MotionPicture {title: 'Film ' + ['Alba', 'Bora', 'Cato', 'Dena'][i % 4] + i})
CREATE (p:Person {name: 'Walrus Keeper' + i}), (q:Person {name: 'Otter Keeper' + i})
CREATE (p)-[:DIRECTED]->(f), (q)-[:ACTED_IN]->(f)
"""
MAPPING = GraphMapping(
    text=("title", "name"), titles=("MotionPicture.title", "Person.name"), key="title"
)
REPORT = (
    "## Domain State\nFilms.\n## Findings\n- a film [n1]\n## Outbound Flags\n- none\n## Absences\n"
    "- no mention of directed\n- no mention of acted\n- no mention of motion pictures\n"
    "- no mention of catalysis"
)


def reply(prompt: Prompt) -> str:
    return (
        REPORT if prompt.task == "sweep" else "## Thesis\nFilms [P1:n1].\n## Absences\n- walruses"
    )


async def stored(pgs: PGS) -> LookupOrder:
    await pgs.graphs.add("films", MAPPING)
    made = await pgs.partitions.build("films")
    partitions = await pgs.partitions("films")
    return LookupOrder(mapping=MAPPING, generation=made.generation.id, partitions=tuple(partitions))


@pytest.mark.parametrize("outdated", [False, True])
async def test_words_of_names_count_with_those_of_the_text(
    db: Database, endpoint: Endpoint, outdated: bool
) -> None:
    await alter(db, FILMS)
    searches = {
        SearchTerms(("directed",), 1): "",
        SearchTerms(("acted",), 1): "",
        SearchTerms(("motion picture",), 1): "Film",
        SearchTerms(("directed", "walrus"), 2): "Walrus",
        # Only those who act are called otters.
        SearchTerms(("directed", "otter"), 2): None,
        SearchTerms(("directed", "penguin"), 2): None,
        SearchTerms(("catalysis",), 1): None,
        SearchTerms(("actors", "penguin"), 2): None,
    }
    # No text or name holds this word, but one that it derives from: so nothing is proved.
    open_ = [SearchTerms(("actors",), 1), SearchTerms(("actors", "otter"), 2)]
    async with engine_on(endpoint, reply, **KNOBS) as pgs:
        order = await stored(pgs)
        if outdated:
            order = LookupOrder(
                mapping=MAPPING,
                generation=order.generation,
                partitions=order.partitions,
                outdated=True,
            )
        results = await look_up(db, order, [*searches, *open_])
    for search in open_:
        assert not results[search].hits
        assert not results[search].complete
    for search, title in searches.items():
        found = results[search]
        assert found.searched == 120
        assert bool(found.hits) == (title is not None), search
        assert all(title in hit.title for hit in found.hits)  # type: ignore[operator]
        # Without a hit, the words are proved to be nowhere.
        assert found.hits or found.complete


async def test_an_absence_of_a_name_is_contradicted_by_a_node_that_was_read(
    db: Database, endpoint: Endpoint
) -> None:
    await alter(db, FILMS)
    async with engine_on(endpoint, reply, **KNOBS) as pgs:
        await stored(pgs)
        answer = await pgs.execute("What about films?", graph="films", full_sweep=True)
    found = {absence.text: absence for absence in answer.crosscheck.absences}
    for name in ("directed", "acted", "motion pictures"):
        absence = next(one for text, one in found.items() if name in text)
        assert absence.status is AbsenceStatus.CONTRADICTED
        assert absence.sightings[0].read
    absence = next(one for text, one in found.items() if "catalysis" in text)
    assert absence.status is AbsenceStatus.CONFIRMED


MOVIES = """
UNWIND range(0, 29) AS i
CREATE (m:Movie {title: 'Film ' + ['Alba', 'Bora', 'Cato', 'Dena'][i % 4] + i})
WITH collect(m) AS movies
UNWIND range(0, 89) AS i
CREATE (p:Person {title: 'Otter Keeper' + i})
WITH movies, collect(p) AS people
FOREACH (i IN range(0, 89) | FOREACH (m IN [movies[i % 30]] | FOREACH (p IN [people[i]] |
  CREATE (p)-[:ACTED_IN]->(m))))
FOREACH (i IN range(0, 19) | FOREACH (m IN [movies[i]] | FOREACH (p IN [people[i]] |
  CREATE (p)-[:DIRECTED]->(m))))
FOREACH (i IN range(0, 2) | FOREACH (m IN [movies[7]] | FOREACH (p IN [people[80 + i]] |
  CREATE (p)-[:REVIEWED]->(m))))
"""
PLAIN = GraphMapping(labels=("Movie", "Person"), text=("title",), key="title")
ONLY_NAMES = "no text matches; nodes are found by the names of labels and relationship types"


async def titled(db: Database, pattern: str) -> set[str]:
    _, rows = await db.call(f"MATCH {pattern} RETURN DISTINCT n.title AS title", {}, "read")
    return {row["title"] for row in rows}


@pytest.mark.parametrize("partitioned", [False, True])
async def test_a_search_finds_nodes_by_the_names_of_their_types_and_labels(
    db: Database, endpoint: Endpoint, *, partitioned: bool
) -> None:
    await alter(db, MOVIES)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("films", PLAIN)
        if partitioned:
            await pgs.partitions.build("films")

        async def found(question: str) -> tuple[list[str], tuple[str, ...]]:
            searched = await pgs.search(question, graph="films", mode="naive", top_k=100)
            return [item.title for item in searched.items], searched.warnings

        for question, pattern in (
            ("Who are the reviewers?", "(n)-[:REVIEWED]-()"),
            ("directed", "(n)-[:DIRECTED]-()"),
            ("movies", "(n:Movie)"),
        ):
            titles, warnings = await found(question)
            assert set(titles) == await titled(db, pattern)
            assert ONLY_NAMES in warnings
        # A name adds to a text, and weighs less than it.
        titles, warnings = await found("Who directed Keeper55 or Keeper19?")
        assert titles[:2] == ["Otter Keeper19", "Otter Keeper55"]
        assert ONLY_NAMES not in warnings
        assert (await found("zymurgy"))[0] == []
        await alter(
            db,
            "MATCH (p:Person {title: 'Otter Keeper7'}), (m:Movie {title: 'Film Alba0'}) "
            "CREATE (p)-[:OWNS]->(m)",
        )
        titles, warnings = await found("Who are the owners?")
        assert set(titles) == {"Otter Keeper7", "Film Alba0"}
        assert ONLY_NAMES in warnings
        await alter(db, "MATCH (n:Movie|Person) SET n:Tracked")
        # What names every node says nothing.
        assert (await found("tracked"))[0] == []


async def test_a_question_is_routed_by_the_names_of_types(db: Database, endpoint: Endpoint) -> None:
    await alter(db, MOVIES)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("films", PLAIN)
        await pgs.partitions.build("films")
        routing = await pgs.route("Who are the reviewers?", graph="films")
        homes = await titled_partitions(db, "(n)-[:REVIEWED]-()")
        assert not routing.unmatched
        assert routing.note == ONLY_NAMES
        assert routing.routes[0].partition in homes
        assert {route.partition for route in routing.routes if route.evidence} <= homes
        mixed = await pgs.route("Which reviewers studied Zymurgy?", graph="films")
        assert mixed.note == f"{ONLY_NAMES}; no text holds “studied”, “zymurgy”"
        assert (await pgs.route("Zymurgy?", graph="films")).unmatched


async def titled_partitions(db: Database, pattern: str) -> set[int]:
    statement = f"MATCH {pattern} MATCH (n)-[:PGS_IN]->(p:PgsPartition) RETURN DISTINCT p.id AS id"
    _, rows = await db.call(statement, {}, "read")
    return {row["id"] for row in rows}
