"""Loading into a live Neo4j: whole or not at all, the same twice, beside others."""

import asyncio
import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Query
from pgs_neo4j.demo.graph import build_demo
from pgs_neo4j.demo.load import demo_file
from pgs_neo4j.errors import DatabaseUnavailableError, UsageError
from pgs_neo4j.events import Event, Progressed
from pgs_neo4j.ingest.brain import parse_brain, read_brain
from pgs_neo4j.ingest.graph_file import GraphFile
from pgs_neo4j.ingest.load import LOADED, load
from tests.standins import Brain

Row = dict[str, Any]


def chain(*ids: int | str, concept: str = "c", **more: Any) -> GraphFile:
    """Nodes of these ids, each bound to the next one."""
    nodes = [{"id": i, "concept": f"{concept} {i}"} | more for i in ids]
    edges = [{"source": a, "target": b, "weight": 0.5, "type": "next"} for a, b in pairwise(ids)]
    return parse_brain(json.dumps({"nodes": nodes, "edges": edges}).encode())


async def rows(db: Database, statement: str, **params: Any) -> list[Row]:
    return (await db.call(statement, params, "write"))[1]


async def nodes(db: Database, label: str) -> dict[int | str, Row]:
    found = await rows(db, "MATCH (n:$($label)) RETURN n.id AS id, properties(n) AS p", label=label)
    return {row["id"]: row["p"] for row in found}


async def relationships(db: Database, label: str) -> list[tuple[Any, ...]]:
    found = await rows(
        db,
        "MATCH (a:$($label))-[r]->(b:$($label)) RETURN a.id AS a, type(r) AS t, r.weight AS w, "
        "b.id AS b ORDER BY toString(a), toString(b)",
        label=label,
    )
    return [tuple(row.values()) for row in found]


async def staged(db: Database) -> int:
    (row,) = await rows(db, "MATCH (s:PgsStaged) RETURN count(s) AS n")
    return int(row["n"])


async def unfinished(db: Database) -> int:
    query = "MATCH (l:PgsLoad) WHERE l.finished_at IS NULL RETURN count(l) AS n"
    return int((await rows(db, query))[0]["n"])


@dataclass(slots=True)
class Interrupted:
    """The database, but for one write that something happens to."""

    database: Database
    statement: str
    action: Any

    async def read(self, query: Query, **params: Any) -> list[Row]:
        return await self.database.read(query, **params)

    def stream(self, query: Query, **params: Any) -> Any:
        return self.database.stream(query, **params)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        if query.name == f"ingest/{self.statement}":
            await self.action()
        return await self.database.write(query, **params)


async def lose_the_connection() -> None:
    raise DatabaseUnavailableError("gone")


async def test_a_brain_is_loaded_as_it_was_read(db: Database) -> None:
    content = {
        "nodes": [
            {"id": 1, "concept": "one", "tag": "t", "weight": 2, "embedding": [0.25, -1]},
            {"id": "b", "concept": ""},
        ],
        "edges": [
            {"source": 1, "target": "b", "weight": 0.5, "type": "odd `type`"},
            {"source": 1, "target": "b", "weight": 0.5, "type": "odd `type`"},
            {"source": "b", "target": "b"},
        ],
    }
    result = await load(db, parse_brain(json.dumps(content).encode()), "my graph")

    assert (result.label, result.added, result.unchanged) == ("MyGraph", 2, False)
    assert (result.mapping.labels, result.mapping.embedding) == (("MyGraph",), "embedding")
    assert await nodes(db, "MyGraph") == {
        1: {
            "id": 1,
            "graph": "my graph",
            "concept": "one",
            "tag": "t",
            "weight": 2.0,
            "embedding": [0.25, -1.0],
        },
        "b": {"id": "b", "graph": "my graph", "concept": ""},
    }
    assert await relationships(db, "MyGraph") == [
        (1, "odd `type`", 0.5, "b"),
        (1, "odd `type`", 0.5, "b"),
        ("b", "RELATED", None, "b"),
    ]
    assert (await staged(db), await unfinished(db)) == (0, 0)


async def test_loading_twice_writes_nothing(db: Database) -> None:
    file = chain(1, 2, 3)
    await load(db, file, "g")
    (before,) = await rows(db, "MATCH (l:PgsLoad) RETURN properties(l) AS p")
    again = await load(db, file, "g")

    assert (again.unchanged, again.kept, again.added) == (True, 3, 0)
    assert await rows(db, "MATCH (l:PgsLoad) RETURN properties(l) AS p") == [before]


async def test_a_second_load_replaces_content_and_keeps_known_nodes(db: Database) -> None:
    await load(db, chain(1, 2, 3, tag="old"), "g")
    await rows(
        db,
        "MATCH (n:G) CREATE (:Note {of: n.id})-[:ABOUT]->(n) SET n.extra = 1, n:Marked "
        "WITH n MATCH (m:G) WHERE m.id > n.id CREATE (n)-[:GUESS]->(m)",
    )
    ids = "MATCH (n:G) WHERE n.id IN [2, 3] RETURN elementId(n) AS e ORDER BY n.id"
    known = await rows(db, ids)

    result = await load(db, chain(2, 3, 4, concept="new"), "g")

    assert (result.removed, result.kept, result.added) == (1, 2, 1)
    assert await rows(db, ids) == known
    content = await nodes(db, "G")
    assert content == {i: {"id": i, "graph": "g", "concept": f"new {i}"} for i in (2, 3, 4)}
    assert await relationships(db, "G") == [(2, "next", 0.5, 3), (3, "next", 0.5, 4)]
    notes = await rows(db, "MATCH (x:Note)-[:ABOUT]->(n:G) RETURN n.id AS n ORDER BY n")
    assert [row["n"] for row in notes] == [2, 3]
    labels = await rows(db, "MATCH (n:G) UNWIND labels(n) AS l RETURN DISTINCT l ORDER BY l")
    assert [row["l"] for row in labels] == ["G", LOADED]


@pytest.mark.parametrize(
    "change",
    [
        "MATCH (n:G {id: 1}) SET n.concept = 'changed'",
        "MATCH (n:G {id: 1}) SET n:Marked",
        "MATCH (n:G {id: 1}) DETACH DELETE n",
        "MATCH (a:G {id: 1})-[r]->() DELETE r",
        "MATCH (a:G {id: 1})-[r]->() SET r.weight = 2",
        "MATCH (a:G {id: 1})-[r]->() SET r.note = 'x'",
        "MATCH (a:G {id: 1}), (b:G {id: 3}) CREATE (b)-[:next]->(a)",
        "CREATE (:LoadedNode:G {graph: 'g', id: 99})",
    ],
)
async def test_what_was_changed_since_is_put_right(db: Database, change: str) -> None:
    file = chain(1, 2, 3)
    await load(db, file, "g")
    wanted = await nodes(db, "G"), await relationships(db, "G")
    await rows(db, change)

    assert not (await load(db, file, "g")).unchanged
    assert (await nodes(db, "G"), await relationships(db, "G")) == wanted
    assert (await load(db, file, "g")).unchanged


async def test_another_label_replaces_the_first(db: Database) -> None:
    file = chain(1, 2)
    await load(db, file, "g", label="One")
    result = await load(db, file, "g", label="Two")
    assert (result.kept, await nodes(db, "One"), len(await nodes(db, "Two"))) == (2, {}, 2)


async def test_graphs_with_the_same_ids_do_not_meet(db: Database) -> None:
    await load(db, chain(1, 2, concept="a"), "a")
    await load(db, chain(1, 2, 3, concept="b"), "b")
    assert [p["concept"] for p in (await nodes(db, "A")).values()] == ["a 1", "a 2"]
    assert len(await nodes(db, "B")) == 3
    assert await relationships(db, "A") == [(1, "next", 0.5, 2)]


async def test_an_empty_file_empties_the_graph(db: Database) -> None:
    await load(db, chain(1, 2), "g")
    result = await load(db, chain(), "g")
    assert (result.removed, await nodes(db, "G")) == (2, {})


@pytest.mark.parametrize(
    "statement", ["write_staged_nodes", "write_staged_relationships", "set_loaded"]
)
async def test_a_load_that_fails_leaves_the_earlier_graph(db: Database, statement: str) -> None:
    await load(db, chain(1, 2), "g")
    before = await nodes(db, "G"), await relationships(db, "G")
    broken = cast("Database", Interrupted(db, statement, lose_the_connection))

    with pytest.raises(DatabaseUnavailableError, match="gone"):
        await load(broken, chain(1, 2, 3, concept="new"), "g")

    assert (await nodes(db, "G"), await relationships(db, "G")) == before
    assert (await staged(db), await unfinished(db)) == (0, 0)


async def test_a_cancelled_load_leaves_nothing(db: Database) -> None:
    def cancel(event: Event) -> None:
        assert isinstance(event, Progressed)
        task.cancel()

    task = asyncio.ensure_future(load(db, chain(1, 2), "g", on_event=cancel))
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (await nodes(db, "G"), await staged(db), await unfinished(db)) == ({}, 0, 0)


async def test_the_next_load_clears_what_a_killed_one_left(db: Database) -> None:
    await load(db, chain(1), "g")
    await load(db, chain(1), "other")
    for graph in ("g", "other", "stale"):
        await db.write(
            queries.get("ingest/merge_loads"), graph=graph, load=f"killed {graph}", label="X"
        )
        await db.write(
            queries.get("ingest/write_staged_nodes"),
            graph=graph,
            load=f"killed {graph}",
            batch=0,
            rows=[{"properties": {"id": 7}, "labels": ["X"]}],
        )
    await rows(
        db, "MATCH (l:PgsLoad {graph: 'stale'}) SET l.moved_at = datetime() - duration('PT2H')"
    )
    assert (await staged(db), await nodes(db, "X")) == (3, {})

    await load(db, chain(1, 2), "g")

    left = await rows(db, "MATCH (s:PgsStaged) RETURN s.pgs_load AS load")
    assert left == [{"load": "killed other"}]
    assert len(await nodes(db, "G")) == 2


async def test_of_two_loads_of_one_graph_the_later_one_wins(db: Database) -> None:
    async def overtake() -> None:
        await load(db, chain(8, 9), "g")

    slow = cast("Database", Interrupted(db, "set_loaded", overtake))
    with pytest.raises(UsageError, match="another load of 'g' began"):
        await load(slow, chain(1, 2), "g")

    assert sorted(await nodes(db, "G")) == [8, 9]
    assert (await staged(db), await unfinished(db)) == (0, 0)


@pytest.mark.parametrize(
    "begun",
    [
        "CREATE (:LoadedNode:Document {graph: 'g', id: 'a.md'})",
        "CREATE (:PgsIngest {graph: 'g', holder: 'me', expires_at: datetime() + duration('PT1M')})",
    ],
)
async def test_documents_that_come_while_a_file_is_loaded_stay(db: Database, begun: str) -> None:
    async def ingest() -> None:
        await db.call(begun, {}, "write")

    slow = cast("Database", Interrupted(db, "set_loaded", ingest))
    with pytest.raises(UsageError, match="graph g is made of documents"):
        await load(slow, chain(1, 2), "g")

    assert await nodes(db, "G") == {}
    assert await rows(db, "MATCH (n:Document|PgsIngest) RETURN n.graph AS graph") == [
        {"graph": "g"}
    ]
    assert (await staged(db), await unfinished(db)) == (0, 0)


async def test_every_write_can_be_repeated(db: Database) -> None:
    """As the driver does when the acknowledgement of a commit is lost."""

    @dataclass(slots=True)
    class Stuttering:
        database: Database

        async def read(self, query: Query, **params: Any) -> list[Row]:
            return await self.database.read(query, **params)

        def stream(self, query: Query, **params: Any) -> Any:
            return self.database.stream(query, **params)

        async def write(self, query: Query, **params: Any) -> list[Row]:
            await self.database.write(query, **params)
            return await self.database.write(query, **params)

    result = await load(cast("Database", Stuttering(db)), chain(1, 2, 3), "g")

    assert (result.added, len(await nodes(db, "G"))) == (3, 3)
    assert await relationships(db, "G") == [(1, "next", 0.5, 2), (2, "next", 0.5, 3)]


@pytest.mark.parametrize("graph", ["", " ", "x" * 501, "…"])
async def test_an_unusable_name_is_refused(db: Database, graph: str) -> None:
    with pytest.raises(UsageError):
        await load(db, chain(1), graph)
    assert await rows(db, "MATCH (n) RETURN n") == []


@pytest.mark.parametrize("label", ["", "PgsNode", "pgs", LOADED, "a\0b"])
async def test_an_unusable_label_is_refused(db: Database, label: str) -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        await load(db, chain(1), "g", label=label)
    assert await rows(db, "MATCH (n) RETURN n") == []


@pytest.mark.parametrize("label", ["a`) DETACH DELETE (n", "Ünï cödé", "1", "MATCH"])
async def test_hostile_labels_are_only_labels(db: Database, label: str) -> None:
    await load(db, chain(1), "keep")
    await load(db, chain(1), "g", label=label)
    assert (len(await nodes(db, label)), len(await nodes(db, "Keep"))) == (1, 1)


async def test_a_label_in_use_by_others_is_refused(db: Database) -> None:
    await rows(db, "CREATE (:Person)")
    await load(db, chain(1), "first", label="Shared")
    for graph, label in (("person", None), ("second", "Shared")):
        with pytest.raises(UsageError, match="in use by nodes that were not loaded"):
            await load(db, chain(1), graph, label=label)


async def test_the_keys_of_loaded_nodes_are_indexed(db: Database) -> None:
    await load(db, chain(1), "g")
    found = await rows(
        db,
        "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties "
        "WHERE name = 'loaded_node_key' RETURN labelsOrTypes, properties",
    )
    assert found == [{"labelsOrTypes": [LOADED], "properties": ["graph", "id"]}]


async def test_progress_reaches_the_total(db: Database, brain: Brain) -> None:
    events: list[Event] = []
    links = brain.relationships
    file = read_brain(brain.path)
    result = await load(db, file, "physics2", on_event=events.append)

    assert events[-1] == Progressed("load", links, links, "relationships")
    assert Progressed("load", brain.nodes, brain.nodes, "nodes") in events
    assert len((await nodes(db, "Physics2"))[1]["embedding"]) == 512
    assert len(await relationships(db, "Physics2")) == links
    assert (await load(db, file, "physics2")).unchanged
    assert (result.mapping.text, result.mapping.weight) == (("concept",), "weight")


async def test_the_demo_is_loaded_with_its_kinds_as_labels(db: Database) -> None:
    demo = build_demo()
    result = await load(db, demo_file(demo), "stdlib")

    assert result.added == len(demo.nodes)
    found = await rows(
        db,
        "MATCH (c:Class:Stdlib {id: 'json.decoder.JSONDecoder'})-[:CONTAINS]->(m:Method) "
        "RETURN m.name AS name ORDER BY name",
    )
    assert {"name": "decode"} in found
    assert (await load(db, demo_file(demo), "stdlib")).unchanged
