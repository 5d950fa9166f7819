"""A generation that cannot be finished is given up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.pgs.partitioning.writing import begin_generation
from tests.unit.pgs.partitioning.conftest import build_order, build_tools


@pytest.mark.parametrize("error", [ZeroDivisionError, asyncio.CancelledError, KeyboardInterrupt])
async def test_an_error_of_the_work_is_not_hidden_by_one_of_the_cleaning(
    error: type[BaseException],
) -> None:
    tools = build_tools(
        create_generations=lambda params: [{"id": params["id"]}],
        mark_abandoned=DatabaseError("gone"),
    )
    with pytest.raises(error):
        async with begin_generation(build_order(generation_id="g9"), tools):
            raise error
    db: Any = tools.db
    assert db.params("mark_abandoned") == [{"generations": ["g9"]}]
