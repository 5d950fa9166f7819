"""Checks of a connected server: every answer, and what each failure skips."""

from __future__ import annotations

import re
from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace

import pytest
from pydantic import SecretStr

from pgs_neo4j.config import ServerAccess
from pgs_neo4j.database import connection as door
from pgs_neo4j.database import queries
from pgs_neo4j.database.gds import PREFIX
from pgs_neo4j.engine.doctor.server import (
    FIXES,
    GDS_FIX,
    GDS_PROCEDURES,
    LOSSES,
    NAMES,
    STAGE_FIXES,
    STAGES,
    connect_in_stages,
    examine_server,
)
from pgs_neo4j.errors import (
    ConfigError,
    DatabaseAuthError,
    DatabaseCertificateError,
    DatabaseError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    DatabaseVersionError,
    QueryError,
)
from tests.unit.engine.doctor.conftest import CONSTRAINTS


async def examine(answers):
    checks = await examine_server(answers)
    assert tuple(check.name for check in checks) == NAMES
    for check in checks:
        assert bool(check.fix) == (check.status in ("warning", "failed"))
    return {check.name: check for check in checks}


async def test_without_the_right_to_read_nothing_else_is_checked(answers):
    answers.rows["engine/doctor/count_nodes"] = DatabaseAuthError("not allowed")
    checks = await examine(answers)
    assert (checks["read"].status, checks["read"].detail) == ("failed", "not allowed")
    assert checks["read"].fix == FIXES["read"]
    assert {check.status for check in checks.values()} == {"failed", "skipped"}
    assert answers.rehearsed == []


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("engine/doctor/create_nodes", ["write"]),
        ("engine/doctor/read_constraints", ["schema"]),
        ("engine/doctor/read_procedures", ["Neo4j procedures", "GDS procedures"]),
        ("engine/doctor/read_indexes", ["indexes"]),
    ],
)
async def test_a_failure_of_one_check_leaves_the_others(answers, statement, names):
    answers.rows[statement] = QueryError("refused")
    checks = await examine(answers)
    assert [checks.pop(name).fix for name in names] == [FIXES[name] for name in names]
    assert {check.status for check in checks.values()} == {"ok"}


async def test_without_gds_its_procedures_are_skipped_and_an_old_one_is_named(answers):
    answers.rows["database/gds/read_gds_version"] = QueryError("unknown function")
    checks = await examine(answers)
    assert checks["GDS"].status == "failed"
    assert checks["GDS procedures"].status == "skipped"
    answers.rows["database/gds/read_gds_version"] = [{"version": "2.0.1"}]
    check = (await examine(answers))["GDS"]
    assert check.status == "failed"
    assert check.detail.startswith("GDS is 2.0.1; ")
    assert check.detail.endswith("or newer is required")


async def test_procedures_that_cannot_be_called_are_listed_in_order(answers):
    answers.rows["engine/doctor/read_procedures"] = [{"names": [*LOSSES, *GDS_PROCEDURES[2:]]}]
    check = (await examine(answers))["GDS procedures"]
    assert check.status == "failed"
    assert check.detail == f"the user may not call {', '.join(sorted(GDS_PROCEDURES[:2]))}"
    assert check.fix == GDS_FIX


async def test_what_a_release_lacks_is_named_with_what_fails(answers):
    there = sorted({*LOSSES, *GDS_PROCEDURES} - {"db.labels", "gds.wcc.mutate"})
    answers.version = "2031.01.0"
    answers.rows["database/gds/read_gds_version"] = [{"version": "2.80.0"}]
    answers.rows["engine/doctor/read_procedures"] = [{"names": there}]
    answers.rows["engine/doctor/read_installed"] = [{"names": there}]
    checks = await examine(answers)
    lost = "Neo4j 2031.01.0 has no db.labels: graphs cannot be proposed or partitioned"
    check = checks["Neo4j procedures"]
    assert (check.status, check.detail) == ("warning", lost)
    assert check.fix.startswith("upgrade pgs-neo4j")
    check = checks["GDS procedures"]
    assert (check.status, check.detail) == (
        "failed",
        "Graph Data Science 2.80.0 has no gds.wcc.mutate",
    )


@pytest.mark.parametrize("installed", [[], sorted(LOSSES)])
async def test_a_right_that_is_lacking_is_not_blamed_on_the_release(answers, installed):
    """Not even where the user may not list procedures, and so sees none."""
    answers.rows["engine/doctor/read_procedures"] = [{"names": [*LOSSES, *GDS_PROCEDURES][1:]}]
    answers.rows["engine/doctor/read_installed"] = [{"names": installed}]
    check = (await examine(answers))["Neo4j procedures"]
    assert check.status == "warning"
    assert check.detail == "the user may not call db.createLabel: nothing can be stored"
    assert check.fix.startswith("give the user the right")


def test_every_procedure_that_a_statement_calls_is_examined():
    called = {
        procedure
        for name in queries.names()
        for procedure in re.findall(r"CALL ([a-z]+(?:\.[A-Za-z]+)+)", queries.get(name).text)
    }
    needless = {"dbms.components", "dbms.queryJmx"}  # connecting needs the one, nothing the other
    assert called - needless <= {*LOSSES, *GDS_PROCEDURES}
    assert set(LOSSES) <= called


def index(name: str, state: str = "ONLINE", kind: str = "VECTOR"):
    return {
        "name": name,
        "type": kind,
        "labels": ["Paper", "Book"],
        "properties": ["title", "text"],
        "state": state,
    }


async def test_leftover_projections_are_counted_and_a_failed_index_is_a_warning(answers):
    names = [f"{PREFIX}a", f"{PREFIX}b", "theirs"]
    answers.rows["engine/doctor/read_projections"] = [{"names": names}]
    check = (await examine(answers))["GDS procedures"]
    assert check.status == "ok"
    assert check.detail.endswith("a running or killed job left 2 projections")
    answers.rows["engine/doctor/read_indexes"] = [
        index("a", state="FAILED"),
        index("b", kind="FULLTEXT"),
    ]
    check = (await examine(answers))["indexes"]
    assert check.status == "warning"
    assert check.detail == (
        "a (vector on Paper:Book.title|text, failed), "
        "b (full-text on Paper:Book.title|text, online)"
    )


@pytest.mark.parametrize(("gone", "are"), [(1, "is"), (2, "are")])
async def test_missing_constraints_come_with_their_statements(answers, gone, are):
    answers.rows["engine/doctor/read_constraints"] = [{"names": CONSTRAINTS[gone:]}]
    check = (await examine(answers))["schema"]
    assert check.status == "warning"
    assert check.detail.startswith(f"{gone} of {len(CONSTRAINTS)} constraints of pgs_neo4j {are} m")
    assert check.fix.count("CREATE CONSTRAINT") == gone
    answers.rows["engine/doctor/read_constraints"] = [{"names": ["theirs"]}]
    check = (await examine(answers))["schema"]
    assert (check.status, check.detail) == (
        "ok", "not created yet; the first graph will create it",
    )  # fmt: skip


ACCESS = ServerAccess(uri="bolt://db:7687", user="me", password=SecretStr("very-secret"))


@pytest.fixture
def door_raises(monkeypatch):
    """Let the connection fail with an error, or open."""
    state = SimpleNamespace(error=None, arguments=None, closed=False)

    @asynccontextmanager
    async def connect(*arguments, ca):
        state.arguments = arguments
        if state.error is not None:
            raise state.error
        yield SimpleNamespace(version="2026.08.1", edition="community", languages=("5", "25"))
        state.closed = True

    monkeypatch.setattr(door, "connect", connect)
    return state


@pytest.mark.parametrize(
    ("error", "stage", "fix"),
    [
        (DatabaseUnavailableError("down"), "connection", STAGE_FIXES["connection"]),
        (DatabaseTimeoutError("slow"), "connection", STAGE_FIXES["connection"]),
        (DatabaseCertificateError("not trusted"), "connection", "PGS_NEO4J_CA"),
        (ConfigError("no address"), "address", STAGE_FIXES["address"]),
        (DatabaseAuthError("wrong password"), "credentials", STAGE_FIXES["credentials"]),
        (DatabaseVersionError("too old"), "Neo4j version", STAGE_FIXES["Neo4j version"]),
        (DatabaseError("no such database"), "database", STAGE_FIXES["database"]),
    ],
)
async def test_an_error_fails_its_stage_and_skips_the_later_ones(door_raises, error, stage, fix):
    door_raises.error = error
    async with AsyncExitStack() as stack:
        opened, checks = await connect_in_stages(stack, ACCESS, 9.0)
    place = STAGES.index(stage)
    assert opened is None
    assert tuple(check.name for check in checks) == STAGES
    assert {check.status for check in checks[:place]} <= {"ok"}
    assert (checks[place].status, checks[place].detail) == ("failed", str(error))
    assert fix in checks[place].fix
    assert {check.detail for check in checks[place + 1 :]} <= {f"{stage} failed"}


async def test_an_open_connection_passes_all_stages_and_closes_with_the_stack(door_raises):
    async with AsyncExitStack() as stack:
        opened, checks = await connect_in_stages(stack, ACCESS, 9.0)
        assert opened is not None
        assert not door_raises.closed
    assert door_raises.closed
    assert [check.detail for check in checks] == [
        "bolt://db:7687",
        "the server answers",
        "user me is accepted",
        "the user's home database",
        "Neo4j 2026.08.1, community edition, Cypher 5 and 25",
    ]
    assert door_raises.arguments[2] == "very-secret"
    assert "very-secret" not in repr((ACCESS, checks))
    access = ServerAccess(uri="bolt://db:7687", database="graphs")
    async with AsyncExitStack() as stack:
        _, checks = await connect_in_stages(stack, access, 9.0)
    assert checks[2].detail == "the server requires no credentials"
    assert checks[3].detail == "graphs"
    assert door_raises.arguments[2:4] == (None, "graphs")
