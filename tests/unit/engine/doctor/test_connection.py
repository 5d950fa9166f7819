"""The stages on the way to a connection: which one an error belongs to."""

from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace

import pytest
from pydantic import SecretStr

from pgs_neo4j.config import ServerAccess
from pgs_neo4j.database import connection as door
from pgs_neo4j.engine.doctor.connection import FIXES, STAGES, connect_in_stages
from pgs_neo4j.errors import (
    ConfigError,
    DatabaseAuthError,
    DatabaseCertificateError,
    DatabaseError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    DatabaseVersionError,
)

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
        (DatabaseUnavailableError("down"), "connection", FIXES["connection"]),
        (DatabaseTimeoutError("slow"), "connection", FIXES["connection"]),
        (DatabaseCertificateError("not trusted"), "connection", "PGS_NEO4J_CA"),
        (ConfigError("no address"), "address", FIXES["address"]),
        (DatabaseAuthError("wrong password"), "credentials", FIXES["credentials"]),
        (DatabaseVersionError("too old"), "Neo4j version", FIXES["Neo4j version"]),
        (DatabaseError("no such database"), "database", FIXES["database"]),
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
