"""Extractions that were paid for are kept until the graph holds them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pgs_neo4j.database.queries import Query
from pgs_neo4j.database.tasks import together
from pgs_neo4j.documents.extract.kept import Keeper
from pgs_neo4j.errors import DatabaseError, LeaseLostError
from pgs_neo4j.model.documents import GroundedExtraction
from tests.fakes.database import FakeDatabase, Row

SAID = GroundedExtraction()
HELD: list[Row] = [{"held": True}]


class SlowDatabase(FakeDatabase):
    """Takes a moment for each statement."""

    async def write(self, query: Query, **params: Any) -> list[Row]:
        await asyncio.sleep(0)
        return await super().write(query, **params)


async def test_what_arrives_during_one_transaction_shares_the_next() -> None:
    db: Any = SlowDatabase(keep_extractions=HELD)
    keeper = Keeper(db, "docs")
    await together(*(keeper.keep({f"k{number}": SAID}) for number in range(9)))
    sent = [[row["key"] for row in one["rows"]] for one in db.params("keep_extractions")]
    assert sent == [["k0"], [f"k{number}" for number in range(1, 9)]]
    await keeper.keep({"k9": SAID})
    assert len(db.params("keep_extractions")) == 3


async def test_an_extraction_that_cannot_be_kept_is_told_to_all_that_wait() -> None:
    db: Any = SlowDatabase(keep_extractions=DatabaseError("the disk is full"))
    keeper = Keeper(db, "docs")
    waits = (keeper.keep({key: SAID}) for key in ("k1", "k2"))
    outcomes = await asyncio.gather(*waits, return_exceptions=True)
    assert [str(one) for one in outcomes] == ["the disk is full"] * 2
    db.answers["keep_extractions"] = HELD
    await keeper.keep({"k3": SAID})
    assert {row["key"] for row in db.params("keep_extractions")[-1]["rows"]} == {"k1", "k2", "k3"}


async def test_replies_are_found_by_the_next_process() -> None:
    db: Any = FakeDatabase(keep_extractions=HELD)
    await Keeper(db, "docs").keep_text("k1", "entity")
    (row,) = db.params("keep_extractions")[0]["rows"]
    db.answers["read_extractions"] = [{"key": row["key"], "data": row["data"]}]
    db.answers["read_reply_keys"] = [{"key": "reply:k1"}]
    later = Keeper(db, "docs")
    assert [await later.find(key) for key in ("k1", "k2", "k1")] == ["entity", None, "entity"]
    assert len(db.params("read_reply_keys")) == 1
    assert len(db.params("read_extractions")) == 2


async def test_what_is_kept_names_the_documents_that_it_is_of() -> None:
    db: Any = FakeDatabase(keep_extractions=HELD)
    keeper = Keeper(db, "docs")
    with keeper.extracting({"k1": ["a.md"], "k2": ["a.md"]}), keeper.extracting({"k2": ["b.md"]}):
        await keeper.keep({"k1": SAID, "k2": SAID})
        await keeper.keep_text("k3", "entity")
    rows = [row for sent in db.params("keep_extractions") for row in sent["rows"]]
    assert {row["key"]: row["documents"] for row in rows} == {
        "k1": ["a.md"],
        "k2": ["a.md", "b.md"],
        "reply:k3": ["a.md", "b.md"],
    }


async def test_what_another_ingestion_kept_also_names_the_documents_that_use_it() -> None:
    db: Any = FakeDatabase(
        read_reply_keys=[{"key": "reply:k2"}],
        read_extractions=[{"key": "reply:k2", "data": "entity"}],
        read_lacking_documents=lambda sent: [
            {"key": row["key"]} for row in sent["rows"] if row["key"] != "k3"
        ],
    )
    keeper = Keeper(db, "docs")
    with keeper.extracting({"k1": ["a.md"], "k3": ["a.md"]}):
        await keeper.add_documents(["k1", "k3", "unknown"])
        assert await keeper.find("k2") == "entity"
    rows = [row for sent in db.params("add_documents") for row in sent["rows"]]
    assert [(row["key"], row["documents"]) for row in rows] == [
        ("k1", ["a.md"]),
        ("reply:k2", ["a.md"]),
    ]
    await keeper.add_documents([])
    assert len(db.params("read_lacking_documents")) == 2


async def test_who_lost_the_right_to_write_keeps_nothing() -> None:
    db: Any = FakeDatabase(keep_extractions=[])
    with pytest.raises(LeaseLostError):
        await Keeper(db, "docs", "old").keep({"k1": SAID})
    assert db.params("keep_extractions")[0]["holder"] == "old"
