"""Statements that are refused because the server might be unable to end them."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.gate.effort import check_effort
from pgs_neo4j.database.gate.tokens import read_tokens
from pgs_neo4j.errors import GateError


@pytest.mark.parametrize(
    "statement",
    [
        "UNWIND range(1, 100) AS x RETURN sum(x)",
        "MATCH (a:A) UNWIND range(a.first, a.last) AS year RETURN year",
        "RETURN [x IN range(1990, 2026) | x * x]",
        "WITH [1, 2] AS xs RETURN [i IN range(0, size(xs) - 1) | xs[i]]",
        "MATCH (a:A) WITH collect(a) AS xs WHERE all(x IN xs WHERE x.y > 1) RETURN size(xs)",
        "MATCH (a:A) WITH collect(a.x) AS xs RETURN reduce(s = 0, x IN xs | s + x)",
        "WITH [3, 5] AS xs RETURN reduce(m = 0, x IN xs | CASE WHEN x > m THEN x ELSE m END)",
        "WITH [3, 3] AS xs RETURN reduce(a = [], x IN xs | CASE WHEN x IN a THEN a ELSE a + x END)",
        "MATCH (a:A) RETURN replace(replace(a.x, ',', ''), '.', ' and ') AS x",
        r"MATCH (a:A) WHERE a.x =~ '(?i).*(kiln|oven)s?.*' AND a.y =~ $pattern RETURN a",
        r"MATCH (a:A) WHERE a.x =~ '\\d{4}-[a-z*+]+' RETURN a",
        "MATCH (a:A) RETURN [x IN a.xs WHERE none(y IN a.ys WHERE x = y)] AS x",
    ],
)
def test_honest_work_passes(statement: str) -> None:
    check_effort(read_tokens(statement), {"pattern": ".*b.*"})
    assert read_tokens(statement)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("RETURN " + "NOT " * 51 + "true", "times NOT"),
        ("RETURN " + "1 * " * 600 + "1", "words and symbols"),
        ("RETURN " + "(" * 41 + "1" + ")" * 41, "brackets inside each other"),
        ("MATCH " + "-[:T]-".join(["(:A)"] * 14) + " RETURN 1", "13 relationships"),
        ("MATCH " + "--".join(["(:A)"] * 14) + " RETURN 1", "13 relationships"),
        ("RETURN [x IN range(1, 100000000) | x]", "smaller ranges"),
        ("RETURN [x IN range(-90000000, 1) | x]", "smaller ranges"),
        ("RETURN [x IN range(1, 10 ^ 9) | x]", "ends are computed"),
        ("RETURN [x IN range(0, size([1]) * 99999999) | x]", "ends are computed"),
        ("WITH 9 AS n RETURN [x IN range(1, n) | x]", "ends are computed"),
        ("RETURN [x IN range(1, 1e9) | x]", "ends are computed"),
        (
            "RETURN all(a IN range(1, 99999) WHERE any(b IN range(1, 99999) WHERE a = b))",
            "too large",
        ),
        ("RETURN reduce(s = 'a', i IN range(1, 60) | s + s)", "s more than once"),
        ("RETURN reduce(s = 'a', i IN [1] | CASE WHEN true THEN s + s END)", "s more than once"),
        ("RETURN reduce(s = 'a', i IN [1] | s + CASE WHEN true THEN s END)", "s more than once"),
        ("RETURN reduce(s = 'a', i IN [1] | replace('aa', 'a', s))", "puts s into a list"),
        ("RETURN reduce(s = [1], i IN [1] | [x IN [1, 2] | s])", "a list of lists"),
        ("RETURN reduce(s = [1], i IN [1] | [s])", "puts s into a list"),
        ("RETURN reduce(s = [1], i IN [1] | {a: (s)})", "puts s into a list"),
        ("RETURN [x IN [1] | [y IN [2] | x]]", "a list of lists"),
        (
            "RETURN any(x IN [1] WHERE any(y IN [1] WHERE any(z IN [1] WHERE true)))",
            "too many lists",
        ),
        ("WITH 'a' AS s " + "WITH s + s AS s " * 25 + "RETURN s", "fewer [+]"),
        ("WITH 'aaaa' AS s WITH replace(s, 'a', s) AS s RETURN s", "fewer [+]"),
        ("RETURN 'a' =~ '(a+)+'", "repeats a group"),
        ("RETURN 'a' =~ $pattern", "repeats a group"),
        ("RETURN 'a' =~ 'a*a*a*a*'", "at most 3 times"),
        ("RETURN 'a' =~ '" + "a?" * 11 + "'", "at most 3 times"),
        ("RETURN 'a' =~ '(a+)' + '+'", "one regular expression in quotes"),
        ("WITH '(a+)+' AS r RETURN 'a' =~ r", "one regular expression in quotes"),
    ],
)
def test_work_without_an_end_is_refused(statement: str, reason: str) -> None:
    with pytest.raises(GateError, match=reason):
        check_effort(read_tokens(statement), {"pattern": "(b+)+"})
