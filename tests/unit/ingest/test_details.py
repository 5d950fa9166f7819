"""A document is found by its id or title, and told with its chunks and why it is stale."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.errors import UsageError
from pgs_neo4j.ingest.details import find_document, read_details, stale_reasons
from pgs_neo4j.ingest.documents import rules_of
from pgs_neo4j.ingest.extract.terms import TermExtractor
from pgs_neo4j.ingest.sources.loader import FileLoader
from pgs_neo4j.ingest.stored import EXTRACTION, StoredDocument
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from pgs_neo4j.text.chunking import ChunkRules
from pgs_neo4j.text.extraction.schema import EntitySchema
from tests.documents import relation_of
from tests.fakes.database import FakeDatabase, Row
from tests.fakes.ingestion import stored_document

SCHEMA = EntitySchema()
NARROW = EntitySchema(types={"Person": "someone"}, mode="strict")
SCHEMAS = {one.signature: one for one in (SCHEMA, NARROW)}
STORED = stored_document(
    "a/curie.md", rules=rules_of(ChunkRules(), FileLoader()), name="Curie",
    signature=TermExtractor().signature, schema=SCHEMA.signature,
)  # fmt: skip
ENDS = (
    GroundedEntity(name="Marie Curie", type="Person"),
    GroundedEntity(name="radium", type="Concept"),
)
EXTRACTED = GroundedExtraction(ENDS, (relation_of(*ENDS),), dropped={"end": 2})


def chunk(index: int, extraction: GroundedExtraction, **changed: Any) -> Row:
    given = {
        "id": f"c{index}", "index": index, "page": None, "path": [], "start": 0, "end": 33,
        "extraction": EXTRACTION.dump_json(extraction).decode(),
    }  # fmt: skip
    return given | changed


def documents(*stored: StoredDocument) -> dict[str, StoredDocument]:
    return {one.id: one for one in stored}


def reasons(stored: StoredDocument, schema: EntitySchema = SCHEMA) -> list[str]:
    found = stale_reasons(stored, schema, SCHEMAS, TermExtractor(), ChunkRules(), FileLoader())
    return [*found]


def test_a_document_is_found_by_its_id_or_its_title() -> None:
    other = replace(STORED, id="Curie", name="b.md")
    assert find_document(documents(STORED), "notes", "a/curie.md") is STORED
    assert find_document(documents(STORED), "notes", "Curie") is STORED
    assert find_document(documents(STORED, other), "notes", "Curie") is other


def test_unknown_and_ambiguous_titles_are_refused() -> None:
    with pytest.raises(UsageError, match="notes has no document x; 'pgs documents list'"):
        find_document(documents(STORED), "notes", "x")
    twice = documents(STORED, replace(STORED, id="b/curie.md"))
    with pytest.raises(UsageError, match=r"2 documents of graph notes are called Curie; .*a/curie"):
        find_document(twice, "notes", "Curie")


def read(stored: StoredDocument, *rows: Row) -> Any:
    database: Any = FakeDatabase(read_document=[*rows])
    return asyncio.run(read_details(database, "notes", stored, SCHEMAS, ("it is old",)))


def test_a_document_has_its_chunks_counts_and_source() -> None:
    own = {
        "source": "a/curie.md", "loader": "FileLoader", "media_type": "text/markdown",
        "ingested_at": "2026-11-23T14:00:00Z",
    }  # fmt: skip
    chunks = [
        chunk(0, EXTRACTED, page=3, path=["Life"]),
        chunk(1, replace(EXTRACTED, dropped={"end": 1, "type": 5})),
    ]
    shown = read(STORED, {"document": own, "chunks": chunks, "entities": 2})
    assert (shown.id, shown.source, shown.media_type) == (STORED.id, own["source"], "text/markdown")
    assert (shown.ingested_at, shown.loader) == ("2026-11-23T14:00:00Z", "FileLoader")
    assert (shown.entities, shown.relations) == (2, 1)  # both chunks state the same relation
    assert shown.dropped == {"type": 5, "end": 3}
    assert shown.types == tuple(SCHEMA.types)
    assert shown.stale == ("it is old",)
    first, second = shown.chunks
    assert (first.page, first.path, first.characters) == (3, ("Life",), 33)
    assert (second.entities, second.relations, second.dropped) == (2, 1, {"end": 1, "type": 5})


def test_a_document_that_is_gone_by_now_is_refused() -> None:
    with pytest.raises(UsageError, match=r"document a/curie\.md of graph notes was deleted"):
        read(STORED)


def test_a_document_is_stale_for_each_reason() -> None:
    assert reasons(STORED) == []
    assert reasons(replace(STORED, signature="other", told=("gone",))) == [
        "another model or prompt extracted it"
    ]
    assert reasons(replace(STORED, told=(NARROW.signature,))) == [
        "it was extracted under another schema"
    ]
    assert reasons(replace(STORED, told=(SCHEMA.signature,))) == []
    assert reasons(replace(STORED, rules="other")) == [
        "its loader or chunk settings have changed since"
    ]
    assert reasons(replace(STORED, hash="")) == ["an ingestion ended before all of it was written"]
