"""Statements that are refused by their tokens."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.gate.rules import check_tokens
from pgs_neo4j.database.gate.tokens import read_tokens
from pgs_neo4j.errors import GateError


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (n:Doc) RETURN n.set, n.load AS loaded, {use: 1, set: 2} AS m;",
        "MATCH (n:Set)-[:DROP|CREATE]->(m:Doc&Load) RETURN count(n)",
        "MATCH (n:Doc) WITH collect(n) AS transactions WHERE 1 IN transactions RETURN 1",
        "MATCH (n:Doc) WHERE n.name = 'CREATE (x) // gds.graph.drop(1)' RETURN `set`",
        "RETURN date . /* by */ truncate('day', $day) AS x, Duration.Between($a, $b) AS y",
        "CALL (n) { MATCH (n)-[:T]->(m) RETURN count(m) AS c } RETURN c",
        "MATCH (n:PgsqlTable)-[:PGSQL]->() RETURN n",
        "MATCH p = shortestPath((a:A)-[:T*..5]-(b)) WHERE all(x IN nodes(p) WHERE (x.y)) RETURN p",
    ],
)
def test_a_plain_read_passes(statement: str) -> None:
    tokens = read_tokens(statement)
    check_tokens(tokens)
    assert tokens[0].is_word("MATCH", "RETURN", "CALL")


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("RETURN 1; RETURN 2", "one statement at a time"),
        ("EXPLAIN RETURN 1", "leave out EXPLAIN"),
        ("cypher runtime=slotted RETURN 1", "leave out CYPHER"),
        ("SHOW SETTINGS", "begin with MATCH"),
        ("TERMINATE TRANSACTION 'x'", "begin with MATCH"),
        ("Sure: MATCH (n:Doc) RETURN n", "begin with MATCH"),
        (r"MATCH (n:Doc) \u0053ET n.x = 1", "SET writes"),
        ("MATCH (n:Doc) FOREACH (x IN [1] | CREATE (:Doc))", "FOREACH writes"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row", "files and addresses"),
        ("CALL { LOAD CSV FROM 'http://x' AS row RETURN row } RETURN row", "files and addresses"),
        ("USE neo4j MATCH (n:Doc) RETURN n", "USE names another graph"),
        ("CALL () { USE system RETURN 1 AS x } RETURN x", "USE names another graph"),
        ("MATCH (n:Doc) USING SCAN n:Doc RETURN n", "USING"),
        (
            "MATCH (n:Doc) CALL (n) { RETURN 1 AS x } IN 2 CONCURRENT TRANSACTIONS RETURN x",
            "commit",
        ),
        ("CALL db.labels() YIELD label RETURN label", "a procedure may do more"),
        ("CALL `gds`.graph.drop('g')", "a procedure may do more"),
        ("MATCH (n:Doc) RETURN gds.graph.project('g', n, n)", "gds.graph.project"),
        ("RETURN `gds` /* . */ . `version`()", "gds.version"),
        ("RETURN graph.names() AS x", "graph.names"),
        ("MATCH (n:PgsRun) RETURN n", "PgsRun is a name of pgs"),
        ("MATCH (n:Doc)-[:PGS_IN]->(p) RETURN p", "PGS_IN is a name of pgs"),
        (r"MATCH (n:`Pgs\u0052un`) RETURN n", "PgsRun is a name of pgs"),
        ("MATCH (n:$('Pgs' + 'Run')) RETURN n", "write its name"),
        ("MATCH (n:$any(['PgsRun'])) RETURN n", "write its name"),
        ("MATCH (n:$ /* */ all(['PgsRun'])) RETURN n", "write its name"),
    ],
)
def test_a_statement_that_does_more_is_refused(statement: str, reason: str) -> None:
    with pytest.raises(GateError, match=reason):
        check_tokens(read_tokens(statement))
