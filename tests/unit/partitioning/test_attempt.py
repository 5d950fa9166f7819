"""A generation that is begun is finished or abandoned."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import DatabaseError, LeaseLostError
from pgs_neo4j.partitioning.attempt import begin_generation
from pgs_neo4j.partitioning.rows import definition_of
from tests.unit.partitioning.conftest import build_order, build_tools

BEGUN: Any = lambda params: [{"id": params["id"]}]  # noqa: E731 - an answer
ORDER = build_order(PGSConfig(algorithm="louvain"), generation_id="g9")
PROPERTIES = {"algorithm": "louvain", "definition": definition_of(ORDER.mapping)}


async def test_a_finished_generation_is_not_abandoned() -> None:
    tools = build_tools(create_generations=BEGUN)
    async with begin_generation(ORDER, tools):
        pass
    db: Any = tools.db
    assert db.params("mark_abandoned") == []
    assert db.params("create_generations") == [
        {"graph": "papers", "fence": 7, "id": "g9", "properties": PROPERTIES}
    ]


@pytest.mark.parametrize("error", [ZeroDivisionError, asyncio.CancelledError, KeyboardInterrupt])
async def test_a_failed_generation_is_abandoned(error: type[BaseException]) -> None:
    tools = build_tools(create_generations=BEGUN)
    with pytest.raises(error):
        async with begin_generation(ORDER, tools):
            raise error
    db: Any = tools.db
    assert db.params("mark_abandoned") == [{"generations": ["g9"]}]


async def test_an_error_of_the_work_is_not_hidden_by_one_of_the_cleaning() -> None:
    tools = build_tools(create_generations=BEGUN, mark_abandoned=DatabaseError("gone"))
    with pytest.raises(ZeroDivisionError):
        async with begin_generation(ORDER, tools):
            raise ZeroDivisionError


async def test_without_the_lease_no_work_begins() -> None:
    entered = False
    with pytest.raises(LeaseLostError):
        async with begin_generation(ORDER, build_tools(create_generations=[])):
            entered = True
    assert not entered
