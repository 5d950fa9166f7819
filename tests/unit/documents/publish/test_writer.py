"""One process at a time writes the documents of a graph, and learns when it lost that right."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.database.holder import Holder
from pgs_neo4j.documents.publish import writer
from pgs_neo4j.documents.publish.writer import TypeLabels, hold_documents
from pgs_neo4j.errors import BusyError, DatabaseUnavailableError, LeaseLostError
from pgs_neo4j.text.extraction.schema import MOST_TYPES
from tests.fakes.database import FakeDatabase, Row

UNTIL = "2026-01-01T00:00:00Z"


class Right:
    """The right to write one graph, as the database keeps it."""

    def __init__(self, holder: str = "") -> None:
        self.holder = holder
        self.away = False
        self.database: Any = FakeDatabase(take_ingest=self.take, release_ingest=self.release)

    def take(self, params: Row) -> list[Row]:
        if self.holder in ("", params["former"]):
            self.holder = params["holder"]
        taken = self.holder == params["holder"]
        return [{"taken": taken, "holder": self.holder, "expires_at": UNTIL}]

    def release(self, params: Row) -> list[Row]:
        if self.away:
            raise DatabaseUnavailableError("the database is away")
        if self.holder == params["holder"]:
            self.holder = ""
        return []


async def test_what_a_body_of_this_process_could_not_give_up_is_taken_at_once() -> None:
    right = Right()
    with pytest.raises(DatabaseUnavailableError):
        async with hold_documents(right.database, "docs", "Docs") as first:
            right.away = True
    assert right.holder == first.holder
    right.away = False
    async with hold_documents(right.database, "docs", "Docs") as held:
        assert right.holder == held.holder != first.holder
        with pytest.raises(BusyError):
            async with hold_documents(right.database, "docs", "Docs"):
                pytest.fail("the body ran")
    assert right.holder == ""


async def test_an_ended_body_of_a_process_with_the_same_id_elsewhere_keeps_its_right() -> None:
    here = Holder.unique()
    for other in (replace(here, machine="elsewhere"), replace(here, place="00000000")):
        with pytest.raises(BusyError):
            async with hold_documents(Right(str(other)).database, "docs", "Docs"):
                pytest.fail("the body ran")


async def test_the_right_is_renewed_while_the_body_runs_and_given_up_when_it_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "RENEWED_S", 0.001)
    right = Right()
    with pytest.raises(ValueError, match="wrong"):
        async with asyncio.timeout(10), hold_documents(right.database, "docs", "Docs") as held:
            while len(right.database.params("take_ingest")) < 3:
                await asyncio.sleep(0.001)
            raise ValueError("wrong")
    assert {one["holder"] for one in right.database.params("take_ingest")} == {held.holder}
    assert right.holder == ""


async def test_a_lost_right_ends_the_body_and_is_not_taken_from_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "RENEWED_S", 0.001)
    right = Right()
    with pytest.raises(LeaseLostError, match="began to write the documents of graph docs"):
        async with asyncio.timeout(10), hold_documents(right.database, "docs", "Docs"):
            right.holder = "worker, pid 9"
            await asyncio.sleep(60)
    assert right.holder == "worker, pid 9"


def test_the_label_of_a_graph_is_none_of_a_type() -> None:
    types = TypeLabels(frozenset({"Law", "DocsChunk"}))
    types.reserve(["Law"])
    assert [types.labels_of(one) for one in ("Law", "DocsChunk", "Person")] == [[], [], ["Person"]]


def test_only_the_first_types_become_labels_besides_those_of_the_schema() -> None:
    types = TypeLabels(used={"Former"})
    types.reserve(["Person", "Event"])
    labels = [types.labels_of(f"Invented{number}") for number in range(100)]
    assert [one for one in labels if one] == [[f"Invented{n}"] for n in range(MOST_TYPES - 3)]
    assert len(types.used) == MOST_TYPES
    assert types.labels_of("Invented99") == []
    assert types.labels_of("Invented0") == ["Invented0"]
    assert types.labels_of("Event") == ["Event"]
