"""What is refused before anything is sent: addresses, modes, and parameters."""

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, connect, parse_version
from pgs_neo4j.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5.26.30", (5, 26, 30)),
        ("2026.08.1", (2026, 8, 1)),
        ("5.26-aura", (5, 26)),
        ("2.13.9+12", (2, 13, 9)),
        ("5.26.30.1", (5, 26, 30)),
        ("dev", ()),
    ],
)
def test_a_version_is_its_leading_numbers(text, expected):
    assert parse_version(text) == expected


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("localhost:7687", r"has the scheme \(none\)"),
        ("http://localhost:7474", "has the scheme http"),
        ("bolt://", "has the scheme bolt"),
        ("bolt://user:word@localhost", "contains credentials; set PGS_NEO4J_USER"),
        ("bolt://localhost:port", "has an invalid host or port"),
        ("bolt://localhost:99999", "has an invalid host or port"),
        ("bolt://[::1", "has an invalid host or port"),
    ],
)
async def test_a_malformed_address_is_refused_before_connecting(uri, message):
    with pytest.raises(ConfigError, match=message) as caught:
        async with connect(uri, "neo4j", "secret"):
            pytest.fail("it connected")
    assert "word@" not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.fixture
def database() -> Database:
    """A database without a driver: anything that is sent fails."""
    return Database(
        driver=None,  # type: ignore[arg-type]
        uri="neo4j+s://db.example.org:7688",
        name=None,
        timeout_s=1.0,
        bookmarks=None,  # type: ignore[arg-type]
    )


def parse(mode: str, params: str = "") -> queries.Query:
    names = [name for name in params.split(",") if name]
    values = "".join(f", ${name}" for name in names)
    typed = ", ".join(f"{name}: any" for name in names)
    return queries.parse(
        "test/statement",
        f"// A test.\n// params: {typed}\n// returns: n: int\n// mode: {mode}\n"
        f"RETURN 1 AS n{values}\n",
    )


@pytest.mark.parametrize(
    ("method", "mode"),
    [
        ("read", "write"),
        ("read", "batch"),
        ("write", "read"),
        ("write", "batch"),
        ("rehearse", "read"),
        ("rehearse", "data"),
        ("batch", "write"),
    ],
)
async def test_a_statement_runs_only_as_its_mode_says(database, method, mode):
    with pytest.raises(ValueError, match=f"test/statement has mode {mode}, and was run as"):
        await getattr(database, method)(parse(mode))


async def test_a_stream_only_reads(database):
    with pytest.raises(ValueError, match="has mode write"):
        async for _ in database.stream(parse("write")):
            pytest.fail("it streamed")


@pytest.mark.parametrize("parameters", [{}, {"a": 1}, {"a": 1, "b": 2, "c": 3}])
async def test_parameters_are_those_of_the_header(database, parameters):
    with pytest.raises(ValueError, match="was run with the wrong parameters"):
        await database.read(parse("read", "a,b"), **parameters)


def test_the_address_is_that_of_the_uri(database):
    assert (database.address().host, database.address().port) == ("db.example.org", 7688)


def test_the_driver_is_not_printed(database):
    assert "driver" not in repr(database)
