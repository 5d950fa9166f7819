"""What is refused before anything is sent: addresses, modes, and parameters."""

from contextlib import nullcontext

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, connect
from pgs_neo4j.database.server import parse_version
from pgs_neo4j.errors import (
    ConfigError,
    DatabaseCertificateError,
    DatabaseUnavailableError,
    DatabaseVersionError,
)
from tests.database import list_rows
from tests.fakes.tls_server import CERTIFICATE, KEY, tls_server


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
        ("bolt://", r"has the scheme bolt; write it as one of bolt, bolt\+s,"),
        ("bolt://user:word@localhost", "contains credentials; set PGS_NEO4J_USER"),
        ("user:word@bolt://localhost", r"has the scheme \(none\)"),
        ("bolt://localhost:port", "has an invalid host or port"),
        ("bolt://user:word", "has an invalid host or port"),
        ("bolt://[word]", "has an invalid host or port"),
        ("bolt://localhost:99999", "has an invalid host or port"),
        ("bolt://[::1", "has an invalid host or port"),
        ("bolt://localhost?password=word", "has a query or fragment, which bolt:// does not take"),
        ("bolt+s://localhost:7687?x=word@", "contains credentials"),
        ("bolt+s://localhost:7687/?x=word", "has a query or fragment"),
        ("neo4j://localhost#word", "has a query or fragment, which neo4j://"),
        ("neo4j://localhost?Password=word", "looks like credentials; set PGS_NEO4J_USER"),
        ("neo4j://localhost?a=1&api_key=word", "looks like credentials"),
        ("neo4j://localhost?a=word&a=word", "the query of the address is malformed"),
        ("neo4j://localhost?word=", "the query of the address is malformed"),
    ],
)
async def test_a_malformed_address_is_refused_before_connecting(uri, message):
    with pytest.raises(ConfigError, match=message) as caught:
        async with connect(uri, "neo4j", "secret"):
            pytest.fail("it connected")
    assert "word" not in str(caught.value).replace("PGS_NEO4J_PASSWORD", "").replace(
        "for a password", ""
    )
    assert "word" not in str(caught.value.__cause__)
    assert "secret" not in str(caught.value)


class Silent:
    """A driver that answers nothing and needs no server."""

    async def verify_connectivity(self) -> None: ...

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    ("version", "languages", "message"),
    [
        ("5.26.30", [], None),
        ("2026.08.1", ["5", "25"], None),
        ("4.4.46", [], "is 4.4.46; upgrade it to 5.26 or newer"),
        ("2031.01.0", ["25", "40"], "no longer speaks Cypher 5; upgrade pgs-neo4j, or use"),
    ],
)
async def test_a_server_is_refused_when_it_is_too_old_or_speaks_no_cypher_5(
    monkeypatch, version, languages, message
):
    async def read(self, query):
        return [{"version": version, "edition": "community", "languages": languages}]

    monkeypatch.setattr(Database, "read", read)
    driver = "pgs_neo4j.database.connection.AsyncGraphDatabase.driver"
    monkeypatch.setattr(driver, lambda *args, **kwargs: Silent())
    refused = pytest.raises(DatabaseVersionError, match=message) if message else nullcontext()
    with refused:
        async with connect("bolt://localhost", "neo4j", "secret") as opened:
            assert opened.languages == tuple(languages or ["5"])


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
        ("rehearse", "batch"),
        ("batch", "write"),
    ],
)
async def test_a_statement_runs_only_as_its_mode_says(database, method, mode):
    with pytest.raises(ValueError, match=f"test/statement is a {mode} query, but was run as"):
        await getattr(database, method)(parse(mode))
    with pytest.raises(ValueError, match="is a write query, but was run as"):
        await database.stream(parse("write"), list_rows)


@pytest.mark.parametrize("parameters", [{}, {"a": 1}, {"a": 1, "b": 2, "c": 3}])
async def test_parameters_are_those_of_the_header(database, parameters):
    with pytest.raises(ValueError, match="was run with the wrong parameters"):
        await database.read(parse("read", "a,b"), **parameters)


async def test_an_address_is_named_without_its_query():
    with pytest.raises(DatabaseUnavailableError) as caught:
        async with connect("neo4j://127.0.0.1:1?region=hidden", "neo4j", "secret"):
            pytest.fail("it connected")
    assert "Neo4j at neo4j://127.0.0.1:1 cannot be reached" in str(caught.value)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["bolt+s", "neo4j+s"])
async def test_a_certificate_that_is_not_trusted_is_said_to_be(scheme):
    with tls_server() as server, pytest.raises(DatabaseCertificateError) as caught:
        async with connect(f"{scheme}://127.0.0.1:{server.port}", "neo4j", "secret"):
            pytest.fail("it connected")
    assert str(caught.value).startswith(
        f"the TLS certificate of Neo4j at {scheme}://127.0.0.1:{server.port} is not trusted "
        "(self-signed certificate); name the certificate of its issuer in PGS_NEO4J_CA"
    )
    assert server.heard == []


@pytest.mark.parametrize("scheme", ["bolt+s", "neo4j+s"])
async def test_a_certificate_authority_is_trusted_where_it_is_named(scheme, tmp_path):
    authority = tmp_path / "ca.pem"
    authority.write_text(CERTIFICATE)
    uri = f"{scheme}://127.0.0.1:{{}}"
    with tls_server() as server, pytest.raises(DatabaseUnavailableError, match="cannot be reached"):
        async with connect(uri.format(server.port), "neo4j", "secret", ca=authority):
            pytest.fail("it is no Neo4j")
    assert server.heard[0].startswith(bytes.fromhex("6060b017"))  # the handshake of Bolt
    with tls_server() as server, pytest.raises(DatabaseCertificateError, match="issued for"):
        host = uri.format(server.port).replace("127.0.0.1", "localhost")
        async with connect(host, "neo4j", "secret", ca=authority):
            pytest.fail("the certificate is for another host")
    assert server.heard == []


@pytest.mark.parametrize(
    ("uri", "content", "message"),
    [
        ("bolt://h", CERTIFICATE, r"no effect with bolt://.*with bolt\+s://, or unset neo4j_ca"),
        ("neo4j+ssc://h", CERTIFICATE, r"no effect with neo4j\+ssc://.*with neo4j\+s://"),
        ("bolt+s://h", "", "which cannot be used"),
        ("bolt+s://h", "no certificate", "which cannot be used"),
        ("bolt+s://h", KEY, "which cannot be used"),
        ("bolt+s://h", None, "which cannot be used .No such file"),
    ],
)
async def test_a_file_that_cannot_vouch_is_refused(uri, content, message, tmp_path):
    authority = tmp_path / "ca.pem"
    if content is not None:
        authority.write_text(content)
    with pytest.raises(ConfigError, match=message):
        async with connect(uri, "neo4j", "secret", ca=authority):
            pytest.fail("it connected")
