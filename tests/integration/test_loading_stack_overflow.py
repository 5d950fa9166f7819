"""The Stack Overflow graph: the loader of the tests, and a loaded graph beside it."""

from pgs_neo4j.database.connection import Database
from pgs_neo4j.ingest.brain import parse_brain
from pgs_neo4j.ingest.load import load
from tests.stackoverflow import load_stack_overflow
from tests.standins import Archive

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
    db: Database, archive: Archive
) -> None:
    counted = await load_stack_overflow(db, archive.path)

    assert counted == (archive.nodes, archive.relationships)
    _, labels = await db.call("MATCH (n) RETURN labels(n) AS l, count(*) AS c", {}, "read")
    assert {tuple(row["l"]): row["c"] for row in labels} == {
        (label,): nodes for label, nodes in archive.labels.items()
    }
    _, types = await db.call("MATCH ()-[r]->() RETURN type(r) AS t, count(*) AS c", {}, "read")
    assert {row["t"]: row["c"] for row in types} == archive.types
    _, typed = await db.call(
        "MATCH (a:Answer) RETURN valueType(a.is_accepted) AS v, valueType(a.score) AS s LIMIT 1",
        {},
        "read",
    )
    assert typed == [{"v": "BOOLEAN NOT NULL", "s": "INTEGER NOT NULL"}]


async def test_loading_beside_it_leaves_it_untouched(db: Database, archive: Archive) -> None:
    await load_stack_overflow(db, archive.path)
    _, before = await db.call(CHECKSUM, {}, "read")

    brain = b'{"nodes": [{"id": 1, "concept": "a"}], "edges": [{"source": 1, "target": 1}]}'
    await load(db, parse_brain(brain), "beside")

    assert (await db.call(CHECKSUM, {}, "read"))[1] == before
    assert before[0]["nodes"] == archive.nodes
