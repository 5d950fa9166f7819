"""The door for Cypher, on a real database: what passes is read, and what does more is refused."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.reading import ReadLimits, read_statement
from pgs_neo4j.errors import DatabaseTimeoutError, GateError
from tests.database import alter, fetch

SMALL_GRAPH = """
CREATE (a:Doc {name: 'Ann', year: 2019, vector: [x IN range(1, 64) | x / 2.0]})
CREATE (b:Doc {name: 'Bob', year: 2021})-[:CITES {page: 3}]->(a)
CREATE (b)-[:ABOUT]->(:Topic {name: 'kiln', since: date('2020-02-29')})
CREATE (b)-[:PGS_IN]->(:PgsPartition {uid: 'p'}), (:PgsRun {id: 'r'})
"""


@pytest.fixture
async def graph(db: Database) -> Database:
    await alter(db, SMALL_GRAPH)
    return db


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("MATCH (d:Doc) RETURN count(d) AS docs", [(2,)]),
        ("MATCH (d:Doc)-[:CITES]->(e) RETURN d.name, e.name", [("Bob", "Ann")]),
        (
            "MATCH (d:Doc)-[r:CITES|ABOUT]->() RETURN type(r) ORDER BY type(r)",
            [("ABOUT",), ("CITES",)],
        ),
        ("MATCH (d:Doc) WHERE (d)-[:CITES]->() RETURN d.name", [("Bob",)]),
        (
            "MATCH (d:Doc) RETURN d.name, COUNT { (d)-[:CITES]->() } AS c ORDER BY c",
            [("Ann", 0), ("Bob", 1)],
        ),
        ("MATCH (d:Doc {name: 'Ann'}) OPTIONAL MATCH (d)-[:ABOUT]->(t) RETURN t", [(None,)]),
        (
            "MATCH p = shortestPath((a:Doc {name: 'Ann'})-[:CITES|ABOUT*..3]-(t:Topic)) "
            "RETURN length(p)",
            [(2,)],
        ),
        (
            "MATCH (t:Topic) RETURN t.since, date.truncate('month', t.since)",
            [("2020-02-29", "2020-02-01")],
        ),
        (
            "UNWIND [1, 2] AS x CALL (x) { MATCH (d:Doc) RETURN count(d) AS y } RETURN x * y",
            [(2,), (4,)],
        ),
        (
            "MATCH (a:Doc) RETURN avg(a.year) AS mean, collect(a.name)[0..0] AS none;",
            [(2020.0, [])],
        ),
        (
            r"MATCH (d:Doc) WHERE d.name =~ '\\w+' AND d.name <> '\u0041nn' RETURN d.name",
            [("Bob",)],
        ),
    ],
)
async def test_a_plain_read_gives_its_rows(
    graph: Database, statement: str, rows: list[tuple[object, ...]]
) -> None:
    read = await read_statement(graph, statement)
    assert (list(read.rows), read.truncated) == (rows, False)


async def test_nodes_and_relationships_are_plain_and_have_no_vectors(graph: Database) -> None:
    read = await read_statement(graph, "MATCH (b)-[r:CITES]->(a:Doc) RETURN a, r")
    assert read.columns == ("a", "r")
    ((node, link),) = read.rows
    assert isinstance(node, dict)
    assert isinstance(link, dict)
    assert (node["labels"], node["properties"]) == (["Doc"], {"name": "Ann", "year": 2019})
    assert (link["type"], link["properties"]) == ("CITES", {"page": 3})


ATTACKS = [
    "MATCH (n) RETURN count(n)",
    "MATCH (n) RETURN n LIMIT 1",
    "MATCH (d:Doc)--(x) RETURN x",
    "MATCH (d:Doc)-[r]->(x) RETURN count(r)",
    "MATCH (d:Doc)-[*1..2]-(x) RETURN x",
    "MATCH (d:Doc) RETURN COUNT { (d)--() }",
    "MATCH (d:Doc) RETURN size([(d)-->() | 1])",
    "MATCH (d:Doc) WHERE EXISTS { (d)-->() } RETURN d",
    "MATCH ()-[r]->() RETURN count(r)",
    "MATCH (a:Doc), (b:Topic), p = shortestPath((a)-[*..3]-(b)) RETURN p",
    "MATCH p = SHORTEST 1 (a:Doc)-[]-+(b:Topic) RETURN p",
    "MATCH (d:Doc) ((a)-[]->(b))+ (e) RETURN e",
    "MATCH (n:!Doc) RETURN n",
    "MATCH (n:%) RETURN n",
    "MATCH (d:Doc)-[r:!CITES]->(x) RETURN x",
    "MATCH (n) WHERE n:PgsRun RETURN n",
    "MATCH (n:$('Pgs' + 'Run')) RETURN n",
    r"MATCH (n:Pgs\u0052un) RETURN n",
    "MATCH (n) WHERE elementId(n) = '4:x:0' RETURN n",
    "MATCH (n) WHERE id(n) = 0 RETURN n",
    "MATCH ()-[r]->() WHERE id(r) = 0 RETURN r",
    "MATCH (d:Doc) SET d.x = 1",
    r"MATCH (d:Doc) \u0053ET d.x = 1 RETURN d",
    "CREATE (:Doc)",
    "MATCH (d:Doc) DETACH DELETE d",
    "LOAD CSV FROM 'file:///etc/hostname' AS row RETURN row",
    r"LOAD \u0043SV FROM 'http://127.0.0.1:1/' AS row RETURN row",
    "MATCH (d:Doc) RETURN gds.graph.project('g', d, d)",
    "CALL gds.graph.list() YIELD graphName RETURN graphName",
    "CALL db.labels() YIELD label RETURN label",
    "USE neo4j MATCH (d:Doc) RETURN d",
    "CALL { USE neo4j MATCH (d:Doc) RETURN d } RETURN d",
    "SHOW TRANSACTIONS",
    "EXPLAIN MATCH (d:Doc) RETURN d",
    "PROFILE MATCH (d:Doc) RETURN d",
    "MATCH (d:Doc) CALL (d) { RETURN 1 AS x } IN TRANSACTIONS RETURN x",
    "MATCH (d:Doc) RETURN d; MATCH (d:Doc) RETURN d",
    "MATCH (d:Doc) RETURN 1 AS `a\\u0060 UNION MATCH (n:PgsRun) RETURN 2 AS `a`",
]  # fmt: skip


@pytest.mark.parametrize("statement", ATTACKS)
async def test_what_is_no_plain_read_of_named_data_is_refused(
    graph: Database, statement: str
) -> None:
    with pytest.raises(GateError):
        await read_statement(graph, statement)
    kept = "MATCH (n:Doc|Topic) RETURN count(n) AS nodes, count(n.x) AS marked"
    assert await fetch(graph, kept) == [{"nodes": 3, "marked": 0}]


async def test_rows_end_at_the_limits(graph: Database) -> None:
    many = "UNWIND range(1, 1000) AS x RETURN x"
    read = await read_statement(graph, many)
    assert (len(read.rows), read.truncated) == (200, True)
    long = "UNWIND range(1, 9) AS x RETURN reduce(s = '', i IN range(1, 50) | s + 'a') AS s"
    read = await read_statement(graph, long, limits=ReadLimits(size_bytes=300))
    assert (len(read.rows), read.truncated) == (5, True)


async def test_a_statement_that_takes_too_long_is_ended_on_the_server(graph: Database) -> None:
    endless = "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN count(x * y)"
    with pytest.raises(DatabaseTimeoutError):
        await read_statement(graph, endless, limits=ReadLimits(seconds=1.0))
