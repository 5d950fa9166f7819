"""Extractions that were paid for are kept until the graph holds them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.ingest.kept import forget_extractions, keep_extraction, read_kept
from pgs_neo4j.ingest.stored import EXTRACTION
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction, GroundedRelation
from tests.fakes.database import FakeDatabase

SAID = GroundedExtraction(
    (GroundedEntity(name="Zoë", type="Person", spans=((0, 3), (9, 12)), sentences=(1, 2)),),
    (
        GroundedRelation(
            source="Zoë", source_type="Person", target="Paris", target_type="Location",
            type="LIVES_IN", fact="Zoë lives in Paris.", keywords=("lives in",), weight=0.3,
        ),
    ),
    {"not in the text": 2},
)  # fmt: skip


def tools(db: FakeDatabase, *, free: bool = False) -> Any:
    return SimpleNamespace(db=db, extractor=SimpleNamespace(free=free))


async def test_what_is_kept_is_read_back_as_it_was() -> None:
    db: Any = FakeDatabase()
    await keep_extraction(tools(db), "docs", "k1", SAID)
    (params,) = db.params("keep_extractions")
    assert (params["graph"], params["key"]) == ("docs", "k1")
    db.answers["read_extractions"] = [{"key": "k1", "data": params["data"]}]
    assert await read_kept(db, "docs", {"k2", "k1"}) == {"k1": SAID}
    assert db.params("read_extractions") == [{"graph": "docs", "keys": ["k1", "k2"]}]


async def test_what_costs_nothing_is_not_kept() -> None:
    db = FakeDatabase()
    await keep_extraction(tools(db, free=True), "docs", "k1", SAID)
    assert db.sent == []


async def test_an_extraction_that_cannot_be_kept_is_told() -> None:
    db = FakeDatabase(keep_extractions=DatabaseError("the disk is full"))
    with pytest.raises(DatabaseError, match="the disk is full"):
        await keep_extraction(tools(db), "docs", "k1", SAID)


async def test_what_the_graph_holds_is_forgotten_once() -> None:
    db: Any = FakeDatabase()
    await forget_extractions(db, "docs", ["b", "a", "b"])
    assert db.params("delete_extractions") == [{"graph": "docs", "keys": ["a", "b"]}]


async def test_without_keys_nothing_is_asked_or_deleted() -> None:
    db: Any = FakeDatabase()
    assert await read_kept(db, "docs", set()) == {}
    await forget_extractions(db, "docs", [])
    assert db.sent == []


def test_the_stored_form_has_every_part_of_an_extraction() -> None:
    data = EXTRACTION.dump_json(SAID)
    assert EXTRACTION.validate_json(data) == SAID
    assert EXTRACTION.dump_json(EXTRACTION.validate_json(data)) == data
