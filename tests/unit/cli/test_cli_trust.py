"""No command hands a secret to an address of the working directory, and each names that file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pgs_neo4j import PGS, config
from pgs_neo4j.cli import connection
from pgs_neo4j.database import local
from pgs_neo4j.errors import DatabaseError, ServerStartError
from pgs_neo4j.events import Event, Warned
from tests.fakes.commands import pgs
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.tls_server import TlsServer, tls_server

URI = "bolt://127.0.0.1:{}"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory, and a process that has said nothing yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config.provenance, "user_config_path", lambda _: tmp_path / "nowhere")
    monkeypatch.setattr(connection, "_PRINTED_NOTES", set())
    return tmp_path


@pytest.fixture
def listener() -> Iterator[TlsServer]:
    with tls_server(tls=False) as server:
        yield server


@pytest.mark.parametrize(
    "command",
    [
        ["ask", "--quiet", "--graph", "g", "what?"],
        ["sessions", "list", "--json"],
    ],
)
def test_a_password_is_not_sent_where_the_working_directory_points(
    here: Path, listener: TlsServer, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    (here / "pgs.toml").write_text(f'neo4j_uri = "{URI.format(listener.port)}"\n')
    monkeypatch.setenv("PGS_NEO4J_PASSWORD", "hunter-one")
    done = pgs(*command)
    assert done.exit_code == 2
    assert "is not sent to 127.0.0.1" in done.stderr
    assert f"{here / 'pgs.toml'} is in force" in done.stderr
    assert done.stdout == ""
    assert "hunter" not in done.output
    assert listener.heard == []
    monkeypatch.setenv("PGS_CONFIG", str(here / "pgs.toml"))
    done = pgs(*command)
    assert done.exit_code == 5  # it is allowed now, and no Neo4j answers
    assert listener.heard != []


def test_a_key_and_a_question_are_not_sent_where_the_working_directory_points(
    here: Path, listener: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeOpenAI() as fake:
        settings = f'llm_base_url = "{fake.base_url}"\nneo4j_uri = "{URI.format(listener.port)}"\n'
        (here / "pgs.toml").write_text(settings)
        monkeypatch.setenv("PGS_LLM_API_KEY", "sk-hunter")
        done = pgs("ask", "--graph", "g", "what is the secret?")
        assert done.exit_code == 2
        assert "llm_api_key from PGS_LLM_API_KEY is not sent to 127.0.0.1" in done.stderr
        assert fake.requests == []
    assert listener.heard == []  # said before anything was contacted
    assert "hunter" not in done.output


def test_the_doctor_says_what_is_refused_and_what_is_risky(
    here: Path, listener: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "pgs.toml").write_text(f'neo4j_uri = "{URI.format(listener.port)}"\n')
    monkeypatch.setenv("PGS_NEO4J_PASSWORD", "hunter-one")
    done = pgs("doctor")
    assert done.exit_code == 2
    assert "FAIL configuration: neo4j_password from PGS_NEO4J_PASSWORD is not sent" in done.stdout
    assert listener.heard == []
    monkeypatch.delenv("PGS_NEO4J_PASSWORD")
    monkeypatch.setenv("PGS_MAX_CALL", "3")
    done = pgs("doctor")
    assert "warn configuration: PGS_MAX_CALL is set" in done.stdout
    assert "is in force, because it is in the working directory" in done.stdout


def test_what_is_risky_is_said_once_and_never_on_stdout(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGS_NEO4J_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("PGS_MAX_CALL", "3")
    done = pgs("sessions", "list", "--json")
    assert done.stdout == ""
    assert done.stderr.count("note: PGS_MAX_CALL is set") == 1
    assert "PGS_MAX_CALL" not in pgs("sessions", "list", "--json").stderr


async def test_python_callers_get_an_event_or_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGS_MAX_CALL", "3")
    events: list[Event] = []
    with pytest.raises(DatabaseError):
        async with PGS.connect(on_event=events.append, neo4j_uri="bolt://127.0.0.1:1"):
            pytest.fail("it connected")
    assert [type(event) for event in events] == [Warned]
    with (
        pytest.warns(UserWarning, match="PGS_MAX_CALL is set"),
        pytest.raises(DatabaseError),
    ):
        async with PGS.connect(neo4j_uri="bolt://127.0.0.1:1"):
            pytest.fail("it connected")


def test_a_misspelled_option_of_the_local_server_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise ServerStartError("not in this test")

    monkeypatch.setattr(local, "ensure_running", fail)
    monkeypatch.setenv("PGS_LOCAL_HEAP", "512")
    done = pgs("local", "start", "--quiet", "--json")
    assert (
        "PGS_LOCAL_HEAP is set, but there is no such setting; did you mean PGS_LOCAL_HEAP_MB?"
        in (done.stderr)
    )
    assert done.stdout == ""
