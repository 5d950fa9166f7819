"""Checks of a connected server: every answer, and what each failure skips."""

import pytest

from pgs_neo4j.doctor.server import FIXES, NAMES, PROCEDURES, examine_server
from pgs_neo4j.errors import DatabaseAuthError, QueryError
from pgs_neo4j.gds import PREFIX
from tests.unit.doctor.conftest import CONSTRAINTS


async def examine(answers):
    checks = await examine_server(answers)
    assert tuple(check.name for check in checks) == NAMES
    for check in checks:
        assert bool(check.fix) == (check.status in ("warning", "failed"))
    return {check.name: check for check in checks}


async def test_a_healthy_server_passes_and_is_left_as_it_was(answers):
    checks = await examine(answers)
    assert {check.status for check in checks.values()} == {"ok"}
    assert checks["read"].detail == "1,234 nodes can be read"
    assert checks["GDS"].detail == "Graph Data Science 2.13.9"
    assert answers.rehearsed == ["doctor/create_nodes"]


async def test_without_the_right_to_read_nothing_else_is_checked(answers):
    answers.rows["doctor/count_nodes"] = DatabaseAuthError("not allowed")
    checks = await examine(answers)
    assert (checks["read"].status, checks["read"].detail) == ("failed", "not allowed")
    assert checks["read"].fix == FIXES["read"]
    assert {check.status for check in checks.values()} == {"failed", "skipped"}
    assert answers.rehearsed == []


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("doctor/create_nodes", "write"),
        ("doctor/read_constraints", "schema"),
        ("doctor/read_procedures", "GDS procedures"),
        ("doctor/read_indexes", "indexes"),
    ],
)
async def test_a_failure_of_one_check_leaves_the_others(answers, statement, name):
    answers.rows[statement] = QueryError("refused")
    checks = await examine(answers)
    assert checks.pop(name).fix == FIXES[name]
    assert {check.status for check in checks.values()} == {"ok"}


async def test_without_gds_its_procedures_are_skipped(answers):
    answers.rows["gds/read_gds_version"] = QueryError("unknown function")
    checks = await examine(answers)
    assert checks["GDS"].status == "failed"
    assert checks["GDS procedures"].status == "skipped"


async def test_an_old_gds_is_named_with_the_minimum(answers):
    answers.rows["gds/read_gds_version"] = [{"version": "2.0.1"}]
    check = (await examine(answers))["GDS"]
    assert check.status == "failed"
    assert check.detail.startswith("GDS is 2.0.1; ")
    assert check.detail.endswith("or newer is required")


async def test_a_database_without_the_schema_is_well(answers):
    answers.rows["doctor/read_constraints"] = [{"names": ["pgs_other"]}]
    check = (await examine(answers))["schema"]
    assert (check.status, check.detail) == ("ok", "not created yet; the first graph will create it")


async def test_a_missing_constraint_comes_with_its_statement(answers):
    answers.rows["doctor/read_constraints"] = [{"names": CONSTRAINTS[1:]}]
    check = (await examine(answers))["schema"]
    assert check.status == "warning"
    assert check.detail.startswith(f"1 of {len(CONSTRAINTS)} constraints")
    assert check.fix.startswith(f"create them: CREATE CONSTRAINT {CONSTRAINTS[0]} ")
    assert "//" not in check.fix


async def test_procedures_that_cannot_be_called_are_listed_in_order(answers):
    answers.rows["doctor/read_procedures"] = [{"names": list(PROCEDURES[2:])}]
    check = (await examine(answers))["GDS procedures"]
    assert check.status == "failed"
    assert check.detail == f"the user may not call {', '.join(sorted(PROCEDURES[:2]))}"


async def test_leftover_projections_are_counted(answers):
    names = [f"{PREFIX}a", f"{PREFIX}b", "theirs"]
    answers.rows["doctor/read_projections"] = [{"names": names}]
    check = (await examine(answers))["GDS procedures"]
    assert check.status == "ok"
    assert check.detail.endswith("a running or killed job left 2 projections")


def index(name: str, state: str = "ONLINE", kind: str = "VECTOR"):
    return {
        "name": name,
        "type": kind,
        "labels": ["Paper", "Book"],
        "properties": ["title", "text"],
        "state": state,
    }


async def test_indexes_are_described(answers):
    answers.rows["doctor/read_indexes"] = [index("a"), index("b", kind="FULLTEXT")]
    check = (await examine(answers))["indexes"]
    assert check.detail == (
        "a (vector on Paper:Book.title|text, online), "
        "b (full-text on Paper:Book.title|text, online)"
    )


async def test_a_failed_index_is_a_warning(answers):
    answers.rows["doctor/read_indexes"] = [index("a", state="FAILED"), index("b")]
    assert (await examine(answers))["indexes"].status == "warning"
