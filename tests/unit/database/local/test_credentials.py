"""The password of the local server: private, random, and never on a command line."""

from __future__ import annotations

import stat

import pytest

from pgs_neo4j.database.local import credentials
from pgs_neo4j.database.local.credentials import renew, wait_with_password
from pgs_neo4j.database.probe import Readiness
from pgs_neo4j.errors import DatabaseError, ServerStartError


@pytest.fixture
def program(tmp_path):
    """A Java that does nothing, and can be told to do more."""
    made = tmp_path / "java"
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    return made


def test_the_password_is_private_and_never_on_a_command_line(paths, tmp_path, program):
    seen = tmp_path / "seen"
    program.write_text(
        f'#!/bin/sh\nfor a; do last="$a"; done\necho "$*" > {seen}\ncat "${{last#@}}" >> {seen}\n'
    )
    password = credentials.ensure_password(paths, program, tmp_path)
    assert stat.S_IMODE(paths.password.stat().st_mode) == 0o600
    command, arguments = seen.read_text().splitlines()
    assert password not in command
    assert command.rpartition("@")[2].startswith(f"{paths.data_dir}/")
    assert arguments == f'dbms set-initial-password "{password}"'
    assert {each.name for each in paths.data_dir.glob("*pass*")} == {"password"}
    (paths.data / "databases" / "system").mkdir(parents=True)
    program.unlink()
    assert credentials.ensure_password(paths, program, tmp_path) == password


def test_a_password_is_random_and_cannot_be_taken_for_an_option(paths, tmp_path, program):
    passwords = set()
    for _ in range(20):
        passwords.add(credentials.ensure_password(paths, program, tmp_path))
        paths.password.unlink()
    assert len(passwords) == 20
    assert all(password.isalnum() and len(password) >= 32 for password in passwords)


def test_a_lost_password_is_an_error(paths, tmp_path):
    (paths.data / "databases" / "system").mkdir(parents=True)
    with pytest.raises(ServerStartError, match=r"password file .* is missing"):
        credentials.ensure_password(paths, tmp_path / "java", tmp_path)


def test_a_refused_first_password_does_not_leak(paths, tmp_path, program):
    program.write_text('#!/bin/sh\nfor a; do last="$a"; done\ncat "${last#@}" >&2\nexit 1\n')
    with pytest.raises(ServerStartError, match="did not accept its first password") as caught:
        credentials.ensure_password(paths, program, tmp_path)
    password = credentials.read_password(paths)
    assert password
    assert password not in str(caught.value)


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("", ""),
        (r"\n \n", ""),
        (r"Selecting JVM\nIt is too short.\n", " (It is too short.)"),
    ],
)
def test_a_refused_first_password_quotes_the_last_line(paths, tmp_path, program, printed, reason):
    program.write_text(f"#!/bin/sh\nprintf '{printed}' >&2\nexit 1\n")
    with pytest.raises(ServerStartError) as caught:
        credentials.ensure_password(paths, program, tmp_path)
    message = f"Neo4j did not accept its first password{reason}; empty the data directory "
    assert str(caught.value).startswith(message)


def test_a_first_password_is_replaced_after_a_failed_start(paths, tmp_path, program):
    first = credentials.ensure_password(paths, program, tmp_path)
    assert credentials.ensure_password(paths, program, tmp_path) == first
    assert credentials.ensure_password(paths, program, tmp_path, renew=True) != first
    (paths.data / "databases" / "system").mkdir(parents=True)
    second = credentials.read_password(paths)
    # Neo4j knows it by now, so only Neo4j can replace it.
    assert credentials.ensure_password(paths, program, tmp_path, renew=True) == second


@pytest.mark.parametrize("text", ["", "\n", "  \n"])
def test_an_empty_password_file_counts_as_none(paths, text):
    assert credentials.read_password(paths) is None
    paths.password.write_text(text)
    assert credentials.read_password(paths) is None


def test_a_stored_password_is_used_for_the_first_start(paths, tmp_path, program):
    paths.password.write_text("chosen\n")
    assert credentials.ensure_password(paths, program, tmp_path) == "chosen"


def test_a_java_that_cannot_run_is_named(paths, tmp_path):
    with pytest.raises(ServerStartError, match=r"tool did not run \(FileNotFoundError\); check"):
        credentials.ensure_password(paths, tmp_path / "absent", tmp_path)


def test_the_offline_tool_gets_its_home_and_no_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("PGS_LLM_API_KEY", "secret-key")
    environment = credentials.admin_environment(tmp_path)
    assert environment["NEO4J_HOME"] == str(tmp_path)
    assert environment["NEO4J_CONF"] == str(tmp_path / "conf")
    assert "PGS_LLM_API_KEY" not in environment


READY = Readiness(neo4j="5.26.30", gds="2.13.9", nodes=0)


@pytest.fixture
def server(paths, monkeypatch):
    """A server with one password; ``refuses`` makes it take no other."""
    credentials.write_private(paths.password, "first")
    state = {"password": "first", "refuses": False}

    def change(uri, user, old, new):
        assert (uri, user, old) == ("bolt://127.0.0.1:7687", "neo4j", state["password"])
        assert credentials.read_next_password(paths) == new  # stored before it is set
        if state["refuses"]:
            raise DatabaseError("no")
        state["password"] = new

    def wait(password):
        if password != state["password"]:
            raise ServerStartError("refused")
        return READY

    monkeypatch.setattr(credentials, "change_password", change)
    state["wait"] = wait
    return state


def test_a_refused_renewal_keeps_the_former_password(paths, server):
    server["refuses"] = True
    with pytest.raises(ServerStartError, match="no; start the local server again") as caught:
        renew(paths, 7687, "first")
    following = credentials.read_next_password(paths)
    assert following is not None
    assert following not in str(caught.value)
    assert wait_with_password(paths, "first", server["wait"]) == (READY, "first")


def test_a_renewal_that_was_cut_off_is_finished_by_the_next_start(paths, server):
    credentials.write_private(paths.next_password, "second")
    server["password"] = "second"
    assert wait_with_password(paths, "first", server["wait"]) == (READY, "second")
    assert credentials.read_password(paths) == "second"
    assert not paths.next_password.exists()


def test_a_password_that_nobody_knows_is_an_error(paths, server):
    server["password"] = "another"
    with pytest.raises(ServerStartError, match="refused"):
        wait_with_password(paths, "first", server["wait"])
    credentials.write_private(paths.next_password, "second")
    with pytest.raises(ServerStartError, match="refused"):
        wait_with_password(paths, "first", server["wait"])
    assert credentials.read_password(paths) == "first"
