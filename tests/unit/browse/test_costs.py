"""What runs have cost, by day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pgs_neo4j.browse.costs import DayCost, read_costs
from tests.fakes.database import FakeDatabase

ROW: dict[str, Any] = {
    "day": "2026-01-01", "graph": "papers", "session": "s", "model": "m", "runs": 1, "calls": 2,
    "cached": 3, "input_tokens": 4, "output_tokens": 5, "cost": 0.5, "unpriced": 0,
}  # fmt: skip


@pytest.mark.parametrize("days", [1, 7, 30])
async def test_days_begin_at_midnight_and_include_today(days: int) -> None:
    db: Any = FakeDatabase(read_costs=[ROW])
    assert await read_costs(db, days) == [DayCost(**ROW)]
    (params,) = db.params("read_costs")
    since = datetime.fromisoformat(params["since"])
    assert (since.hour, since.minute, since.utcoffset()) == (0, 0, timedelta(0))
    age = datetime.now(UTC) - since
    assert timedelta(days=days - 1) <= age <= timedelta(days=days)
