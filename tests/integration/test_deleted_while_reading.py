"""What is deleted after a statement has found it reads as null, and so counts as deleted.

The statements find all nodes before they return the first row, and rows are fetched one by one. So
nothing here depends on how long anything takes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.loading.graph_file import FileNode, FileRelationship, GraphFile
from pgs_neo4j.documents.loading.load import load
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import StoredDataError
from pgs_neo4j.model import GraphMapping
from tests.database import alter, fetch
from tests.engines import answering

MADE = "UNWIND range(1, 100) AS i CREATE (:Leaf {i: i})-[:ON {i: i}]->(:Twig {i: i})"
FIND = "MATCH (n:Leaf)-[r:ON]->(t:Twig) WITH collect([n, r]) AS found UNWIND found AS one "
READ = FIND + "WITH one[0] AS n, one[1] AS r RETURN "
FORMS = {
    "a property": ("int", "n.i"),
    "a property of a relationship": ("int", "r.i"),
    "its type": ("str", "type(r)"),
    "a value in a list": ("list[int]", "[n.i]"),
    "a value in a pair": ("list[list[any]]", "[key IN ['i'] | [key, n[key]]]"),
    "a map of properties": ("dict", "properties(n)"),
    "a map with some properties": ("dict", "n {.i}"),
    "maps in a list": ("list[dict]", "[n {.*}]"),
}


def query(kind: str, value: str) -> queries.Query:
    return queries.parse(
        "test/statement",
        f"// A test.\n// returns: value: {kind}\n// mode: read\n{READ}{value} AS value\n",
    )


@pytest.mark.parametrize("form", FORMS)
async def test_a_stream_hands_out_nothing_that_has_lost_its_values(db: Database, form: str) -> None:
    await alter(db, MADE)
    begun: list[int] = []

    async def take(rows: AsyncIterator[Row]) -> list[Any]:
        taken = []
        begun.append(0)
        async for row in rows:
            if not taken:
                await alter(db, "MATCH (n:Leaf|Twig) WHERE n.i > 50 DETACH DELETE n")
            taken.append(row["value"])
            begun[-1] = len(taken)
        return taken

    taken = await db.stream(query(*FORMS[form]), take, fetch=1)
    left = await fetch(db, f"{READ}{FORMS[form][1]} AS value")
    assert taken == [row["value"] for row in left]
    first, second = begun
    # The driver may have fetched one more row before the deletion.
    assert 0 < first <= 51
    assert second == 50


@pytest.mark.parametrize("damage", ["REMOVE c.text", "SET c.text = 7", "SET c.text = ['x']"])
async def test_chunks_that_another_program_damaged_do_not_stop_the_deletion_of_others(
    engine: PGS, db: Database, tmp_path: Path, damage: str
) -> None:
    answering(engine, lambda prompt: "<|COMPLETE|>\n")
    (tmp_path / "hidden.md").write_text("Marie Curie hid seven grams of radium under the stairs.\n")
    (tmp_path / "river.md").write_text("The Seine flows through Paris and carries wooden boats.\n")
    await engine.ingest(tmp_path, "docs")
    chunks = "MATCH (c:Chunk)-[:PART_OF]-(:LoadedNode {id: 'river.md'}) "
    assert await alter(db, f"{chunks} {damage} RETURN count(*) AS chunks") == [{"chunks": 1}]
    assert (await engine.ingest.delete("docs", ["hidden.md"])).proven
    with pytest.raises(StoredDataError, match="its text is malformed"):
        await engine.ingest.delete("docs", ["river.md"])


async def test_a_loaded_node_that_lost_its_id_is_loaded_again(db: Database) -> None:
    file = GraphFile(
        nodes=[FileNode(id=one, properties={"name": one.upper()}) for one in ("a", "b")],
        relationships=[FileRelationship(0, 1, "SAYS", 0.5)],
        mapping=GraphMapping(labels=(), text=("name",)),
    )
    await load(db, file, "town")
    assert (await load(db, file, "town")).unchanged
    await alter(db, "MATCH (n:Town {id: 'a'}) REMOVE n.id")
    assert not (await load(db, file, "town")).unchanged
    assert (await load(db, file, "town")).unchanged
    names = await fetch(db, "MATCH (n:Town)-[:SAYS]->(m) RETURN n.name AS name, m.name AS other")
    assert names == [{"name": "A", "other": "B"}]
    assert await fetch(db, "MATCH (n:Town) RETURN count(*) AS nodes") == [{"nodes": 2}]
