"""A deletion that breaks off is continued by the next one, and keeps no text until then."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.documents.deletion import delete
from pgs_neo4j.documents.deletion.delete import delete_documents, end_deletions, read_begun
from pgs_neo4j.errors import DatabaseError, LeaseLostError
from tests.fakes.database import Row
from tests.unit.documents.test_deletion import (
    OTHER,
    SECRET,
    WRITER,
    database,
    node,
    stored,
    text_row,
)

GONE = DatabaseError("the connection was lost")
HELD = [node("7", "Note", text=f"Copied: {SECRET}")]
WORDS = {word.strip(".").lower() for word in f"{SECRET} {OTHER}".split()} - {"the", "with"}


class Kept:
    """What the database keeps of deletions that did not end."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def database(self, **answers: Any) -> Any:
        told = ("label", "documents", "sentences", "short")
        given: dict[str, Any] = {
            "keep_deletion": self._keep,
            "read_deletions": lambda params: [
                {"uid": uid} | {name: row[name] for name in told} for uid, row in self.rows.items()
            ],
            "read_deletion_runs": lambda params: [
                {name: self.rows[params["uid"]][name] for name in ("runs", "sizes")}
            ],
            "set_ended": self._end,
        }
        return database(**given | answers)

    def _keep(self, params: Row) -> list[Row]:
        self.rows[params["uid"]] = params["properties"]
        return [{"kept": True}]

    def _end(self, params: Row) -> list[Row]:
        for uid in params["uids"]:
            del self.rows[uid]
        return [{"held": True}]


async def break_off(kept: Kept, *ids: str, **answers: Any) -> Any:
    """Delete documents, and fail when everything is searched."""
    db = kept.database(**{"scan_nodes": GONE} | answers)
    with pytest.raises(DatabaseError, match="was lost"):
        await delete_documents(db, WRITER, stored(*ids or ("a.md",)))
    return db


async def test_what_is_kept_has_no_word_of_the_text_and_no_id() -> None:
    kept = Kept()
    await break_off(kept)
    (row,) = kept.rows.values()
    told = repr(row).lower() + row["runs"].decode("latin-1").lower()
    assert [word for word in [*WORDS, "a.md"] if len(word) > 3 and word in told] == []


async def test_documents_that_are_still_there_are_counted_once() -> None:
    kept = Kept()
    await break_off(kept, publish=GONE)
    done = await delete_documents(kept.database(scan_nodes=HELD), WRITER, stored("a.md"))
    assert (done.documents, done.resumed, done.sentences, done.held) == (1, 0, 2, 1)
    assert kept.rows == {}


async def test_a_deletion_of_others_looks_for_both() -> None:
    kept = Kept()
    await break_off(kept)
    third = "Nobody guards the seventh gate of the harbor at night."
    held = [*HELD, node("9", "Note", text=third)]
    deleted = [text_row(third) | {"document": "b.md"}]
    await break_off(kept, "b.md", read_deleted_texts=deleted)
    assert [row["sentences"] for row in kept.rows.values()] == [2, 1]
    done = await delete_documents(kept.database(scan_nodes=held), WRITER, [])
    assert (done.resumed, done.sentences, done.held) == (2, 3, 2)


async def test_what_a_new_document_says_is_not_looked_for_any_more() -> None:
    kept = Kept()
    await break_off(kept)
    live = [{"text": SECRET}, {"text": OTHER}]
    db = kept.database(scan_nodes=HELD, read_live_texts=live)
    done = await delete_documents(db, WRITER, [])
    assert (done.held, done.scanned, kept.rows) == (0, 0, {})


async def test_large_deletions_are_kept_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete, "PORTION", 8)
    monkeypatch.setattr(delete, "MOST_FREED", 2)
    kept = Kept()
    await break_off(kept)
    sizes = [len(row["runs"]) for row in kept.rows.values()]
    assert (len(sizes) > 3, max(sizes)) == (True, 8)
    db = kept.database(scan_nodes=HELD)
    done = await delete_documents(db, WRITER, [])
    assert (done.held, done.sentences, kept.rows) == (1, 2, {})
    freed = [len(sent["uids"]) for sent in db.params("set_ended")]
    assert (sum(freed), max(freed)) == (len(sizes), 2)


async def test_a_document_with_nothing_to_look_for_is_remembered_until_it_is_gone() -> None:
    kept = Kept()
    deleted = [text_row("Password: hunter2.")]
    await break_off(kept, publish=GONE, read_deleted_texts=deleted)
    begun = await read_begun(kept.database(), "docs")
    assert (begun.has("a.md"), begun.has("b.md"), begun.short) == (True, False, 1)
    done = await delete_documents(kept.database(), WRITER, [])
    assert (done.short, done.unsearched, done.proven, kept.rows) == (1, True, False, {})


async def test_who_lost_the_right_deletes_nothing() -> None:
    db = database(keep_deletion=[])
    with pytest.raises(LeaseLostError):
        await delete_documents(db, WRITER, stored("a.md"))
    assert db.params("publish") == db.params("delete_remade") == []
    with pytest.raises(LeaseLostError):
        await end_deletions(database(set_ended=[]), WRITER, ["docs/1"])
