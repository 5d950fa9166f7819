"""The parameters of `pgs cypher`, and the rows of a search on a page."""

from __future__ import annotations

import pytest

from pgs_neo4j.cli.commands.cypher import read_parameters
from pgs_neo4j.cli.pages import found_page
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import Found, StatementRows


def test_parameters_are_json_or_text() -> None:
    given = ["year=2020", "name=Ann", 'names=["a", "b"]', "empty=", "sum=a=b", "on=true"]
    assert read_parameters(given) == {
        "year": 2020, "name": "Ann", "names": ["a", "b"], "empty": "", "sum": "a=b", "on": True,
    }  # fmt: skip


@pytest.mark.parametrize("given", ["year", "=3", ""])
def test_a_parameter_without_name_or_value_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="is not NAME=VALUE"):
        read_parameters([given])


def found(rows: StatementRows | None, reason: str = "") -> Found:
    return Found(
        question="How many?", mode="cypher", items=(), paths=(), seconds=0.1, rows=rows,
        reason=reason,
    )  # fmt: skip


def test_a_search_shows_its_statement_and_rows() -> None:
    rows = StatementRows(statement="MATCH (p:Paper) RETURN …", columns=("n",), rows=((3,), (4,)))
    shown = found_page.lines(found(rows), 80)
    assert shown[:2] == ["MATCH (p:Paper)", "RETURN …"]
    assert {"R1  n: 3", "R2  n: 4"} <= set(shown)
    assert shown[-1] == "2 rows in 100 ms"
    assert found_page.as_json(found(rows))["rows"]["rows"] == [[3], [4]]


def test_a_search_without_a_statement_says_why() -> None:
    shown = found_page.lines(found(None, "the word ships is no label"), 80)
    assert shown[0] == "no statement was read: the word ships is no label"
    assert found_page.as_json(found(None))["rows"] is None
