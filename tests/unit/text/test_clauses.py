"""Statements that are laid out for people."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.clauses import break_clauses


def test_each_clause_begins_a_line() -> None:
    statement = (
        "MATCH (p:Paper) OPTIONAL MATCH (p)-[:BY]->(a) WHERE p.year > 3 WITH p, count(a) AS n "
        "RETURN p.title ORDER BY n DESC SKIP 1 LIMIT 5"
    )
    assert break_clauses(statement).splitlines() == [
        "MATCH (p:Paper)",
        "OPTIONAL MATCH (p)-[:BY]->(a)",
        "WHERE p.year > 3",
        "WITH p, count(a) AS n",
        "RETURN p.title",
        "ORDER BY n DESC",
        "SKIP 1",
        "LIMIT 5",
    ]
    assert break_clauses(statement).replace("\n", " ") == statement


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (p) WHERE p.name STARTS WITH 'a'",
        "RETURN 'x MATCH (y) RETURN z' AS `a RETURN b`",
        "RETURN [x IN xs WHERE x > 1] AS y",
        "RETURN COUNT { MATCH (a:A) WHERE a.x = 1 } AS n",
        "RETURN n.matched",
    ],
)
def test_words_inside_of_a_clause_stay_on_its_line(statement: str) -> None:
    lines = break_clauses(statement).splitlines()
    assert len(lines) == (2 if statement.startswith("MATCH") else 1)
