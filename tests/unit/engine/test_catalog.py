"""Mappings as they are stored: a part that is missing or unknown never widens a view."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.catalog import check_mapping, is_redefined, parse_mapping
from pgs_neo4j.errors import MappingError, StoredDataError, UnknownGraphError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.rows import definition_of
from tests.fakes.database import FakeDatabase

MAPPING = GraphMapping(labels=("Paper",), text=("abstract",), key="doi")
STORED = json.loads(definition_of(MAPPING))


def changed(**parts: Any) -> str:
    """The stored mapping with other parts."""
    return json.dumps(STORED | parts)


def without(part: str) -> str:
    """The stored mapping without a part."""
    return json.dumps({name: value for name, value in STORED.items() if name != part})


def test_a_mapping_is_read_as_it_was_stored() -> None:
    assert parse_mapping(definition_of(MAPPING), "papers") == MAPPING
    assert parse_mapping(without("embedding_model"), "papers") == MAPPING


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        ("{}", "labels is missing"),
        (without("labels"), "labels is missing"),
        (without("relationship_types"), "relationship_types is missing"),
        (changed(labels=None), "labels is malformed"),
        (changed(labels="Paper"), "labels is malformed"),
        (changed(labels=[["Secret"]]), "labels.0 is malformed"),
        (changed(text={"Secret": 1}), "text is malformed"),
        (changed(key=7), "key is malformed"),
        (changed(not_labels=["Secret"]), "a part that is not known"),
        ("[]", "it is malformed"),
        ("", "it is malformed"),
        ("Secret", "it is malformed"),
        ("[" * 100_000, "it is malformed"),
        ("\ud800", "it is malformed"),
        *((value, "it is no text") for value in (None, 7, 0.5, True, ["{}"], {"labels": ()})),
    ],
)
def test_a_mapping_that_pgs_did_not_write_is_refused_and_not_quoted(
    stored: object, why: str
) -> None:
    with pytest.raises(StoredDataError, match=why) as caught:
        parse_mapping(stored, "papers")
    assert "the mapping of graph papers was changed by another program" in str(caught.value)
    assert "pgs graph add papers --replace" in str(caught.value)
    assert "Secret" not in str(caught.value)


def test_what_was_made_for_a_mapping_that_cannot_be_read_is_made_again() -> None:
    assert not is_redefined(None, MAPPING)
    assert not is_redefined(definition_of(MAPPING), MAPPING)
    for definition in (changed(labels=[]), without("labels"), "x", 7, ["x"]):
        assert is_redefined(definition, MAPPING)


@pytest.mark.parametrize("part", ["labels", "relationship_types", "text", "chunk_labels"])
def test_a_text_is_not_taken_for_a_list_of_letters(part: str) -> None:
    with pytest.raises(MappingError, match=f"{part} is one text; write a list of names"):
        check_mapping(GraphMapping(**{part: "Paper"}))  # type: ignore[arg-type]


async def test_several_graphs_are_listed_with_the_ways_to_name_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def rows(*_: object) -> list[dict[str, str]]:
        return [{"name": "birds"}, {"name": "papers"}]

    monkeypatch.setattr(catalog, "_read_rows", rows)
    db: Any = FakeDatabase()
    with pytest.raises(UnknownGraphError) as caught:
        await catalog.get(db, None)
    assert str(caught.value) == (
        "there are several graphs (birds, papers); name one with --graph (in Python: graph=)"
    )
    assert caught.value.several == ("birds", "papers")


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["docs", "docs.entities"], "docs"),
        (["docs.entities"], "docs.entities"),
        (["docs", "docs.entities", "docs.entities.entities"], "docs"),
        (["docs", "docs.entities", "papers"], None),
        (["docs", "other.entities"], None),
    ],
)
async def test_a_graph_of_documents_is_the_only_one_beside_that_of_its_entities(
    monkeypatch: pytest.MonkeyPatch, names: list[str], chosen: str | None
) -> None:
    async def rows(*_: object) -> list[dict[str, Any]]:
        more = {"definition": None, "generation": None, "node_count": 0, "partition_count": 0}
        more |= {"shared": False, "made": True}
        return [{"name": name, "mapping": definition_of(MAPPING), **more} for name in names]

    monkeypatch.setattr(catalog, "_read_rows", rows)
    db: Any = FakeDatabase()
    if chosen is None:
        with pytest.raises(UnknownGraphError, match="there are several graphs"):
            await catalog.get(db, None)
    else:
        assert (await catalog.get(db, None)).name == chosen
