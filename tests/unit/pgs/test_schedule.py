"""The sliding window: bounded, longest first, refilled at once, first failure ends it."""

import asyncio

import pytest

from pgs_neo4j.pgs.schedule import run_all


async def test_results_come_in_the_order_of_the_items():
    async def double(item):
        await asyncio.sleep(0.001 * item)
        return 2 * item

    assert await run_all([3, 1, 2], double, limit=2, length=float) == [6, 2, 4]


async def test_the_longest_begin_first():
    begun = []

    async def note(item):
        begun.append(item)

    await run_all([1, 5, 3, 4], note, limit=1, length=float)
    assert begun == [5, 4, 3, 1]


async def test_never_more_than_the_limit_and_a_free_slot_is_refilled_at_once():
    running, most, begun = set(), 0, []
    release = {item: asyncio.Event() for item in range(4)}

    async def hold(item):
        nonlocal most
        running.add(item)
        begun.append(item)
        most = max(most, len(running))
        await release[item].wait()
        running.discard(item)

    task = asyncio.create_task(run_all([0, 1, 2, 3], hold, limit=2, length=lambda _: 1.0))
    await asyncio.sleep(0.01)
    assert begun == [0, 1]
    release[1].set()
    await asyncio.sleep(0.01)
    assert begun == [0, 1, 2]
    for event in release.values():
        event.set()
    await task
    assert most == 2


async def test_the_first_exception_is_raised_and_the_rest_cancelled():
    cancelled = []

    async def work(item):
        if item == "bad":
            raise ValueError("bad item")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(item)
            raise

    with pytest.raises(ValueError, match="bad item"):
        await run_all(["good", "bad"], work, limit=2, length=len)
    assert cancelled == ["good"]


async def test_cancelling_cancels_the_work():
    cancelled = []

    async def work(item):
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.append(item)

    task = asyncio.create_task(run_all([1, 2], work, limit=2, length=float))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(cancelled) == [1, 2]


async def test_nothing_to_do_is_done():
    async def never(item):
        raise AssertionError(item)

    assert await run_all([], never, limit=5, length=float) == []
