"""Entities that wait for a description get one each, or still wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from pgs_neo4j.documents.enrich import describe
from pgs_neo4j.documents.enrich.describe import EntitiesDescribed, describe_waiting
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.errors import (
    BudgetError,
    LeaseLostError,
    ModelOutputError,
    ModelUnavailableError,
)
from pgs_neo4j.events import Event
from tests.fakes.database import FakeDatabase, Row

WRITER = Writer(graph="docs", holder="me", label="Docs", describer="d1")


class FirstFragment:
    """Describes by the first fragment; some names are errors to raise."""

    signature = "d1"

    def __init__(self, **errors: Exception) -> None:
        self.errors = errors
        self.asked: list[str] = []

    async def describe(self, name: str, kind: str, fragments: Sequence[str]) -> str:
        self.asked.append(name)
        if name in self.errors:
            raise self.errors[name]
        return f"{kind}: {fragments[0]}"


class WaitingEntities:
    """Entities that wait, in memory."""

    def __init__(self, *names: str) -> None:
        self.waiting = {name: f"{name} is." for name in sorted(names)}
        self.described: dict[str, str] = {}
        self.events: list[Event] = []
        self.database: Any = FakeDatabase(read_undescribed=self.read, write_descriptions=self.write)

    def read(self, sent: Row) -> list[Row]:
        assert sent["graph"] == "docs"
        names = [name for name in self.waiting if name > sent["after"]][: sent["most"]]
        return [
            {"id": name, "name": name, "type": "T", "fragments": [self.waiting[name]]}
            for name in names
        ]

    def write(self, sent: Row) -> list[Row]:
        assert (sent["holder"], sent["describer"]) == ("me", "d1")
        for row in sent["rows"]:
            del self.waiting[row["id"]]
            self.described[row["id"]] = row["description"]
        return [{"written": len(sent["rows"])}]


async def run(entities: WaitingEntities, describer: FirstFragment) -> EntitiesDescribed:
    return await describe_waiting(entities.database, WRITER, describer, 1, entities.events.append)


async def test_each_is_described_page_by_page_and_one_that_fails_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(describe, "PAGE", 2)
    entities = WaitingEntities("a", "b", "c", "d", "e")
    done = await run(entities, FirstFragment(a=ModelOutputError("nonsense")))
    assert (done.entities, done.waiting, done.error, done.stopped) == (4, 1, "", "")
    assert (done.why, done.ended) == ("a: nonsense", False)
    assert ([*entities.waiting], entities.described["c"]) == (["a"], "T: c is.")
    progressed = [event.done for event in entities.events if event.kind == "progressed"]
    assert len(progressed) == 3
    done = await run(entities, FirstFragment())
    assert (done.entities, done.waiting) == (1, 0)


@pytest.mark.parametrize(
    ("error", "field"),
    [(BudgetError("max_calls is reached"), "stopped"), (ModelUnavailableError("away"), "error")],
)
async def test_a_limit_or_a_model_that_is_away_ends_the_calls(error: Exception, field: str) -> None:
    entities, describer = WaitingEntities("a", "b", "c", "d"), FirstFragment(b=error)
    done = await run(entities, describer)
    assert (getattr(done, field), describer.asked) == (str(error), ["a", "b"])
    assert (done.entities, done.waiting) == (1, 3)
    assert [*entities.described] == ["a"]


async def test_who_lost_the_right_to_write_learns_it() -> None:
    entities = WaitingEntities("a")
    entities.database.answers["write_descriptions"] = []
    with pytest.raises(LeaseLostError, match="what was published stays"):
        await run(entities, FirstFragment())


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (KeyError("b"), "the describer Odd failed with KeyError: 'b'"),
        (None, "describe of the describer Odd returned None; return a text"),
    ],
)
async def test_a_describer_that_raises_or_returns_something_else_is_named(
    said: object, why: str
) -> None:
    class Odd(FirstFragment):
        async def describe(self, name: str, kind: str, fragments: Sequence[str]) -> str:
            if isinstance(said, Exception):
                raise said
            return cast(str, said)

    entities = WaitingEntities("a", "b")
    done = await run(entities, Odd())
    assert why in done.error
    assert [*entities.waiting] == ["a", "b"]
