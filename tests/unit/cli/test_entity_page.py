"""The pages of entities: lists, names with how they came to be one, chunks, and relations."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.cli.pages.documents.entity_page import WAYS, list_lines, page_lines
from pgs_neo4j.ingest.fold.joining import APART, LEADS, MERGED, STRAY
from pgs_neo4j.model.entities import (
    EntityChunk,
    EntityInfo,
    EntityName,
    EntityPage,
    EntityRelation,
)

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


def test_an_entity_is_a_line_of_a_list() -> None:
    listed = list_lines([entity(), entity(name="Paris", type="City", id="p", mentions=1)])
    assert listed == [f"Marie Curie  Person, 2 mentions, {MARIE}", "Paris  City, 1 mention, p"]
    assert list_lines([]) == []


def test_a_page_begins_with_the_entity() -> None:
    first, second, third, *_ = page_lines(page(), 400)
    assert first.split(maxsplit=1) == ["Entity", f"Marie Curie, Person, {MARIE}"]
    assert second.split(maxsplit=1) == ["Mentions", "2"]
    assert third.split(maxsplit=1) == ["About", "She found radium."]


def test_an_entity_without_a_description_says_so() -> None:
    assert page_lines(page(entity=entity(description="")), 80)[2].split() == ["About", "none"]


@pytest.mark.parametrize(
    ("joined", "to", "told"),
    [
        ("leads", "", "the leading name"),
        ("merged", MARIE, f"merged into {MARIE}"),
        ("apart", "", "split off by a ruling"),
        ("type", MARIE, f"few chunks give it this type; it follows {MARIE}"),
        ("initials", MARIE, f"initials of {MARIE}"),
        ("typing error", MARIE, f"misspelling of {MARIE}"),
        ("by ear", MARIE, f"by ear of {MARIE}"),
    ],
)
def test_a_name_says_how_it_came_to_the_entity(joined: str, to: str, told: str) -> None:
    own = text(names=(name(joined, to, "M. Curie", "M. CURIE"),))
    assert f"M. Curie, M. CURIE (1 mention): {told}; entity:Person:M._CURIE" in own


def test_every_way_has_words() -> None:
    assert {LEADS, MERGED, APART, STRAY} < WAYS.keys()
    assert len({*WAYS.values()}) == len(WAYS)


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ({}, "life.md: M. Curie"),
        ({"page": 7}, "life.md, page 7: M. Curie"),
        ({"path": ("Part", "Chapter"), "page": 0}, "life.md, Part, Chapter, page 0: M. Curie"),
    ],
)
def test_a_passage_says_where_it_is(given_: dict[str, Any], told: str) -> None:
    lines = text(chunks=(chunk(**given_),), chunk_count=1).splitlines()
    assert lines[-1].strip(" -·•") == told
    assert "Chunks (1)" in lines


def test_relations_are_told_in_their_direction() -> None:
    own = text(relations=(relation(), relation(outgoing=False, fact="")), relation_count=2)
    assert "KNOWS Irène (3 mentions): She knows her." in own
    assert "Irène KNOWS this (3 mentions)" in own


def test_what_is_left_out_is_counted() -> None:
    own = text(chunks=(chunk(),) * 2, chunk_count=1200)
    assert "Chunks (1,200)" in own
    assert own.endswith("  and 1,198 more")


def test_what_is_not_there_has_no_heading() -> None:
    own = text()
    assert "Chunks" not in own
    assert "Relations" not in own
    assert "Names (1)" in own


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


def test_hostile_names_stay_on_their_line(hostile: str) -> None:
    assert list_lines([entity(name=hostile)]) == [
        f"[bold]red[/bold] 2Jtail  Person, 2 mentions, {MARIE}"
    ]
