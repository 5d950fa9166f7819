"""`pgs entities`: what it passes on, how it ends, and what it tells."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pgs_neo4j.cli import connection
from pgs_neo4j.cli.app import app
from pgs_neo4j.errors import BusyError, PGSError, UsageError
from pgs_neo4j.model.entities import EntityInfo, EntityName, EntityPage

MARIE = EntityInfo(id="entity:Person:MARIE_CURIE", name="Marie Curie", type="Person", mentions=2)
NAME = EntityName(id=MARIE.id, spellings=("Marie Curie",), mentions=2, joined="leads")
PAGE = EntityPage(
    entity=MARIE, names=(NAME,), chunks=(), chunk_count=0, relations=(), relation_count=0
)


class Engine:
    """Stands in for the engine: remembers what it was asked for."""

    def __init__(self) -> None:
        self.entities = self
        self.stored = [MARIE]
        self.raising: PGSError | None = None
        self.asked: list[tuple[Any, ...]] = []

    async def __call__(self, graph: str, **wanted: Any) -> list[EntityInfo]:
        self.note("list", graph, wanted)
        return self.stored

    async def show(self, graph: str, entity: str) -> EntityPage:
        self.note("show", graph, entity)
        return PAGE

    async def merge(self, graph: str, entities: Sequence[str], into: str) -> str:
        self.note("merge", graph, [*entities], into)
        return MARIE.id

    async def split(self, graph: str, entity: str, names: Sequence[str] = ()) -> list[str]:
        self.note("split", graph, entity, [*names])
        return [MARIE.id, "entity:Person:M._CURIE"]

    def note(self, *asked: Any) -> None:
        self.asked.append(asked)
        if self.raising is not None:
            raise self.raising


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    stand_in = Engine()

    @asynccontextmanager
    async def opened(*listeners: Any) -> AsyncIterator[Engine]:
        yield stand_in

    monkeypatch.setattr(connection, "database", opened)
    monkeypatch.setattr(connection, "engine", opened)
    return stand_in


def pgs(*words: str) -> Result:
    return CliRunner().invoke(app, ["entities", *words])


def test_entities_are_listed_with_the_defaults(engine: Engine) -> None:
    done = pgs("list", "--graph", "docs")
    assert (done.exit_code, done.stdout) == (
        0, "Marie Curie  Person, 2 mentions, entity:Person:MARIE_CURIE\n",
    )  # fmt: skip
    assert engine.asked == [("list", "docs", {"text": "", "kind": "", "limit": 100})]
    assert done.stderr == ""


def test_filters_are_passed_on(engine: Engine) -> None:
    done = pgs("list", "-g", "docs", "--text", "cur", "--type", "Person", "--limit", "1")
    assert engine.asked == [("list", "docs", {"text": "cur", "kind": "Person", "limit": 1})]
    assert "there may be more than these 1; --limit lists more" in done.stderr


def test_a_list_of_none_says_so(engine: Engine) -> None:
    engine.stored = []
    done = pgs("list", "-g", "docs")
    assert (done.exit_code, done.stdout.strip()) == (0, "")
    assert "graph docs has no such entities" in done.stderr


def test_lists_and_pages_are_json(engine: Engine) -> None:
    own = {
        "id": "entity:Person:MARIE_CURIE", "name": "Marie Curie", "type": "Person",
        "mentions": 2, "description": "",
    }  # fmt: skip
    assert json.loads(pgs("list", "-g", "docs", "--json").stdout) == {"entities": [own]}
    page = json.loads(pgs("show", "Marie Curie", "-g", "docs", "--json").stdout)
    assert page["entity"] == own
    assert page["names"][0]["joined"] == "leads"
    engine.stored = []
    assert json.loads(pgs("list", "-g", "docs", "--json").stdout) == {"entities": []}


def test_an_entity_is_shown(engine: Engine) -> None:
    done = pgs("show", "M. Curie", "--graph", "docs")
    assert done.exit_code == 0
    assert "Marie Curie (2 mentions): the leading name" in done.stdout
    assert engine.asked == [("show", "docs", "M. Curie")]


def test_the_last_entity_is_what_the_others_belong_with(engine: Engine) -> None:
    done = pgs("merge", "M. Curie", "Maria", "Marie Curie", "-g", "docs")
    assert (done.exit_code, done.stdout) == (0, f"merged into {MARIE.id}\n")
    assert engine.asked == [("merge", "docs", ["M. Curie", "Maria"], "Marie Curie")]
    assert json.loads(pgs("merge", "a", "b", "-g", "docs", "--json").stdout) == {"merged": MARIE.id}


def test_one_entity_cannot_be_merged(engine: Engine) -> None:
    done = pgs("merge", "Marie Curie", "-g", "docs")
    assert done.exit_code == 2
    assert "name at least two entities" in done.stderr
    assert engine.asked == []


def test_names_are_split_off(engine: Engine) -> None:
    done = pgs("split", "Marie Curie", "M. Curie", "Maria", "-g", "docs")
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        [
            "these are separate entities now:",
            *("  entity:Person:MARIE_CURIE", "  entity:Person:M._CURIE"),
        ],
    )
    pgs("split", "Marie Curie", "-g", "docs")
    assert engine.asked == [
        ("split", "docs", "Marie Curie", ["M. Curie", "Maria"]),
        ("split", "docs", "Marie Curie", []),
    ]
    found = json.loads(pgs("split", "Marie Curie", "-g", "docs", "--json").stdout)
    assert found == {"entities": ["entity:Person:MARIE_CURIE", "entity:Person:M._CURIE"]}


@pytest.mark.parametrize(
    "words", [("list",), ("show", "-g", "docs"), ("show", "a"), ("merge", "a", "b"), ("split", "a"),
              ("split", "-g", "docs"), ("list", "-g", "docs", "--limit", "0")]
)  # fmt: skip
def test_a_graph_and_an_entity_are_required(engine: Engine, words: tuple[str, ...]) -> None:
    assert pgs(*words).exit_code == 2
    assert engine.asked == []


@pytest.mark.parametrize(
    "words", [("list",), ("show", "a"), ("merge", "a", "b"), ("split", "a", "b")]
)
@pytest.mark.parametrize(
    ("error", "code"), [(UsageError("there is no such entity"), 2), (BusyError("it is busy"), 4)]
)
def test_errors_end_with_their_codes(
    engine: Engine, words: tuple[str, ...], error: PGSError, code: int
) -> None:
    engine.raising = error
    done = pgs(*words, "-g", "docs")
    assert done.exit_code == code
    assert str(error) in done.stderr
    engine.raising = error
    told = json.loads(pgs(*words, "-g", "docs", "--json").stderr.splitlines()[-1])
    assert (told["error"], told["code"]) == (str(error), code)
