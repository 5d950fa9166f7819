"""Lists that a new user asks for, and examples where arguments are missing."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from pgs_neo4j.cli import connection
from pgs_neo4j.cli.app import app
from pgs_neo4j.cli.commands.questions.sessions import LEAN, _lean
from pgs_neo4j.cli.pages import index_page
from pgs_neo4j.engine import CreatedIndexes, SearchIndex

INDEX = SearchIndex(
    name="pgs_vector_0123456789abcdef", kind="vector", entity="node", labels=("Paper",),
    properties=("vec",), dimensions=3, similarity="COSINE",
)  # fmt: skip
TEXT = SearchIndex(
    name="texts", kind="text", entity="node", labels=("Paper", "Author"),
    properties=("title", "name"), analyzer="english", state="POPULATING", population=40.0,
)  # fmt: skip


def pgs(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def indexes(monkeypatch: pytest.MonkeyPatch) -> list[SearchIndex]:
    listed: list[SearchIndex] = []

    async def list_them() -> list[SearchIndex]:
        return listed

    @asynccontextmanager
    async def opened(*given: Any, **knobs: Any) -> AsyncIterator[Any]:
        yield SimpleNamespace(indexes=list_them)

    monkeypatch.setattr(connection, "database", opened)
    return listed


def test_indexes_are_listed(indexes: list[SearchIndex], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert "'pgs index create --text'" in pgs("index", "list").stderr
    indexes += [INDEX, TEXT]
    _, *rows = pgs("index", "list").stdout.splitlines()
    vector, text = (re.split(r"\s{2,}", row.strip()) for row in rows)
    assert vector[1:] == [
        "vector on nodes", "Paper", "vec", "3 dimensions, cosine", "online", "pgs"
    ]  # fmt: skip
    assert text == [
        "texts", "full-text", "Paper, Author", "title, name", "words (english)", "populating",
        "others",
    ]  # fmt: skip


def test_the_json_of_an_index_keeps_its_keys(indexes: list[SearchIndex]) -> None:
    indexes += [INDEX, TEXT]
    vector, text = json.loads(pgs("index", "list", "--json").stdout)["indexes"]
    assert vector == {
        "name": INDEX.name, "label": "Paper", "property": "vec", "dimensions": 3,
        "similarity": "COSINE", "state": "ONLINE", "own": True, "kind": "vector", "on": "node",
        "labels": ["Paper"], "properties": ["vec"], "analyzer": None, "population": 100.0,
        "failure": "",
    }  # fmt: skip
    assert (text["kind"], text["own"], text["analyzer"]) == ("text", False, "english")


def test_created_indexes_and_those_that_were_there_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[dict[str, Any]] = []

    async def create(graph: str | None, **options: bool) -> CreatedIndexes:
        asked.append({"graph": graph} | options)
        return CreatedIndexes("papers", 3, (INDEX.name,), (INDEX,), (TEXT,), ("half filled",))

    @asynccontextmanager
    async def opened(*given: Any, **knobs: Any) -> AsyncIterator[Any]:
        yield SimpleNamespace(indexes=SimpleNamespace(create=create))

    monkeypatch.setattr(connection, "database", opened)
    monkeypatch.setenv("COLUMNS", "200")
    done = pgs("index", "create", "-g", "papers", "--text", "--facts")
    assert done.stdout.splitlines() == [
        f"created: vector index {INDEX.name} on Paper (vec, 3 dimensions)",
        "already there: full-text index texts on Paper, Author (title, name), made by others",
    ]
    assert "half filled" in done.stderr
    assert asked == [{"graph": "papers", "text": True, "facts": True, "vectors": False}]
    document = json.loads(pgs("index", "create", "--json").stdout)
    assert document["created"] == [INDEX.name]
    assert (document["graph"], document["dimensions"]) == ("papers", 3)
    assert document["existing"] == ["texts"]
    assert [index["name"] for index in document["indexes"]] == [INDEX.name, "texts"]


def test_the_analyzer_of_another_index_is_told() -> None:
    plain = replace(TEXT, analyzer="standard-no-stop-words")
    (line,) = index_page.lines(CreatedIndexes("papers", 0, (), (), (plain,)))
    assert line.endswith("made by others, with the analyzer standard-no-stop-words")


def test_an_import_without_files_shows_an_example() -> None:
    done = pgs("local", "import")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "pgs local import --nodes Paper=papers.csv" in done.stderr


def test_a_session_is_shown_without_answers_and_internals() -> None:
    stored = {"id": "r1", "question": "why?", "answer": "long", "holder": None, "known": None}
    assert _lean(stored) == {"id": "r1", "question": "why?"}
    assert "answer" not in LEAN
