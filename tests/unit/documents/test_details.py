"""A document is found by its id or title, and told with its chunks and why it is stale."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.documents.compare import hash_rules
from pgs_neo4j.documents.details import find_document, read_details, stale_reasons
from pgs_neo4j.documents.extract.terms import TermExtractor
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.documents.stored import EXTRACTION, StoredDocument
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from pgs_neo4j.text.chunking import ChunkRules
from pgs_neo4j.text.extraction.schema import EntitySchema
from tests.documents import relation_of
from tests.fakes.database import FakeDatabase
from tests.fakes.ingestion import stored_document

SCHEMA = EntitySchema()
NARROW = EntitySchema(types={"Person": "someone"}, mode="strict")
SCHEMAS = {one.signature: one for one in (SCHEMA, NARROW)}
STORED = stored_document(
    "a/curie.md", rules=hash_rules(ChunkRules(), FileLoader()), name="Curie",
    signature=TermExtractor().signature, schema=SCHEMA.signature,
)  # fmt: skip
ENDS = (
    GroundedEntity(name="Marie Curie", type="Person"),
    GroundedEntity(name="radium", type="Concept"),
)
EXTRACTED = GroundedExtraction(ENDS, (relation_of(*ENDS),))


def documents(*stored: StoredDocument) -> dict[str, StoredDocument]:
    return {one.id: one for one in stored}


def test_a_document_is_found_by_its_id_or_its_title_alone() -> None:
    other = replace(STORED, id="Curie", name="b.md")
    assert find_document(documents(STORED), "notes", "a/curie.md") is STORED
    assert find_document(documents(STORED), "notes", "Curie") is STORED
    assert find_document(documents(STORED, other), "notes", "Curie") is other
    with pytest.raises(UsageError, match="notes has no document x; 'pgs documents list --g"):
        find_document(documents(STORED), "notes", "x")
    twice = documents(STORED, replace(STORED, id="b/curie.md"))
    with pytest.raises(UsageError, match=r"2 documents of graph notes are called Curie; .*a/curie"):
        find_document(twice, "notes", "Curie")


def test_what_chunks_share_is_counted_once_and_what_was_dropped_is_added_up() -> None:
    own = {"source": "", "loader": "", "media_type": "", "ingested_at": ""}
    chunks = [
        {
            "id": f"c{index}", "index": index, "page": 3, "path": ["Life"], "start": 0, "end": 33,
            "extraction": EXTRACTION.dump_json(replace(EXTRACTED, dropped=dropped)).decode(),
        }
        for index, dropped in enumerate(({"end": 2}, {"end": 1, "type": 5}))
    ]  # fmt: skip
    database: Any = FakeDatabase(read_document=[{"document": own, "chunks": chunks, "entities": 2}])
    shown = asyncio.run(read_details(database, "notes", STORED, SCHEMAS, ("it is old",)))
    assert (shown.entities, shown.relations, shown.stale) == (2, 1, ("it is old",))
    assert (shown.dropped, shown.types) == ({"type": 5, "end": 3}, tuple(SCHEMA.types))
    first, second = shown.chunks
    assert (first.page, first.path, first.characters) == (3, ("Life",), 33)
    assert (second.entities, second.relations, second.dropped) == (2, 1, {"end": 1, "type": 5})
    gone: Any = FakeDatabase()
    with pytest.raises(UsageError, match=r"document a/curie\.md of graph notes was deleted"):
        asyncio.run(read_details(gone, "notes", STORED, SCHEMAS, ()))


@pytest.mark.parametrize(
    ("changed", "reasons"),
    [
        ({}, []),
        ({"told": (SCHEMA.signature,)}, []),
        ({"told": (NARROW.signature,)}, ["it was extracted under another schema"]),
        (
            {"signature": "other", "told": ("gone",)},
            ["another model or prompt extracted it"],
        ),
        ({"rules": "other"}, ["its loader or chunk settings have changed since"]),
        ({"hash": ""}, ["an ingestion ended before all of it was written"]),
    ],
)
def test_a_document_is_stale_for_each_reason(changed: dict[str, Any], reasons: list[str]) -> None:
    stored = replace(STORED, **changed)
    found = stale_reasons(stored, SCHEMA, SCHEMAS, TermExtractor(), ChunkRules(), FileLoader())
    assert [*found] == reasons
