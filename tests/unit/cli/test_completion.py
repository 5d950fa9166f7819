"""Completion from a local file: bounded, private, and harmless when broken."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pgs_neo4j import engine
from pgs_neo4j.cli import completion
from pgs_neo4j.cli.app import app
from pgs_neo4j.cli.completion import complete_graphs, complete_runs, complete_sessions, refresh
from pgs_neo4j.engine.catalog import StoredNames
from pgs_neo4j.errors import DatabaseUnavailableError

URI = "bolt://db.example:7687"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    monkeypatch.setenv("PGS_NEO4J_URI", URI)
    monkeypatch.setenv("PGS_NEO4J_PASSWORD", "secret-word")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "pgs-neo4j" / "names"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Any:
    def write(*names: Any, local: bool = False) -> None:
        async def read(pgs: object, limit: int) -> StoredNames:
            assert limit == completion.MOST_NAMES
            return StoredNames(*names)

        monkeypatch.setattr(engine, "read_names", read, raising=False)
        asyncio.run(refresh(object(), local=local))

    return write


def test_names_are_completed_and_a_shell_gets_them(store: Any) -> None:
    store(("papers", "people", "stdlib"), ("default",), ("r1", "r2"))
    assert complete_graphs("p") == ["papers", "people"]
    assert complete_sessions("") == ["default"]
    assert complete_runs("r2") == ["r2"]
    assert complete_runs("x") == []
    store(("papers",), (), ("r1",))
    for words, place, listed in (("pgs show ", 2, "r1"), ("pgs ask --graph pa", 3, "papers")):
        variables = {
            "COMP_WORDS": words,
            "COMP_CWORD": str(place),
            "_PGS_COMPLETE": "complete_bash",
        }
        done = CliRunner().invoke(app, [], prog_name="pgs", env=variables)
        assert done.stdout.split() == [listed]


def test_the_file_is_private_holds_no_secret_and_few_stay(
    store: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(("papers",), (), ())
    (path,) = folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for text in (path.name, path.read_text()):
        assert "secret-word" not in text
        assert "db.example" not in text
    for number in range(completion.MOST_FILES + 3):
        monkeypatch.setenv("PGS_NEO4J_URI", f"bolt://db{number}:7687")
        store(("papers",), (), ())
    assert len([*folder.iterdir()]) == completion.MOST_FILES
    assert complete_graphs("") == ["papers"]


def test_each_database_has_its_own(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store(("papers",), (), ())
    store(("stdlib",), (), (), local=True)
    assert complete_graphs("") == ["papers"]
    monkeypatch.setenv("PGS_NEO4J_DATABASE", "other")
    assert complete_graphs("") == []
    monkeypatch.delenv("PGS_NEO4J_DATABASE")
    monkeypatch.delenv("PGS_NEO4J_URI")
    assert complete_graphs("") == ["stdlib"]


HOSTILE = ("$(rm x)", "a b", "`x`", "-x", "a;b", "x\ny", "\x1b[31m", "a\u200bb", "é", "*", "'", "")


def test_what_a_shell_would_read_as_code_is_never_offered(store: Any, folder: Path) -> None:
    store((*HOSTILE, "fine"), HOSTILE, ())
    assert complete_graphs("") == ["fine"]
    (path,) = folder.iterdir()
    path.write_text(json.dumps({"graphs": [*HOSTILE, "fine", 7, None]}))
    assert complete_graphs("") == ["fine"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"graphs": 7}', b'{"graphs": {"a": 1}}', b"\xff\xfe",
     b'{"graphs": ["' + b"x" * completion.MOST_BYTES + b'"]}'],
)  # fmt: skip
def test_a_broken_file_completes_nothing(content: bytes, store: Any, folder: Path) -> None:
    assert complete_graphs("") == []
    store(("papers",), (), ())
    (path,) = folder.iterdir()
    path.write_bytes(content)
    assert complete_graphs("p") == []
    store(("papers",), (), ())
    assert complete_graphs("p") == ["papers"]


def test_with_wrong_settings_nothing_is_completed(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(("papers",), (), ())
    monkeypatch.setenv("PGS_NEO4J_URI", "nonsense")
    monkeypatch.setenv("PGS_MAX_CALLS", "many")
    assert complete_graphs("") == []


def test_a_database_that_fails_ends_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(pgs: object, limit: int) -> StoredNames:
        raise DatabaseUnavailableError("it is gone")

    monkeypatch.setattr(engine, "read_names", fail, raising=False)
    asyncio.run(refresh(object(), local=False))
    assert not folder.exists()
