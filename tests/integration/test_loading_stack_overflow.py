"""The Stack Overflow graph: the loader of the tests, and a loaded graph beside it."""

from pathlib import Path

from pgs_neo4j.database.connection import Database
from pgs_neo4j.ingest.brain import parse_brain
from pgs_neo4j.ingest.load import load
from tests.stackoverflow import ARCHIVE, load_stack_overflow

CHECKSUM = """
CALL () { MATCH (n) WHERE NOT n:LoadedNode AND NOT n:PgsLoad
  RETURN count(n) AS nodes,
         sum(size(keys(n))) AS properties,
         sum(size(coalesce(n.body_markdown, ''))) AS characters }
CALL () { MATCH (:!LoadedNode)-[r]->(:!LoadedNode)
  WITH type(r) AS type, count(r) AS number ORDER BY type
  RETURN sum(number) AS relationships, collect(type) AS types }
RETURN nodes, properties, characters, relationships, types
"""


async def test_the_archive_becomes_the_graph_its_model_describes(
    db: Database, shared: Path
) -> None:
    counted = await load_stack_overflow(db, shared / "data" / ARCHIVE)

    assert counted == (6193, 11540)
    _, labels = await db.call(
        "MATCH (n) RETURN labels(n) AS l, count(*) AS c ORDER BY c", {}, "read"
    )
    assert {tuple(row["l"]): row["c"] for row in labels} == {
        ("Tag",): 476,
        ("User",): 1365,
        ("Answer",): 1367,
        ("Comment",): 1396,
        ("Question",): 1589,
    }
    _, types = await db.call("MATCH ()-[r]->() RETURN type(r) AS t, count(*) AS c", {}, "read")
    assert {row["t"]: row["c"] for row in types} == {
        "TAGGED": 4425,
        "ASKED": 1589,
        "COMMENTED": 1396,
        "COMMENTED_ON": 1396,
        "ANSWERED": 1367,
        "PROVIDED": 1367,
    }
    _, typed = await db.call(
        "MATCH (a:Answer) RETURN valueType(a.is_accepted) AS v, valueType(a.score) AS s LIMIT 1",
        {},
        "read",
    )
    assert typed == [{"v": "BOOLEAN NOT NULL", "s": "INTEGER NOT NULL"}]


async def test_loading_beside_it_leaves_it_untouched(db: Database, shared: Path) -> None:
    await load_stack_overflow(db, shared / "data" / ARCHIVE)
    _, before = await db.call(CHECKSUM, {}, "read")

    brain = b'{"nodes": [{"id": 1, "concept": "a"}], "edges": [{"source": 1, "target": 1}]}'
    await load(db, parse_brain(brain), "beside")

    assert (await db.call(CHECKSUM, {}, "read"))[1] == before
    assert before[0]["nodes"] == 6193
