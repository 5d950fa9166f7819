"""What is read of pgs's own nodes is of the types that headers name, or is refused."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.stored_data import check_rows, lacks_values
from pgs_neo4j.errors import StoredDataError

SESSION: dict[str, Any] = {
    "id": "default", "graph": "papers", "uid": "u", "created_at": "2026-01-01",
    "updated_at": "2026-01-01", "runs": 3,
}  # fmt: skip
COVERAGE: dict[str, Any] = {"partition": 1, "ranks": [1], "texts": [], "unproven": []}


def test_rows_as_they_are_written_pass() -> None:
    check_rows(queries.get("pgs/runs/read_sessions"), [SESSION, SESSION])
    check_rows(queries.get("pgs/runs/read_sessions"), [])
    with pytest.raises(StoredDataError):
        check_rows(queries.get("pgs/runs/read_sessions"), [SESSION, SESSION | {"id": None}])


@pytest.mark.parametrize("name", SESSION)
@pytest.mark.parametrize("value", [None, 1.5, True, ["x"], {"x": 1}, b"x", object()])
def test_a_value_of_another_type_is_refused_and_not_quoted(name: str, value: object) -> None:
    with pytest.raises(
        StoredDataError, match=rf"its {name} is malformed; restore a backup"
    ) as told:
        check_rows(queries.get("pgs/runs/read_sessions"), [SESSION | {name: value}])
    assert "pgs/runs/read_sessions" in str(told.value)


@pytest.mark.parametrize("ranks", [None, 1, "x", ["x"], [1, None], [[1]], [True], (1,), {1: 1}])
def test_items_of_a_list_are_of_its_type(ranks: object) -> None:
    query = queries.get("pgs/runs/read_coverage")
    assert query.columns["ranks"] == "list[int]"
    with pytest.raises(StoredDataError, match="its ranks is malformed"):
        check_rows(query, [dict.fromkeys(query.columns, 1) | COVERAGE | {"ranks": ranks}])


@pytest.mark.parametrize("name", ["read_version", "read_commits", "read_fences"])
@pytest.mark.parametrize("value", [1.5, True, ["x"], {"x": 1}, object()])
def test_a_record_of_the_whole_database_is_refused_with_what_removes_it(
    name: str, value: object
) -> None:
    query = queries.get(f"database/{name}")
    with pytest.raises(StoredDataError, match=r"is malformed; restore a backup.*'pgs purge'"):
        check_rows(query, [dict.fromkeys(query.columns, value)])


def test_values_of_the_user_may_be_of_any_type() -> None:
    query = queries.get("search/read_nodes")
    row = dict.fromkeys(query.columns, object())
    check_rows(query, [row])
    with pytest.raises(StoredDataError):
        check_rows(queries.get("pgs/runs/read_sessions"), [SESSION | {"runs": object()}])


@pytest.mark.parametrize(
    ("kind", "value", "lacks"),
    [
        ("int", None, True),
        ("int?", None, False),
        ("any", None, True),
        ("any?", None, False),
        ("str", 5, False),
        ("list[str]", ["a", None], True),
        ("list[str?]", ["a", None], False),
        ("list[str]?", None, False),
        ("list[str]?", [None], True),
        ("list[str]", None, True),
        ("list[str]", "no list", False),
        ("list[list[any]]", [["a", "b"], ["c", None]], True),
        ("list[list[any]]", [["a", "b"], None], True),
        ("list[list[any?]]", [["a", "b"], ["c", None]], False),
        ("list[list[any]]", [["a", ["b"]], ["c", 0.0]], False),
        ("list[list[float]]", [[0.5], None], True),
        ("list[list[float]]", [[0.5], []], False),
        ("list[list[list[any]]]", [[[1], [None]]], True),
        ("dict", {}, True),
        ("dict", {"id": None, "cited": []}, True),
        ("dict", {"id": 0, "text": None}, False),
        ("dict", {"id": 1, "of": {"id": None}}, True),
        ("dict?", None, False),
        ("list[dict]", [{"id": "a"}, {"id": None}], True),
        ("list[dict]", [], False),
    ],
)
def test_nulls_are_found_where_a_header_allows_none(kind: str, value: object, lacks: bool) -> None:
    query = queries.parse(
        "test/statement",
        f"// A test.\n// returns: n: {kind}\n// mode: read\nRETURN 1 AS n\n",
    )
    assert lacks_values(query, {"n": value}) is lacks
