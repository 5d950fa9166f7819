"""A plan reads partitions again only if a new generation became current while it read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.errors import DatabaseError, DatabaseTimeoutError, GraphChangedError
from pgs_neo4j.pgs import record


@pytest.mark.parametrize(
    ("error", "times"),
    [
        (GraphChangedError("again and again"), 1),
        (DatabaseTimeoutError("no answer within 60 s"), 1),
        (DatabaseError("they were deleted while they were read"), 2),
    ],
)
async def test_a_plan_repeats_no_reading_that_was_tried_enough(
    monkeypatch: pytest.MonkeyPatch, error: DatabaseError, times: int
) -> None:
    read: list[str] = []

    async def read_current(db: Any, graph: str, **how: Any) -> Any:
        read.append(graph)
        raise error

    async def check_nothing(order: Any, tools: Any) -> None:
        return None

    monkeypatch.setattr(record, "read_current", read_current)
    monkeypatch.setattr(record, "_check_session", check_nothing)
    order: Any = SimpleNamespace(graph="papers")
    tools: Any = SimpleNamespace(db=None, known=None)
    with pytest.raises(type(error)):
        await record.prepare_plan(order, tools)
    assert read == ["papers"] * times
