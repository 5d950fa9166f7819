"""A generation that is begun is finished or abandoned."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pgs_neo4j.errors import DatabaseError, LeaseLostError
from pgs_neo4j.partitioning.attempt import begin_generation
from tests.unit.partitioning.conftest import MakeAttempt

BEGUN: Any = lambda params: [{"id": params["id"]}]  # noqa: E731 - an answer


async def test_a_finished_generation_is_not_abandoned(make_attempt: MakeAttempt) -> None:
    attempt = make_attempt(create_generations=BEGUN)
    async with begin_generation(attempt) as first:
        assert first.startswith("g")
    async with begin_generation(attempt) as second:
        assert second != first
    db: Any = attempt.db
    assert db.params("mark_abandoned") == []
    assert [params["id"] for params in db.params("create_generations")] == [first, second]


@pytest.mark.parametrize("error", [ZeroDivisionError, asyncio.CancelledError, KeyboardInterrupt])
async def test_a_failed_generation_is_abandoned(
    make_attempt: MakeAttempt, error: type[BaseException]
) -> None:
    attempt = make_attempt(create_generations=BEGUN)
    with pytest.raises(error):
        async with begin_generation(attempt) as generation_id:
            raise error
    db: Any = attempt.db
    assert db.params("mark_abandoned") == [{"generations": [generation_id]}]


async def test_an_error_of_the_work_is_not_hidden_by_one_of_the_cleaning(
    make_attempt: MakeAttempt,
) -> None:
    attempt = make_attempt(create_generations=BEGUN, mark_abandoned=DatabaseError("gone"))
    with pytest.raises(ZeroDivisionError):
        async with begin_generation(attempt):
            raise ZeroDivisionError


async def test_without_the_lease_no_work_begins(make_attempt: MakeAttempt) -> None:
    attempt = make_attempt(create_generations=[])
    entered = False
    with pytest.raises(LeaseLostError):
        async with begin_generation(attempt):
            entered = True
    assert not entered


def test_the_graph_is_that_of_the_lease(make_attempt: MakeAttempt) -> None:
    assert make_attempt().graph == "papers"
