"""`pgs entities`: what it passes on, and its pages of lists, names, chunks, and relations."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.cli.commands.entities import REASONS, list_lines, page_lines
from pgs_neo4j.documents.entities import APART, LEADS, MERGED, STRAY
from pgs_neo4j.model.browsing import (
    EntityChunk,
    EntityInfo,
    EntityName,
    EntityPage,
    EntityRelation,
)
from tests.fakes.commands import StandIn, pgs

FOUND = EntityInfo(id="entity:Person:MARIE_CURIE", name="Marie Curie", type="Person", mentions=2)
NAME = EntityName(id=FOUND.id, spellings=("Marie Curie",), mentions=2, joined="leads")
PAGE = EntityPage(
    entity=FOUND, names=(NAME,), chunks=(), chunk_count=0, relations=(), relation_count=0
)
SPLIT = [FOUND.id, "entity:Person:M._CURIE"]


@pytest.fixture
def engine(engine: StandIn) -> StandIn:
    engine.replies |= {
        "entities": [FOUND], "entities.show": PAGE, "entities.merge": FOUND.id,
        "entities.split": SPLIT,
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
    assert (page["entity"], page["names"][0]["joined"]) == (own, "leads")
    assert "Marie Curie (2 mentions): the leading name" in entities("show", "M. Curie").stdout
    assert engine.asked[-1] == ("entities.show", "docs", "M. Curie")
    engine.replies["entities"] = []
    assert json.loads(entities("list", "--json").stdout) == {"entities": []}
    done = entities("list")
    assert (done.exit_code, done.stdout.strip()) == (0, "")
    assert "graph docs has no such entities" in done.stderr


def test_the_last_entity_is_what_the_others_belong_with(engine: StandIn) -> None:
    done = entities("merge", "M. Curie", "Maria", "Marie Curie")
    assert (done.exit_code, done.stdout) == (0, f"merged into {FOUND.id}\n")
    assert json.loads(entities("merge", "a", "b", "--json").stdout) == {"merged": FOUND.id}
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
        "these are separate entities now:", *(f"  {one}" for one in SPLIT),
    ]  # fmt: skip
    assert json.loads(entities("split", "Marie Curie", "--json").stdout) == {"entities": SPLIT}
    assert engine.asked == [
        ("entities.split", "docs", "Marie Curie", ["M. Curie", "Maria"]),
        ("entities.split", "docs", "Marie Curie", []),
    ]


@pytest.mark.parametrize(
    "words", [("show", "-g", "docs"), ("split", "-g", "docs"),
              ("list", "-g", "docs", "--limit", "0")]
)  # fmt: skip
def test_an_entity_is_required(engine: StandIn, words: tuple[str, ...]) -> None:
    assert pgs("entities", *words).exit_code == 2
    assert engine.asked == []


MARIE = "entity:Person:MARIE_CURIE"


def entity(**given_: Any) -> EntityInfo:
    own: dict[str, Any] = {
        "id": MARIE, "name": "Marie Curie", "type": "Person", "mentions": 2,
        "description": "She found radium.",
    }  # fmt: skip
    return EntityInfo(**own | given_)


def name(joined: str = "leads", to: str = "", *spellings: str) -> EntityName:
    return EntityName(
        id="entity:Person:M._CURIE", spellings=spellings or ("M. Curie",), mentions=1,
        joined=joined, to=to,
    )  # fmt: skip


def chunk(**given_: Any) -> EntityChunk:
    own: dict[str, Any] = {"chunk": "c", "document": "life.md", "name": "M. Curie"}
    return EntityChunk(**own | given_)


def relation(**given_: Any) -> EntityRelation:
    own: dict[str, Any] = {
        "type": "KNOWS", "other": "Irène", "other_id": "entity:Person:IRÈNE", "outgoing": True,
        "fact": "She knows her.", "mentions": 3,
    }  # fmt: skip
    return EntityRelation(**own | given_)


def page(**given_: Any) -> EntityPage:
    own: dict[str, Any] = {
        "entity": entity(), "names": (name(),), "chunks": (), "chunk_count": 0,
        "relations": (), "relation_count": 0,
    }  # fmt: skip
    return EntityPage(**own | given_)


def text(**given_: Any) -> str:
    return "\n".join(page_lines(page(**given_), 400))


def test_an_entity_is_a_line_of_a_list(hostile: str) -> None:
    listed = list_lines([entity(), entity(name="Paris", type="City", id="p", mentions=1)])
    assert listed == [f"Marie Curie  Person, 2 mentions, {MARIE}", "Paris  City, 1 mention, p"]
    assert list_lines([]) == []
    assert list_lines([entity(name=hostile)]) == [
        f"[bold]red[/bold] 2Jtail  Person, 2 mentions, {MARIE}"
    ]


def test_a_page_begins_with_the_entity_and_has_no_empty_headings() -> None:
    head, _, names = text(entity=entity(description="")).partition("\n\n")
    assert [line.split(maxsplit=1) for line in head.splitlines()] == [
        ["Entity", f"Marie Curie, Person, {MARIE}"], ["Mentions", "2"], ["About", "none"],
    ]  # fmt: skip
    assert names.startswith("Names (1)\n")
    assert "more" not in names
    assert "Chunks" not in names
    assert "Relations" not in names
    assert "About     She found radium.\n" in text()


def test_a_name_says_how_it_came_to_the_entity() -> None:
    for joined, to, told in (
        ("leads", "", "the leading name"),
        ("merged", MARIE, f"merged into {MARIE}"),
        ("apart", "", "split off by a ruling"),
        ("type", MARIE, f"few chunks give it this type; it follows {MARIE}"),
        ("initials", MARIE, f"initials of {MARIE}"),
        ("typing error", MARIE, f"misspelling of {MARIE}"),
        ("by ear", MARIE, f"by ear of {MARIE}"),
    ):
        own = text(names=(name(joined, to, "M. Curie", "M. CURIE"),))
        assert f"M. Curie, M. CURIE (1 mention): {told}; entity:Person:M._CURIE" in own
    assert {LEADS, MERGED, APART, STRAY} < REASONS.keys()
    assert len({*REASONS.values()}) == len(REASONS)


def test_passages_say_where_they_are_relations_their_direction_and_the_rest_is_counted() -> None:
    chunks = (chunk(), chunk(page=7), chunk(path=("Part", "Chapter"), page=0))
    lines = text(chunks=chunks, chunk_count=1200).splitlines()
    assert lines[-5] == "Chunks (1,200)"
    assert [line.strip(" -·•") for line in lines[-4:]] == [
        "life.md: M. Curie",
        "life.md, page 7: M. Curie",
        "life.md, Part, Chapter, page 0: M. Curie",
        "and 1,197 more",
    ]
    own = text(relations=(relation(), relation(outgoing=False, fact="")), relation_count=2)
    assert "KNOWS Irène (3 mentions): She knows her." in own
    assert "Irène KNOWS this (3 mentions)" in own


@pytest.mark.parametrize("width", [40, 80])
def test_lines_stay_within_the_terminal(width: int) -> None:
    lines = page_lines(
        page(
            names=(name("initials", MARIE, *("M. Curie",) * 20),),
            chunks=(chunk(path=("A heading",) * 9),), chunk_count=5,
            relations=(relation(fact="She knows her. " * 20),), relation_count=1,
        ),
        width,
    )  # fmt: skip
    assert all(len(line) <= width for line in lines)


@given(st.text(min_size=1, max_size=30))
def test_any_text_stays_on_its_line(odd: str) -> None:
    told = page_lines(
        page(
            entity=entity(name=odd, description=odd, type=odd, id=odd),
            names=(name("merged", odd, odd),),
            chunks=(chunk(document=odd, name=odd, path=(odd,)),), chunk_count=1,
            relations=(relation(other=odd, type=odd, fact=odd),), relation_count=1,
        ),
        4000,
    )  # fmt: skip
    assert len(told) == 3 + 3 * 3
    assert not any(letter in "".join(told) for letter in "\n\r\x1b\x07\x9b\u2028\u202e")


@pytest.mark.parametrize(
    "words",
    [("list",), ("show", "a"), ("merge", "a", "b"), ("split", "a")],
    ids=lambda words: words[0],
)
def test_the_graph_of_the_settings_is_taken(engine: StandIn, words: tuple[str, ...]) -> None:
    engine.replies["graphs.get"] = SimpleNamespace(
        name="docs"
    )  # the configured one, or the only one
    assert pgs("entities", *words).exit_code == 0
    (asked, call) = engine.asked
    assert asked == ("graphs.get", None)
    assert call[1] == "docs"
