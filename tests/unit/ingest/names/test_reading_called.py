"""What entities are called is taken from their nodes, or counted where that does not hold."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.ingest.fold.called import dump_called
from pgs_neo4j.ingest.fold.contribution import EntityMention
from pgs_neo4j.ingest.fold.rows import entity_id
from pgs_neo4j.ingest.fold.tallies import EntityTally
from pgs_neo4j.ingest.names.called import read_called
from pgs_neo4j.ingest.stored import read_names
from tests.fakes.database import FakeDatabase, Row
from tests.fakes.documents import assert_whole, graph_of
from tests.unit.ingest.names.test_neighborhood import FULL, SHORT, found, person


def held(count: int, mentions: int) -> Row:
    tally = EntityTally()
    for _ in range(count):
        tally.add(EntityMention(key=FULL[0], type=FULL[1], name="Marie Curie"))
    called = dump_called({FULL: tally})
    return {
        "entity_key": FULL[0], "entity_type": FULL[1], "called": called, "mentions": mentions,
    }  # fmt: skip


COUNTED: Row = {
    "entity_key": FULL[0],
    "entity_type": FULL[1],
    "names": [{"type": "Person", "name": "Marie Curie", "sure": True, "short": "", "count": 7}],
    "fragments": [],
}


async def test_what_a_node_keeps_is_not_counted_again() -> None:
    db: Any = FakeDatabase(read_called=[{"entities": [held(3, 3)]}])
    called = await read_called(db, "docs", [FULL], ["c1"], set())
    assert called.entities == {FULL: FULL}
    assert called.names.of(FULL).names == {"Marie Curie": 3}
    assert [name for name, _ in db.sent] == ["read_called"]


@pytest.mark.parametrize(
    "row", [held(3, 4), held(3, 3) | {"called": None}, held(3, 3) | {"called": "[]"}]
)
async def test_what_does_not_fit_the_graph_is_counted_again(row: Row) -> None:
    db: Any = FakeDatabase(read_called=[{"entities": [row]}], read_names=[COUNTED])
    called = await read_called(db, "docs", [FULL], [], set())
    assert called.names.of(FULL).count == 7
    assert called.entities == {FULL: FULL}


async def test_a_name_that_only_chunks_that_go_have_is_not_counted() -> None:
    said = {"type": "Person", "name": "Marie Curie", "sure": False, "short": "MC", "count": 2}
    goes = {"type": "Person", "name": "M. Curie", "sure": True, "short": "", "count": 0}
    db: Any = FakeDatabase(read_names=[COUNTED | {"names": [*COUNTED["names"], said, goes]}])
    called = await read_names(db, "docs", [FULL], ["c1"])
    assert called.entities == {FULL: FULL, SHORT: FULL}
    assert called.names.by_key.keys() == {FULL[0]}
    tally = called.names.of(FULL)
    assert (tally.count, tally.sure, tally.names, tally.shorts) == (
        9, 7, {"Marie Curie": 9}, {"MC": 2},
    )  # fmt: skip


async def test_mentions_of_a_hub_are_counted_only_when_it_loses_one() -> None:
    graph = await graph_of(**{f"c{at}": found("Marie Curie") for at in range(9)})
    graph.database.sent.clear()
    await graph.write(more=found("M. Curie", "Polonium"))
    assert graph.database.params("read_names") == []
    assert_whole(graph)
    await graph.write(["c0"])
    assert [entity_id(FULL)] in [
        [id_ for id_ in row["entities"] if id_ == entity_id(FULL)]
        for row in graph.database.params("read_names")
    ]
    assert_whole(graph)


async def test_a_node_that_somebody_changed_is_made_right_by_the_next_mention() -> None:
    graph = await graph_of(a=person("M. Curie"), b=person("M. Curie"))
    del graph.chunks["b"]
    graph.mentions = [row for row in graph.mentions if row.chunk != "b"]
    await graph.write(c=person("M. Curie", text="She won."))
    assert graph.entities[entity_id(SHORT)].mentions == 2
    assert_whole(graph)
