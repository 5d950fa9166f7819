"""Loading into a live Neo4j: whole or not at all, the same twice, beside others."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Query
from pgs_neo4j.documents.loading.brain import parse_brain, read_brain
from pgs_neo4j.documents.loading.graph_file import GraphFile
from pgs_neo4j.documents.loading.load import LOADED, load
from pgs_neo4j.engine.demo.graph import build_demo, demo_file
from pgs_neo4j.errors import DatabaseUnavailableError, UsageError
from pgs_neo4j.events import Event, Progressed
from tests.database import alter
from tests.graphs import checksum, papers
from tests.standins import Brain
from tests.write_faults import faulty_writes

Row = dict[str, Any]


def chain(*ids: int | str, concept: str = "c", **more: Any) -> GraphFile:
    """Nodes of these ids, each bound to the next one."""
    nodes = [{"id": i, "concept": f"{concept} {i}"} | more for i in ids]
    edges = [{"source": a, "target": b, "weight": 0.5, "type": "next"} for a, b in pairwise(ids)]
    return parse_brain(json.dumps({"nodes": nodes, "edges": edges}).encode())


async def rows(db: Database, statement: str, **params: Any) -> list[Row]:
    return await alter(db, statement, **params)


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


def before_loaded(patch: pytest.MonkeyPatch, action: Callable[[], Awaitable[object]]) -> None:
    """Let something happen once before a load becomes the graph."""
    write = Database.write

    async def interrupted(db: Database, query: Query, **params: Any) -> list[Row]:
        if query.name == "documents/loading/set_loaded":
            patch.setattr(Database, "write", write)
            await action()
        return await write(db, query, **params)

    patch.setattr(Database, "write", interrupted)


async def standing(db: Database) -> tuple[Any, ...]:
    """The graph ``g``, and what its loads left beside it."""
    return await nodes(db, "G"), await relationships(db, "G"), *(await left_over(db))


async def left_over(db: Database) -> tuple[int, int]:
    """How many nodes are staged, and how many loads have not ended."""
    (row,) = await rows(
        db,
        "RETURN COUNT { (s:PgsStaged) } AS staged, "
        "COUNT { (l:PgsLoad) WHERE l.finished_at IS NULL } AS loads",
    )
    return row["staged"], row["loads"]


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
    assert await left_over(db) == (0, 0)


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


CHANGES = (
    "MATCH (n:G {id: 1}) SET n.concept = 'changed'",
    "MATCH (n:G {id: 1}) SET n:Marked",
    "MATCH (n:G {id: 1}) DETACH DELETE n",
    "MATCH (a:G {id: 1})-[r]->() DELETE r",
    "MATCH (a:G {id: 1})-[r]->() SET r.weight = 2",
    "MATCH (a:G {id: 1})-[r]->() SET r.note = 'x'",
    "MATCH (a:G {id: 1}), (b:G {id: 3}) CREATE (b)-[:next]->(a)",
    "CREATE (:LoadedNode:G {graph: 'g', id: 99})",
)


@pytest.mark.thorough
async def test_what_was_changed_since_is_put_right(db: Database) -> None:
    file = chain(1, 2, 3)
    await load(db, file, "g")
    wanted = await standing(db)
    for change in CHANGES:
        await rows(db, change)
        assert not (await load(db, file, "g")).unchanged, change
        assert await standing(db) == wanted, change
    assert (await load(db, file, "g")).unchanged


async def test_graphs_with_the_same_ids_and_what_was_not_loaded_stay_apart(db: Database) -> None:
    await papers(db)
    before = await checksum(db)
    await load(db, chain(1, 2, concept="a"), "a")
    await load(db, chain(1, 2, 3, concept="b"), "b")
    assert [p["concept"] for p in (await nodes(db, "A")).values()] == ["a 1", "a 2"]
    assert len(await nodes(db, "B")) == 3
    assert await relationships(db, "A") == [(1, "next", 0.5, 2)]
    result = await load(db, chain(1, 2), "a", label="Two")  # which replaces the first
    assert (result.kept, await nodes(db, "A"), len(await nodes(db, "Two"))) == (2, {}, 2)
    result = await load(db, chain(), "a", label="Two")
    assert (result.removed, await nodes(db, "Two")) == (2, {})
    await load(db, chain(), "b")
    assert await checksum(db) == before


async def test_a_load_that_fails_or_is_cancelled_leaves_the_earlier_graph(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(event: Event) -> None:
        assert isinstance(event, Progressed)
        task.cancel()

    await load(db, chain(1, 2), "g")
    before, faults = await standing(db), faulty_writes(monkeypatch)
    for statement in ("write_staged_nodes", "write_staged_relationships", "set_loaded"):
        faults.arm("once", 1, f"documents/loading/{statement}")
        with pytest.raises(DatabaseUnavailableError, match="gone"):
            await load(db, chain(1, 2, 3, concept="new"), "g")
        assert await standing(db) == before, statement
    faults.arm("", 0)
    task = asyncio.ensure_future(load(db, chain(1, 2, 3, concept="new"), "g", on_event=cancel))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await standing(db) == before


async def test_the_next_load_clears_what_a_killed_one_left(db: Database) -> None:
    await load(db, chain(1), "g")
    await load(db, chain(1), "other")
    for graph in ("g", "other", "stale"):
        await db.write(
            queries.get("documents/loading/merge_loads"),
            graph=graph,
            load=f"killed {graph}",
            label="X",
        )
        await db.write(
            queries.get("documents/loading/write_staged_nodes"),
            graph=graph,
            load=f"killed {graph}",
            batch=0,
            rows=[{"properties": {"id": 7}, "labels": ["X"]}],
        )
    await rows(
        db, "MATCH (l:PgsLoad {graph: 'stale'}) SET l.moved_at = datetime() - duration('PT2H')"
    )
    assert (await left_over(db), await nodes(db, "X")) == ((3, 3), {})

    await load(db, chain(1, 2), "g")

    left = await rows(db, "MATCH (s:PgsStaged) RETURN s.pgs_load AS load")
    assert left == [{"load": "killed other"}]
    assert len(await nodes(db, "G")) == 2


async def test_of_two_loads_of_one_graph_the_later_one_wins(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_loaded(monkeypatch, lambda: load(db, chain(8, 9), "g"))
    with pytest.raises(UsageError, match="another load of 'g' began"):
        await load(db, chain(1, 2), "g")

    assert sorted(await nodes(db, "G")) == [8, 9]
    assert await left_over(db) == (0, 0)


@pytest.mark.parametrize(
    "begun",
    [
        "CREATE (:LoadedNode:Document {graph: 'g', id: 'a.md'})",
        "CREATE (:PgsIngest {graph: 'g', holder: 'me', expires_at: datetime() + duration('PT1M')})",
    ],
)
async def test_documents_that_come_while_a_file_is_loaded_stay(
    db: Database, monkeypatch: pytest.MonkeyPatch, begun: str
) -> None:
    before_loaded(monkeypatch, lambda: rows(db, begun))
    with pytest.raises(UsageError, match="graph g is made of documents"):
        await load(db, chain(1, 2), "g")

    assert await nodes(db, "G") == {}
    assert await rows(db, "MATCH (n:Document|PgsIngest) RETURN n.graph AS graph") == [
        {"graph": "g"}
    ]
    assert await left_over(db) == (0, 0)


async def test_every_write_can_be_repeated(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the driver does when the acknowledgement of a commit is lost."""
    write = Database.write

    async def twice(db: Database, query: Query, **params: Any) -> list[Row]:
        await write(db, query, **params)
        return await write(db, query, **params)

    monkeypatch.setattr(Database, "write", twice)
    assert (await load(db, chain(1, 2, 3), "g")).added == 3
    assert len(await nodes(db, "G")) == 3
    assert await relationships(db, "G") == [(1, "next", 0.5, 2), (2, "next", 0.5, 3)]


async def test_unusable_names_and_labels_are_refused_and_hostile_ones_are_only_labels(
    db: Database,
) -> None:
    unusable: list[tuple[str, str | None]] = [
        *((graph, None) for graph in ("", " ", "x" * 501, "…")),
        *(("g", label) for label in ("", "PgsNode", "pgs", LOADED, "a\0b")),
    ]
    for graph, label in unusable:
        with pytest.raises(UsageError, match=r"cannot be used|500 characters"):
            await load(db, chain(1), graph, label=label)
    assert await rows(db, "MATCH (n) WHERE NOT n:PgsMeta RETURN n") == []
    await rows(db, "CREATE (:Person)")
    await load(db, chain(1), "first", label="Shared")
    for graph, label in (("person", None), ("second", "Shared")):
        with pytest.raises(UsageError, match="in use by nodes that were not loaded"):
            await load(db, chain(1), graph, label=label)
    for hostile in ("a`) DETACH DELETE (n", "Ünï cödé", "1", "MATCH"):
        await load(db, chain(1), "g", label=hostile)
        assert (len(await nodes(db, hostile)), len(await nodes(db, "Shared"))) == (1, 1)


@pytest.mark.thorough
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
    demo = build_demo(Path(json.__file__).parent)
    result = await load(db, demo_file(demo), "stdlib")

    assert result.added == len(demo.nodes)
    found = await rows(
        db,
        "MATCH (c:Class:Stdlib {id: 'decoder.JSONDecoder'})-[:CONTAINS]->(m:Method) "
        "RETURN m.name AS name ORDER BY name",
    )
    assert {"name": "decode"} in found
    assert (await load(db, demo_file(demo), "stdlib")).unchanged
