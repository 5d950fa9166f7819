"""What one publication sends: documents, chunks, entities, mentions, and relations as rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.errors import LeaseLostError
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.ingest.change import Change
from pgs_neo4j.ingest.entities.type_labels import TypeLabels
from pgs_neo4j.ingest.fold.contribution import EntityMention
from pgs_neo4j.ingest.fold.folding import MentionRow
from pgs_neo4j.ingest.fold.rows import EntityRow, RelationPlace, RelationRow
from pgs_neo4j.ingest.names.moving import MovedMentions
from pgs_neo4j.ingest.publish import (
    NewChunk,
    NewDocument,
    Publication,
    chunk_label,
    entity_label,
    fact_vector,
    mapping_of,
    prepare,
    publish,
)
from pgs_neo4j.ingest.stored import EXTRACTION
from pgs_neo4j.ingest.writer import Writer
from pgs_neo4j.model.documents import Chunk, GroundedEntity, GroundedExtraction
from tests.fakes.database import FakeDatabase, Row

WRITER = Writer(graph="docs", holder="me", label="Docs")
SAID = GroundedExtraction((GroundedEntity(name="Paris", type="Location"),))
PLACE: RelationPlace = (("SEINE", "River"), "CROSSES", ("PARIS", "Location"))


def change_of(**given: Any) -> Change:
    nothing: dict[str, Any] = {
        "entities": {}, "vanished": (), "relations": {}, "dropped": (), "mentions": (),
        "unbound": (),
    }  # fmt: skip
    return Change(**{**nothing, **given})


def document_of(name: str, *chunks: NewChunk) -> NewDocument:
    return NewDocument(id=f"folder/{name}", properties={"name": name, "hash": "h"}, chunks=chunks)


def chunk_of(id_: str, *, path: tuple[str, ...] = (), page: int | None = None) -> NewChunk:
    chunk = Chunk(
        index=3, start=10, end=15, text="Paris", hash="abc", sentences=(), path=path, page=page
    )
    return NewChunk(id=id_, chunk=chunk, extraction=SAID, extraction_key="key", sure=False)


def entity_of(**given: Any) -> EntityRow:
    row: dict[str, Any] = {
        "id": "entity:Location:PARIS", "key": "PARIS", "type": "Location", "name": "Paris",
        "description": "A city.", "mentions": 2, "viewed": True,
    }  # fmt: skip
    return EntityRow(**{**row, **given})


async def sent(
    *documents: NewDocument, gone: tuple[str, ...] = (), change: Change | None = None
) -> Row:
    """The parameters of the one statement that publishes."""
    db: Any = FakeDatabase(publish=[{"held": True}])
    what = Publication(gone=gone, documents=documents, change=change or change_of())
    await publish(db, WRITER, what)
    (params,) = db.params("publish")
    assert [name for name, _ in db.sent] == ["publish"]
    return params  # type: ignore[no-any-return]


async def test_everything_goes_in_one_statement_fenced_by_the_holder() -> None:
    moved = MovedMentions("entity:City:PARIS", "entity:Location:PARIS", "City", ["Paris"])
    change = change_of(
        dropped=(PLACE,), vanished=("entity:River:SEINE",), unbound=("c1",), moved=(moved,)
    )
    params = await sent(gone=("old.md", "old.md#1"), change=change)
    assert (params["graph"], params["holder"]) == ("docs", "me")
    assert params["labels"] == ["Docs", "DocsChunk"]
    assert params["gone"] == ["old.md", "old.md#1"]
    assert params["dropped"] == [
        {"source": "entity:River:SEINE", "target": "entity:Location:PARIS", "rel_type": "CROSSES"}
    ]
    assert (params["vanished"], params["unbound"]) == (["entity:River:SEINE"], ["c1"])
    assert params["rebound"] == [
        {"source": moved.source, "target": moved.target, "type": "City", "names": ["Paris"]}
    ]
    assert params["last"]


async def test_a_writer_whose_right_is_lost_learns_it() -> None:
    db: Any = FakeDatabase(publish=[])
    what = Publication(gone=(), documents=(), change=change_of())
    with pytest.raises(LeaseLostError, match=r"graph docs; what was published stays"):
        await publish(db, WRITER, what)


async def test_a_chunk_is_written_with_its_place_its_text_and_its_extraction() -> None:
    params = await sent(document_of("a.md", chunk_of("a#1")))
    assert params["documents"] == [{"id": "folder/a.md", "name": "a.md", "hash": "h"}]
    (row,) = params["chunks"]
    assert row["document"] == "folder/a.md"
    own = row["properties"]
    assert (own["index"], own["start"], own["end"]) == (3, 10, 15)
    assert (own["id"], own["text"], own["hash"]) == ("a#1", "Paris", "abc")
    assert (own["extraction_key"], own["sure"]) == ("key", False)
    assert EXTRACTION.validate_json(own["extraction"]) == SAID


@pytest.mark.parametrize(
    ("path", "page", "name"),
    [
        ((), None, "a.md"),
        (("Part", "Chapter"), None, "a.md, Part, Chapter"),
        ((), 7, "a.md, page 7"),
        (("Part",), 7, "a.md, Part, page 7"),
    ],
)
async def test_a_chunk_is_called_by_document_headings_and_page(
    path: tuple[str, ...], page: int | None, name: str
) -> None:
    params = await sent(document_of("a.md", chunk_of("a#1", path=path, page=page)))
    own = params["chunks"][0]["properties"]
    assert (own["name"], own["path"], own["page"]) == (name, [*path], page)


async def test_new_chunks_with_the_text_of_chunks_that_go_take_over_their_vectors() -> None:
    document = document_of("b.md", chunk_of("b#f00-2"), chunk_of("b#abc"))
    params = await sent(document, gone=("a.md", "a.md#f00", "a.md#f11"))
    assert params["moved"] == [{"former": "a.md#f00", "id": "b#f00-2", "hash": "abc"}]
    assert params["vector"] == fact_vector("Docs") == "Docs_embedding"


async def test_chunks_follow_each_other_within_a_document_only() -> None:
    one = document_of("a.md", *(chunk_of(f"a#{number}") for number in range(3)))
    other = document_of("b.md", *(chunk_of(f"b#{number}") for number in range(2)))
    params = await sent(one, other, document_of("c.md", chunk_of("c#0")))
    assert params["follows"] == [["a#0", "a#1"], ["a#1", "a#2"], ["b#0", "b#1"]]
    assert [row["document"] for row in params["chunks"]] == [
        *["folder/a.md"] * 3, *["folder/b.md"] * 2, "folder/c.md",
    ]  # fmt: skip


async def test_an_entity_has_the_labels_of_the_view_only_while_it_belongs_to_it() -> None:
    inside, outside = entity_of(), entity_of(id="x", viewed=False)
    params = await sent(change=change_of(entities={"a": inside, "x": outside}))
    first, second = params["entities"]
    assert first["labels"] == ["Location", "Docs", "DocsEntity"]
    assert first["without"] == []
    assert second["labels"] == ["Location"]
    assert second["without"] == ["Docs", "DocsEntity"]


async def test_a_type_with_the_label_of_a_graph_is_a_property_alone() -> None:
    writer = replace(WRITER, types=TypeLabels(frozenset({"Location"})))
    rows = {"a": entity_of(), "x": entity_of(id="x", type="River", viewed=False)}
    db: Any = FakeDatabase(publish=[{"held": True}])
    await publish(db, writer, Publication(gone=(), documents=(), change=change_of(entities=rows)))
    (params,) = db.params("publish")
    assert [row["labels"] for row in params["entities"]] == [["Docs", "DocsEntity"], ["River"]]
    assert params["entities"][0]["properties"]["type"] == "Location"
    assert params["type_labels"] == ["River"]


async def test_an_entity_without_a_description_loses_a_former_one() -> None:
    rows = {"a": entity_of(), "b": entity_of(description="")}
    params = await sent(change=change_of(entities=rows))
    own = [row["properties"] for row in params["entities"]]
    assert [one["description"] for one in own] == ["A city.", None]
    assert own[0] == {
        "id": "entity:Location:PARIS", "key": "PARIS", "name": "Paris", "type": "Location",
        "description": "A city.", "weight": 2.0, "fragments_hash": None, "undescribed": None,
        "described_by": None, "called": None,
    }  # fmt: skip
    assert isinstance(own[0]["weight"], float)


async def test_a_mention_has_flat_spans_and_the_hash_of_its_description() -> None:
    mention = EntityMention(
        key="PARIS", type="Location", name="Paris", description="Old.", spans=((1, 6), (9, 14))
    )
    (row,) = (await sent(change=change_of(mentions=(MentionRow("e", "c", mention),))))["mentions"]
    assert (row["entity"], row["chunk"]) == ("e", "c")
    assert row["properties"] == {
        "name": "Paris", "type": "Location", "spans": [1, 6, 9, 14], "implicit": False,
        "sure": True, "short": None, "description": "Old.", "hash": text_hash("Old."),
    }  # fmt: skip


async def test_a_mention_without_a_place_is_implicit() -> None:
    mention = EntityMention(key="PARIS", type="Location", name="Paris", sure=False)
    (row,) = (await sent(change=change_of(mentions=(MentionRow("e", "c", mention),))))["mentions"]
    own = row["properties"]
    assert (own["spans"], own["implicit"], own["sure"]) == ([], True, False)
    assert (own["description"], own["hash"]) == (None, None)


async def test_a_relation_is_written_with_weights_in_whole_units() -> None:
    relation = RelationRow(
        source="s", target="t", rel_type="CROSSES", fact="So.", fact_steps=900,
        keywords=("a", "b"), steps=1700, mentions=3, chunks=("c1", "c2"),
    )  # fmt: skip
    (row,) = (await sent(change=change_of(relations={PLACE: relation})))["relations"]
    assert (row["source"], row["target"]) == ("s", "t")
    assert row["properties"] == {
        "rel_type": "CROSSES", "fact": "So.", "fact_weight": 0.9, "keywords": ["a", "b"],
        "weight": 1.7, "mentions": 3, "chunks": ["c1", "c2"],
    }  # fmt: skip


def test_the_view_of_a_graph_is_its_chunks_and_entities() -> None:
    mapping = mapping_of("Docs")
    assert mapping.labels == (chunk_label("Docs"), entity_label("Docs"))
    assert mapping.labels == ("DocsChunk", "DocsEntity")
    assert mapping.chunk_labels == ("DocsChunk",)
    assert mapping.mention_types == ("MENTIONED_IN",)
    assert {*mapping.mention_types} <= {*mapping.relationship_types}
    assert "PART_OF" not in mapping.relationship_types


async def test_the_view_reads_only_what_a_publication_writes() -> None:
    mapping = mapping_of("Docs")
    relation = RelationRow(
        source="s", target="t", rel_type="R", fact="", fact_steps=1, keywords=(), steps=1,
        mentions=1, chunks=(),
    )  # fmt: skip
    change = change_of(entities={"a": entity_of()}, relations={PLACE: relation})
    params = await sent(document_of("a.md", chunk_of("a#1")), change=change)
    entity, chunk = params["entities"][0]["properties"], params["chunks"][0]["properties"]
    assert {*mapping.text} <= {*entity, *chunk}
    assert {mapping.title, mapping.key} <= entity.keys() & chunk.keys()
    assert mapping.weight in entity
    own = params["relations"][0]["properties"]
    assert {mapping.relationship_weight, mapping.relationship_name} <= own.keys()
    assert mapping.relationship_text in own


async def test_the_key_and_the_indexes_exist_before_anything_is_written() -> None:
    db: Any = FakeDatabase()
    await prepare(db)
    assert [name for name, _ in db.sent] == [
        "create_loaded_constraint",
        "create_entity_index",
        "create_waiting_index",
        "create_vectors_index",
    ]
