"""A lease on a database that only answers: taking, waiting, renewing, losing, releasing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import lease as module
from pgs_neo4j.database.lease import (
    LeaseHolder,
    hold_lease,
    is_unreleased,
    read_holder,
    take_away,
)
from pgs_neo4j.errors import (
    BusyError,
    DatabaseError,
    DatabaseUnavailableError,
    LeaseLostError,
)

AT, UNTIL = "2026-07-01T12:00:00.000Z", "2026-07-01T12:05:00.000Z"
OTHER = {"holder": "db1, pid 7, aa", "fence": 4, "acquired_at": AT, "expires_at": UNTIL}
PATIENCE_S = 30.0


class Answers:
    """Takes the lease for its caller unless told otherwise, and records the statements."""

    uri = "bolt://db:7687"

    def __init__(self) -> None:
        self.taking: list[Any] = []
        self.renewing: list[Any] = []
        self.released: list[dict[str, Any]] = []
        self.down = False  # for renewals
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def read(self, query: Any, **params: Any) -> list[dict[str, Any]]:
        return self._answer(query, params)

    async def write(self, query: Any, **params: Any) -> list[dict[str, Any]]:
        return self._answer(query, params)

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    def _answer(self, query: Any, params: dict[str, Any]) -> list[dict[str, Any]]:
        assert set(params) == set(query.params)
        name = query.name.removeprefix("database/")
        self.calls.append((name, params))
        if name == "merge_leases":
            return self._next(self.taking, [self._taken(params)])
        if name == "set_lease_expiries":
            if self.down:
                raise DatabaseUnavailableError("down")
            return self._next(self.renewing, [{"fence": params["fence"]}])
        if name == "release_leases":
            return self.released
        return [OTHER] if name == "read_leases" else []

    def _next(self, answers: list[Any], usual: list[dict[str, Any]]) -> list[dict[str, Any]]:
        answer = answers.pop(0) if answers else usual
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _taken(self, params: dict[str, Any]) -> dict[str, Any]:
        own = {"holder": params["holder"], "fence": 9, "taken": True, "abandoned": 0}
        return {"acquired_at": AT, "expires_at": UNTIL} | own


BUSY = [OTHER | {"taken": False, "abandoned": 0}]


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Answers:
    monkeypatch.setattr(module, "FIRST_POLL_S", 0.001)
    monkeypatch.setattr(module, "RETRY_S", 0.001)
    monkeypatch.setattr(module, "RENEWALS", 60_000)  # a beat each millisecond of a minute
    return Answers()


async def test_a_lease_is_held_during_the_body_and_released_after_it(database):
    async with hold_lease(database, "papers", seconds=60) as lease:
        assert (lease.graph, lease.fence) == ("papers", 9)
        assert database.names() == ["merge_leases"]
    assert database.names() == ["merge_leases", "set_free_leases"]
    assert {params["holder"] for _, params in database.calls} == {lease.holder}


async def test_each_holder_has_its_own_name(database):
    async with hold_lease(database, "papers", seconds=60) as one:
        pass
    async with hold_lease(database, "papers", seconds=60) as other:
        pass
    assert one.holder != other.holder


async def test_a_lease_is_released_when_the_body_fails(database):
    with pytest.raises(ZeroDivisionError):
        async with hold_lease(database, "papers", seconds=60):
            raise ZeroDivisionError
    assert database.names()[-1] == "set_free_leases"


async def test_a_busy_graph_names_its_holder_and_the_end_of_its_lease(database):
    database.taking = [BUSY]
    with pytest.raises(
        BusyError, match=r"db1, pid 7, aa.* since 2026-07-01 12:00:00 UTC"
    ) as caught:
        async with hold_lease(database, "papers", seconds=60):
            pytest.fail("it was taken")
    assert "2026-07-01 12:05:00 UTC" in str(caught.value)
    assert database.names() == ["merge_leases"]


async def test_waiting_is_announced_once_and_ends_with_the_lease(database):
    database.taking = [BUSY, BUSY, BUSY]
    messages: list[str] = []
    async with hold_lease(
        database, "papers", seconds=60, wait_s=PATIENCE_S, on_wait=messages.append
    ) as lease:
        assert lease.fence == 9
    assert len(messages) == 1
    assert "being partitioned by another job" in messages[0]
    assert database.names().count("merge_leases") == 4


async def test_a_graph_that_does_not_exist_has_no_lease(database):
    database.taking = [[]]
    with pytest.raises(DatabaseError, match="graph papers was removed"):
        async with hold_lease(database, "papers", seconds=60):
            pytest.fail("it was taken")


@pytest.mark.parametrize("error", [DatabaseUnavailableError("gone"), asyncio.CancelledError()])
async def test_a_lease_that_may_have_been_taken_unheard_is_released(database, error):
    database.taking = [error]
    with pytest.raises(type(error)):
        async with hold_lease(database, "papers", seconds=60):
            pytest.fail("it was taken")
    assert database.names() == ["merge_leases", "set_free_leases"]


async def test_a_lease_is_renewed_while_the_body_runs(database):
    async with (
        hold_lease(database, "papers", seconds=60),
        asyncio.timeout(PATIENCE_S),
    ):
        while database.names().count("set_lease_expiries") < 3:
            await asyncio.sleep(0.001)
    assert database.names()[-1] == "set_free_leases"


async def test_a_failed_renewal_is_tried_again(database):
    database.renewing = [DatabaseUnavailableError("a moment")]
    async with (
        hold_lease(database, "papers", seconds=60) as lease,
        asyncio.timeout(PATIENCE_S),
    ):
        while database.names().count("set_lease_expiries") < 2:
            await asyncio.sleep(0.001)
    assert database.calls[-1] == ("set_free_leases", {"graph": "papers", "holder": lease.holder})


async def test_a_lease_that_another_job_took_over_cancels_the_body_and_is_not_released(database):
    database.renewing = [[]]
    with pytest.raises(LeaseLostError, match="another job took over the lease of graph papers"):
        async with hold_lease(database, "papers", seconds=60):
            await asyncio.sleep(PATIENCE_S)
    assert "set_free_leases" not in database.names()


async def test_a_lease_that_cannot_be_renewed_in_its_time_is_lost(database):
    database.down = True
    with pytest.raises(DatabaseUnavailableError, match="could not be reached for 0 s"):
        async with hold_lease(database, "papers", seconds=0.05):
            await asyncio.sleep(PATIENCE_S)
    assert "set_free_leases" not in database.names()


async def test_the_holder_of_a_lease_can_be_read(database):
    holder = await read_holder(database, "papers")
    assert holder is not None
    assert (holder.holder, holder.fence, holder.expires_at) == ("db1, pid 7, aa", 4, UNTIL)
    assert not await is_unreleased(database, "papers")


async def test_a_lease_can_be_taken_away_from_its_holder(database):
    assert await take_away(database, "papers") is None
    database.released = [OTHER | {"abandoned": 1}]
    holder = await take_away(database, "papers")
    assert holder == LeaseHolder(**OTHER)


def test_the_longest_lease_is_the_longest_that_can_be_set():
    bounds = [mark.le for mark in PGSConfig.model_fields["lease_s"].metadata if hasattr(mark, "le")]
    assert bounds == [module.LONGEST_S]


def test_a_lost_generation_says_where_to_look():
    assert "pgs jobs list" in str(module.generation_lost("papers"))
