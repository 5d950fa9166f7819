"""Lists that a new user asks for, and examples where arguments are missing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from pgs_neo4j.cli import connection
from pgs_neo4j.cli.app import app
from pgs_neo4j.cli.commands.questions.sessions import LEAN, _lean
from pgs_neo4j.engine import VectorIndex

INDEX = VectorIndex("pgs_vector_1", "Paper", "vec", 3, "COSINE", "ONLINE", own=True)


def pgs(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def indexes(monkeypatch: pytest.MonkeyPatch) -> list[VectorIndex]:
    listed: list[VectorIndex] = []

    async def list_them() -> list[VectorIndex]:
        return listed

    @asynccontextmanager
    async def opened(*given: Any, **knobs: Any) -> AsyncIterator[Any]:
        yield SimpleNamespace(indexes=list_them)

    monkeypatch.setattr(connection, "database", opened)
    return listed


def test_vector_indexes_are_listed(indexes: list[VectorIndex]) -> None:
    assert "'pgs index create' creates" in pgs("index", "list").stderr
    indexes.append(INDEX)
    _, row = pgs("index", "list").stdout.splitlines()
    assert row.split() == ["pgs_vector_1", "Paper", "vec", "3", "cosine", "online", "pgs"]
    document = json.loads(pgs("index", "list", "--json").stdout)
    assert document["indexes"][0] == {
        "name": "pgs_vector_1", "label": "Paper", "property": "vec", "dimensions": 3,
        "similarity": "COSINE", "state": "ONLINE", "own": True,
    }  # fmt: skip


def test_an_import_without_files_shows_an_example() -> None:
    done = pgs("local", "import")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "pgs local import --nodes Paper=papers.csv" in done.stderr


def test_a_session_is_shown_without_answers_and_internals() -> None:
    stored = {"id": "r1", "question": "why?", "answer": "long", "holder": None, "known": None}
    assert _lean(stored) == {"id": "r1", "question": "why?"}
    assert "answer" not in LEAN
