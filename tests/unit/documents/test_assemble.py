"""What is written of documents that stand: chunks that go, come, or say something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pgs_neo4j.documents.assemble import assemble
from pgs_neo4j.documents.publish import NewDocument
from pgs_neo4j.documents.stored import EXTRACTION, StoredChunk
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from tests.documents import new_document
from tests.fakes.database import FakeDatabase


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
