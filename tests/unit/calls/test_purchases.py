"""Claims of purchases on a database that only answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from pgs_neo4j.calls import purchases
from pgs_neo4j.calls.purchases import claim_purchases, free_purchases, wait_for_purchase
from pgs_neo4j.database.holder import Holder, this_machine, this_place
from tests.fakes.database import FakeDatabase

Row = dict[str, Any]


def row(key: str, state: str, buyer: str = "", holder: str = "") -> Row:
    return {"key": key, "state": state, "buyer": buyer, "holder": holder}


def take(answers: Iterator[list[Row]], _: Row) -> list[Row]:
    return next(answers)


def ended_holder() -> str:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return str(Holder(this_machine(), process.pid, "0a1b2c3d", this_place()))


async def test_a_buyer_whose_process_has_ended_is_not_waited_for() -> None:
    dead, alive = ended_holder(), str(Holder.of_this_process())

    def answer(params: Row) -> list[Row]:
        if "r2" in params["ended"]:
            return [row(key, "own") for key in params["keys"]]
        return [row("a", "own"), row("b", "busy", "r2", dead), row("c", "busy", "r3", alive)]

    database: Any = FakeDatabase(claim_purchases=answer)
    claims = await claim_purchases(database, "r1", ["c", "b", "a"])
    assert claims.own == {"a", "b"}
    assert claims.busy == {"c": "r3"}
    first, second = database.params("claim_purchases")
    assert (first["keys"], first["ended"]) == (["a", "b", "c"], [])
    assert (second["keys"], second["ended"]) == (["b"], ["r2"])


async def test_waiting_ends_with_the_purchase_or_with_the_sweeping(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(purchases, "FIRST_POLL_S", 0.001)
    alive = str(Holder.of_this_process())
    for last, own in (("own", True), ("stored", False)):
        answers = iter([[row("a", "busy", "r2", alive)]] * 3 + [[row("a", last)]])
        database: Any = FakeDatabase(claim_purchases=partial(take, answers))
        assert await wait_for_purchase(database, "r1", "a", lambda: False) is own
        assert len(database.sent) == 4
    looks = iter([False, False, True])
    busy: Any = FakeDatabase(claim_purchases=[row("a", "busy", "r2", alive)])
    assert not await wait_for_purchase(busy, "r1", "a", lambda: next(looks))
    assert len(busy.sent) == 2


async def test_nothing_is_asked_where_nothing_was_claimed() -> None:
    database: Any = FakeDatabase(set_free_purchases=[{"freed": 1}])
    await free_purchases(database, "r1", [])
    assert database.sent == []
    assert (await claim_purchases(database, "r1", [])).own == set()
    await free_purchases(database, "r1", ["b", "a"])
    assert database.params("set_free_purchases") == [{"keys": ["a", "b"], "run": "r1"}]
