"""What one publication sends: documents, chunks, entities, mentions, and relations as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.documents.fold.contribution import EntityMention
from pgs_neo4j.documents.fold.folding import MentionRow
from pgs_neo4j.documents.fold.tallies import EntityRow, RelationPlace, RelationRow
from pgs_neo4j.documents.publish.change import Change
from pgs_neo4j.documents.publish.publication import (
    NewChunk,
    NewDocument,
    Publication,
    assemble,
    mapping_of,
    publish,
)
from pgs_neo4j.documents.publish.writer import TypeLabels, Writer
from pgs_neo4j.documents.stored import EXTRACTION, StoredChunk
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model.documents import Chunk, GroundedEntity, GroundedExtraction
from tests.documents import new_document
from tests.fakes.database import FakeDatabase, Row

WRITER = Writer(graph="docs", holder="me", label="Docs")
SAID = GroundedExtraction((GroundedEntity(name="Paris", type="Location"),))
PARIS = EntityRow(
    id="entity:Location:PARIS", key="PARIS", type="Location", name="Paris", description="A city.",
    mentions=2, viewed=True,
)  # fmt: skip
PLACE: RelationPlace = (("SEINE", "River"), "CROSSES", ("PARIS", "Location"))
NOTHING = Change(entities={}, vanished=(), relations={}, dropped=(), mentions=(), unbound=())


def document_of(name: str, *chunks: NewChunk) -> NewDocument:
    return NewDocument(id=f"folder/{name}", properties={"name": name, "hash": "h"}, chunks=chunks)


def chunk_of(id_: str, *, path: tuple[str, ...] = (), page: int | None = None) -> NewChunk:
    chunk = Chunk(
        index=3, start=10, end=15, text="Paris", hash="abc", sentences=(), path=path, page=page
    )
    return NewChunk(id=id_, chunk=chunk, extraction=SAID, extraction_key="key", sure=False)


async def sent(
    *documents: NewDocument,
    gone: tuple[str, ...] = (),
    change: Change | None = None,
    writer: Writer = WRITER,
) -> Row:
    """The parameters of the one statement that publishes."""
    db: Any = FakeDatabase(publish=[{"held": True}])
    what = Publication(gone=gone, documents=documents, change=change or NOTHING)
    await publish(db, writer, what)
    (params,) = db.params("publish")
    assert [name for name, _ in db.sent] == ["publish"]
    return params  # type: ignore[no-any-return]


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


async def test_chunks_have_their_place_and_follow_each_other_within_a_document_only() -> None:
    one = document_of("a.md", *(chunk_of(f"a#{number}") for number in range(3)))
    other = document_of("b.md", *(chunk_of(f"b#{number}") for number in range(2)))
    params = await sent(one, other, document_of("c.md", chunk_of("c#0")))
    assert params["follows"] == [["a#0", "a#1"], ["a#1", "a#2"], ["b#0", "b#1"]]
    own = params["chunks"][0]["properties"]
    assert (own["index"], own["start"], own["end"]) == (3, 10, 15)
    assert (own["text"], own["hash"], own["extraction_key"]) == ("Paris", "abc", "key")
    assert EXTRACTION.validate_json(own["extraction"]) == SAID


@pytest.mark.parametrize(
    ("kind", "viewed", "labels", "without"),
    [
        ("River", True, ["River", "Docs", "DocsEntity"], []),
        ("River", False, ["River"], ["Docs", "DocsEntity"]),
        ("Location", True, ["Docs", "DocsEntity"], []),  # the label of another graph
    ],
)
async def test_an_entity_has_the_label_of_its_type_and_while_it_is_viewed_those_of_the_view(
    kind: str, viewed: bool, labels: list[str], without: list[str]
) -> None:
    writer = replace(WRITER, types=TypeLabels(frozenset({"Location"})))
    rows = {"a": replace(PARIS, type=kind, viewed=viewed)}
    (row,) = (await sent(change=replace(NOTHING, entities=rows), writer=writer))["entities"]
    assert (row["labels"], row["without"]) == (labels, without)
    assert row["properties"]["type"] == kind


async def test_an_entity_without_a_description_loses_a_former_one() -> None:
    rows = {"a": PARIS, "b": replace(PARIS, description="")}
    own = [
        row["properties"]
        for row in (await sent(change=replace(NOTHING, entities=rows)))["entities"]
    ]
    assert [one["description"] for one in own] == ["A city.", None]
    cleared = ("fragments_hash", "undescribed", "described_by", "called")
    assert [own[0][name] for name in cleared] == [None] * 4
    assert (own[0]["weight"], type(own[0]["weight"])) == (2.0, float)


async def test_a_mention_has_flat_spans_and_is_implicit_without_any() -> None:
    given: tuple[Row, ...] = ({"spans": ((1, 6), (9, 14)), "description": "Old."}, {})
    paris = (EntityMention(key="PARIS", type="Location", name="Paris", **one) for one in given)
    rows = [MentionRow("e", "c", mention) for mention in paris]
    first, second = (
        row["properties"]
        for row in (await sent(change=replace(NOTHING, mentions=rows)))["mentions"]
    )
    assert (first["spans"], first["implicit"], first["hash"]) == (
        [1, 6, 9, 14], False, text_hash("Old."),
    )  # fmt: skip
    nothing = {"spans": [], "implicit": True, "description": None, "hash": None, "short": None}
    assert second.items() >= nothing.items()


async def test_the_view_reads_only_what_a_publication_writes() -> None:
    mapping = mapping_of("Docs")
    relation = RelationRow(
        source="s", target="t", rel_type="R", fact="", fact_steps=900, keywords=(), steps=1700,
        mentions=1, chunks=(),
    )  # fmt: skip
    change = replace(NOTHING, entities={"a": PARIS}, relations={PLACE: relation})
    params = await sent(document_of("a.md", chunk_of("a#1")), change=change)
    entity, chunk = params["entities"][0]["properties"], params["chunks"][0]["properties"]
    assert {*mapping.text} <= {*entity, *chunk}
    assert {mapping.title, mapping.key} <= entity.keys() & chunk.keys()
    assert mapping.weight in entity
    own = params["relations"][0]["properties"]
    assert {mapping.relationship_name, mapping.relationship_text} <= own.keys()
    assert (own[mapping.relationship_weight], own["fact_weight"]) == (1.7, 0.9)
    assert {*mapping.mention_types} <= {*mapping.relationship_types} - {"PART_OF"}


def said(*names: str) -> GroundedExtraction:
    return GroundedExtraction(tuple(GroundedEntity(name=name, type="Concept") for name in names))


def stored_of(document: NewDocument) -> list[StoredChunk]:
    """The chunks of a document as the graph holds them."""
    return [
        StoredChunk(
            document=document.id,
            id=new.id,
            extraction_key=new.extraction_key,
            extraction=EXTRACTION.dump_json(new.extraction).decode(),
            unpruned="",
            sure=new.sure,
        )
        for new in document.chunks
    ]


async def assembled(
    documents: Sequence[NewDocument], stored: Sequence[NewDocument]
) -> tuple[Any, FakeDatabase]:
    db: Any = FakeDatabase()
    held = {document.id: stored_of(document) for document in stored}
    return await assemble(db, "docs", documents, held), db


async def test_chunks_that_say_the_same_are_left_alone() -> None:
    before = new_document("a", {"one": said("Alpha"), "two": said("Beta")})
    after = new_document("a", {"two": said("Beta"), "one": said("Alpha")})
    what, db = await assembled([after], [before, new_document("empty", {})])
    assert (what.gone, what.documents) == (["empty"], [after])
    assert (what.change.entities, what.change.mentions, what.change.unbound) == ({}, (), ())
    assert db.sent == []


async def test_a_chunk_that_another_extractor_is_sure_of_is_counted_again() -> None:
    before = new_document("a", {"one": said("Alpha")})
    (chunk,) = before.chunks
    after = replace(before, chunks=[replace(chunk, sure=not chunk.sure)])
    what, _ = await assembled([after], [before])
    assert what.change.unbound == ("a#one",)
    assert [row.mention.sure for row in what.change.mentions] == [not chunk.sure]
    assert what.change.entities["entity:Concept:ALPHA"].viewed is not chunk.sure
