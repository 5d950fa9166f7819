"""The meter sees a blocked event loop, and only that."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.bench.lag import LagMeter


async def watched(meter: LagMeter, seconds: float, *, blocked_s: float = 0.0) -> None:
    """Watch for a while, and block the loop once in between."""
    task = asyncio.create_task(meter.watch())
    await asyncio.sleep(seconds / 2)
    time.sleep(blocked_s)  # noqa: ASYNC251 - a loop that is blocked is what the test needs
    await asyncio.sleep(seconds / 2)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_blocked_loop_shows() -> None:
    meter = LagMeter()
    await watched(meter, 0.2, blocked_s=0.3)
    assert meter.lag().max_s > 0.2


async def test_time_without_a_processor_does_not_count() -> None:
    waited = iter(range(1_000_000))
    meter = LagMeter(starved_s=lambda: float(next(waited)))
    await watched(meter, 0.2, blocked_s=0.3)
    assert meter.lag().max_s == 0.0


def test_delays_are_summed_up() -> None:
    lag = LagMeter(delays=[0.001] * 98 + [0.2] * 2).lag()
    assert (lag.median_s, lag.max_s) == pytest.approx((0.001, 0.2))
    assert lag.p99_s > 0.1
    assert LagMeter().lag().p99_s == 0.0
