"""The parts of a statement that are counted if it has no rows."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.gate.tokens import read_tokens, write_tokens
from pgs_neo4j.pgs.querying.statements.empty import divide_statement


def parts(statement: str) -> list[tuple[str, str]]:
    divided = divide_statement(read_tokens(statement))
    return [
        (write_tokens(part.tokens), write_tokens(part.bare) if part.bare else "")
        for part in divided
    ]


def test_patterns_and_filters_are_divided_in_order() -> None:
    assert parts(
        "MATCH (p:Person {name: 'X'})-[:WROTE]->(b:Book), (b)-[:IN]->(g) "
        "WHERE p.age > 3 AND (b.y = 1 OR b.y = 2) AND EXISTS { (p)-[:KNOWS]->() } "
        "MATCH (q:Q) WITH p MATCH (c:C) RETURN p"
    ) == [
        ("(p:Person {name: 'X'})-[:WROTE]->(b:Book)", "(p:Person)-[:WROTE]->(b:Book)"),
        ("(b)-[:IN]->(g)", "(b)-[:IN]->(g)"),
        ("p.age > 3", ""),
        ("(b.y = 1 OR b.y = 2)", ""),
        ("EXISTS { (p)-[:KNOWS]->() }", ""),
        ("(q:Q)", "(q:Q)"),
    ]


def test_an_optional_match_takes_no_rows_away_and_is_left_out() -> None:
    assert parts("MATCH (a:A) OPTIONAL MATCH (a)-[:R]->(b) WHERE b.x = 1 RETURN a") == [
        ("(a:A)", "(a:A)")
    ]


@pytest.mark.parametrize(
    "condition", ["a.x = 1 OR a.y = 2 AND a.z = 3", "CASE WHEN a.x = 1 AND a.y = 2 THEN true END"]
)
def test_conditions_that_and_does_not_divide_stay_whole(condition: str) -> None:
    assert parts(f"MATCH (a:A) WHERE {condition} RETURN a")[1:] == [(condition, "")]


def test_a_quantified_pattern_keeps_its_quantifier() -> None:
    assert parts("MATCH ((a:A {x: 1})-[:R]->(b:B)){1,3} RETURN a") == [
        ("((a:A {x: 1})-[:R]->(b:B)){1,3}", "((a:A)-[:R]->(b:B)){1,3}")
    ]


def test_a_statement_without_a_match_has_no_parts() -> None:
    assert parts("RETURN 1") == []
    assert parts("UNWIND [] AS x MATCH (a:A) RETURN a") == []
