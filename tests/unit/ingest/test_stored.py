"""What is read of a graph of documents: the parameters sent, and rows as values."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.ingest.fold.contribution import Statement
from pgs_neo4j.ingest.fold.rows import RelationPlace
from pgs_neo4j.ingest.fold.tallies import MOST_FRAGMENTS, RelationTally
from pgs_neo4j.ingest.stored import (
    EXTRACTION,
    READ_CHUNKS,
    StoredDocument,
    read_chunks,
    read_documents,
    read_mentioning,
    read_names,
    read_relations,
    read_shared,
)
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from tests.fakes.database import FakeDatabase, Row

SEINE, PARIS = ("SEINE", "River"), ("PARIS", "Location")
CROSSES: RelationPlace = (SEINE, "CROSSES", PARIS)
FOUND: RelationPlace = (SEINE, "FOUND", PARIS)
SAID = EXTRACTION.dump_json(
    GroundedExtraction((GroundedEntity(name="the Seine", type="River", spans=((0, 9),)),))
).decode()


def chunk_row(document: str, id_: str) -> Row:
    return {
        "document": document, "id": id_, "extraction_key": "k", "extraction": SAID,
        "unpruned": "", "sure": False,
    }  # fmt: skip


@pytest.mark.parametrize("roots", [None, (), ("r",)])
async def test_documents_are_read_by_id(roots: tuple[str, ...] | None) -> None:
    row = {
        "id": "a.md", "hash": "h", "rules": "r", "signature": "s", "chunks": 2, "name": "a.md",
        "size": 9, "label": "Docs", "schema": "", "told": (), "source": "a.md", "roots": roots,
    }  # fmt: skip
    db: Any = FakeDatabase(read_documents=[row])
    assert await read_documents(db, "docs") == {"a.md": StoredDocument(**row)}
    assert db.params("read_documents") == [{"graph": "docs"}]


async def test_chunks_are_read_in_order_and_an_unknown_document_has_none() -> None:
    rows = [chunk_row("a", "a#2"), chunk_row("a", "a#1"), chunk_row("b", "b#1")]
    db: Any = FakeDatabase(read_chunks=rows)
    chunks = await read_chunks(db, "docs", iter(("a", "b", "new")))
    assert {name: [one.id for one in own] for name, own in chunks.items()} == {
        "a": ["a#2", "a#1"], "b": ["b#1"], "new": [],
    }  # fmt: skip
    assert db.params("read_chunks") == [{"graph": "docs", "documents": ["a", "b", "new"]}]


async def test_a_stored_chunk_adds_what_its_extraction_says() -> None:
    db: Any = FakeDatabase(read_chunks=[chunk_row("a", "a#1")])
    ((chunk,),) = (await read_chunks(db, "docs", ["a"])).values()
    (mention,) = chunk.contribution.mentions
    assert (chunk.contribution.chunk, mention.key, mention.spans) == ("a#1", "SEINE", ((0, 9),))
    assert not mention.sure


async def test_nothing_is_asked_for_where_nothing_is_wanted() -> None:
    db: Any = FakeDatabase()
    assert await read_chunks(db, "docs", []) == {}
    assert (await read_names(db, "docs", [], ["c"])).names.by_key == {}
    assert [one async for one in read_mentioning(db, "docs", {})] == []
    assert await read_relations(db, "docs", []) == {}
    assert [one async for one in read_shared(db, "docs", [], ["c"])] == []
    assert db.sent == []


async def test_names_are_tallied_by_type_and_spelling_without_the_chunks_that_go() -> None:
    row = {
        "entity_key": "PARIS",
        "entity_type": "Location",
        "names": [
            {"type": "Location", "name": "Paris", "sure": True, "short": "", "count": 3},
            {"type": "Location", "name": "Paris", "sure": False, "short": "LU", "count": 2},
            {"type": "Location", "name": "PARIS", "sure": False, "short": "LU", "count": 1},
            {"type": "Person", "name": "Paris", "sure": True, "short": "", "count": 1},
            {"type": "Location", "name": "Lutetia", "sure": True, "short": "", "count": 0},
        ],
        "fragments": [{"type": "Location", "name": "Paris", "texts": ["Old.", "A city."]}],
    }
    db: Any = FakeDatabase(read_names=[row])
    called = await read_names(db, "docs", [PARIS], ["c2", "c1"])
    names = called.names
    assert called.entities == dict.fromkeys(
        (PARIS, ("PARIS", "Person"), ("LUTETIA", "Location")), PARIS
    )
    assert names.by_key.keys() == {"PARIS"}
    location, person = names.of(PARIS), names.of(("PARIS", "Person"))
    assert (location.count, location.sure) == (6, 3)
    assert location.names == {"Paris": 5, "PARIS": 1}
    assert (location.shorts, person.shorts) == ({"LU": 3}, {})
    assert location.described == sorted(["Old.", "A city."], key=text_hash)
    assert (person.count, person.fragments) == (1, {})
    assert db.params("read_names") == [
        {
            "graph": "docs",
            "entities": ["entity:Location:PARIS"],
            "gone": ["c2", "c1"],
            "most": MOST_FRAGMENTS,
        }
    ]


async def test_chunks_that_mention_names_are_read_as_contributions() -> None:
    rows = [{"id": "c1", "extraction": SAID, "sure": True}]
    db: Any = FakeDatabase(read_mentioning_chunks=rows)
    reading = read_mentioning(db, "docs", {SEINE: (PARIS, ["the Seine", "Seine"])})
    (found,) = [one async for one in reading]
    assert {id_: sorted(one.keys) for id_, one in found.items()} == {"c1": ["SEINE"]}
    assert found["c1"].mentions[0].sure
    (params,) = db.params("read_mentioning_chunks")
    assert params["rows"] == [
        {"entity": "entity:Location:PARIS", "type": "River", "names": ["Seine", "the Seine"]}
    ]


async def test_a_relation_is_read_as_the_tally_that_was_written() -> None:
    row = {
        "place": 1, "fact": "So.", "fact_weight": 0.7, "keywords": ["a", "b"], "weight": 1.1,
        "mentions": 2, "chunks": ["c1", "c2"],
    }  # fmt: skip
    db: Any = FakeDatabase(read_relations=[row])
    found = await read_relations(db, "docs", [CROSSES, FOUND])
    best = Statement(
        source=SEINE, target=PARIS, type="FOUND", fact="So.", keywords=("a", "b"), weight=700
    )
    chunks = {text_hash(chunk): chunk for chunk in ("c1", "c2")}
    assert found == {FOUND: RelationTally(2, 1100, best, chunks)}
    (params,) = db.params("read_relations")
    assert [(one["place"], one["rel_type"]) for one in params["rows"]] == [
        (0, "CROSSES"), (1, "FOUND"),
    ]  # fmt: skip
    assert {one["source"] for one in params["rows"]} == {"entity:River:SEINE"}
    assert {one["target"] for one in params["rows"]} == {"entity:Location:PARIS"}


async def test_chunks_that_two_ends_share_are_asked_for_once_for_all_their_relations() -> None:
    rows = [{"id": "c1", "extraction": SAID, "sure": False}]
    db: Any = FakeDatabase(read_shared_chunks=rows)
    (page,) = [one async for one in read_shared(db, "docs", [CROSSES, FOUND], ["c9"])]
    assert [*page] == ["c1"]
    assert db.params("read_shared_chunks") == [
        {
            "graph": "docs",
            "rows": [{"source": "entity:River:SEINE", "target": "entity:Location:PARIS"}],
            "gone": ["c9"],
            "after": "",
            "limit": READ_CHUNKS,
        }
    ]
