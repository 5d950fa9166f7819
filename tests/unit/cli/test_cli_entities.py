"""`pgs entities`: what it passes on, how it ends, and what it tells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgs_neo4j.errors import BusyError, PGSError, UsageError
from pgs_neo4j.model.entities import EntityInfo, EntityName, EntityPage
from tests.fakes.commands import StandIn, pgs

MARIE = EntityInfo(id="entity:Person:MARIE_CURIE", name="Marie Curie", type="Person", mentions=2)
NAME = EntityName(id=MARIE.id, spellings=("Marie Curie",), mentions=2, joined="leads")
PAGE = EntityPage(
    entity=MARIE, names=(NAME,), chunks=(), chunk_count=0, relations=(), relation_count=0
)
APART = [MARIE.id, "entity:Person:M._CURIE"]


@pytest.fixture
def engine(engine: StandIn) -> StandIn:
    engine.replies |= {
        "entities": [MARIE], "entities.show": PAGE, "entities.merge": MARIE.id,
        "entities.split": APART,
    }  # fmt: skip
    return engine


def entities(*words: str) -> Any:
    return pgs("entities", *words, "--graph", "docs")


def test_entities_are_listed_with_the_defaults_or_by_filters(engine: StandIn) -> None:
    done = entities("list")
    assert (done.exit_code, done.stdout, done.stderr) == (
        0, "Marie Curie  Person, 2 mentions, entity:Person:MARIE_CURIE\n", "",
    )  # fmt: skip
    filtered = entities("list", "--text", "cur", "--type", "Person", "--limit", "1")
    assert "there may be more than these 1; --limit lists more" in filtered.stderr
    assert engine.asked == [
        ("entities", "docs", {"text": "", "kind": "", "limit": 100}),
        ("entities", "docs", {"text": "cur", "kind": "Person", "limit": 1}),
    ]


def test_lists_and_pages_are_json(engine: StandIn) -> None:
    own = {
        "id": "entity:Person:MARIE_CURIE", "name": "Marie Curie", "type": "Person",
        "mentions": 2, "description": "",
    }  # fmt: skip
    assert json.loads(entities("list", "--json").stdout) == {"entities": [own]}
    page = json.loads(entities("show", "Marie Curie", "--json").stdout)
    assert page["entity"] == own
    assert page["names"][0]["joined"] == "leads"
    engine.replies["entities"] = []
    assert json.loads(entities("list", "--json").stdout) == {"entities": []}
    done = entities("list")
    assert (done.exit_code, done.stdout.strip()) == (0, "")
    assert "graph docs has no such entities" in done.stderr


def test_an_entity_is_shown(engine: StandIn) -> None:
    done = entities("show", "M. Curie")
    assert done.exit_code == 0
    assert "Marie Curie (2 mentions): the leading name" in done.stdout
    assert engine.asked == [("entities.show", "docs", "M. Curie")]


def test_the_last_entity_is_what_the_others_belong_with(engine: StandIn) -> None:
    done = entities("merge", "M. Curie", "Maria", "Marie Curie")
    assert (done.exit_code, done.stdout) == (0, f"merged into {MARIE.id}\n")
    assert json.loads(entities("merge", "a", "b", "--json").stdout) == {"merged": MARIE.id}
    refused = entities("merge", "Marie Curie")
    assert refused.exit_code == 2
    assert "name at least two entities" in refused.stderr
    assert engine.asked == [
        ("entities.merge", "docs", ["M. Curie", "Maria"], "Marie Curie"),
        ("entities.merge", "docs", ["a"], "b"),
    ]


def test_names_are_split_off(engine: StandIn) -> None:
    done = entities("split", "Marie Curie", "M. Curie", "Maria")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "these are separate entities now:", *(f"  {one}" for one in APART),
    ]  # fmt: skip
    assert json.loads(entities("split", "Marie Curie", "--json").stdout) == {"entities": APART}
    assert engine.asked == [
        ("entities.split", "docs", "Marie Curie", ["M. Curie", "Maria"]),
        ("entities.split", "docs", "Marie Curie", []),
    ]


@pytest.mark.parametrize(
    "words", [("list",), ("show", "-g", "docs"), ("show", "a"), ("merge", "a", "b"), ("split", "a"),
              ("split", "-g", "docs"), ("list", "-g", "docs", "--limit", "0")]
)  # fmt: skip
def test_a_graph_and_an_entity_are_required(engine: StandIn, words: tuple[str, ...]) -> None:
    assert pgs("entities", *words).exit_code == 2
    assert engine.asked == []


@pytest.mark.parametrize(
    "words", [("list",), ("show", "a"), ("merge", "a", "b"), ("split", "a", "b")]
)
@pytest.mark.parametrize(
    ("error", "code"), [(UsageError("there is no such entity"), 2), (BusyError("it is busy"), 4)]
)
def test_errors_end_with_their_codes(
    engine: StandIn, words: tuple[str, ...], error: PGSError, code: int
) -> None:
    engine.raising = error
    done = entities(*words)
    assert done.exit_code == code
    assert str(error) in done.stderr
    told = json.loads(entities(*words, "--json").stderr.splitlines()[-1])
    assert (told["error"], told["code"]) == (str(error), code)
