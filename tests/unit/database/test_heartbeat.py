"""A heartbeat beats while its body runs, and ends the body when it is refused."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from pgs_neo4j.database.heartbeat import keep_beating
from pgs_neo4j.errors import RunLostError

PATIENCE_S = 30.0


async def beat_often() -> float:
    return 0.001


async def refuse() -> float:
    raise RunLostError("taken over")


async def test_it_beats_until_the_body_ends_if_that_lasts() -> None:
    beats: list[float] = []
    enough = asyncio.Event()

    async def beat() -> float:
        beats.append(0.001)
        if len(beats) == 3:
            enough.set()
        return 0.001

    async with keep_beating(beat, first_s=0.001, close_s=1), asyncio.timeout(PATIENCE_S):
        await enough.wait()
    count = len(beats)
    await asyncio.sleep(0.02)
    assert len(beats) == count
    reached = False
    async with keep_beating(refuse, first_s=PATIENCE_S, close_s=1):
        await asyncio.sleep(0.01)
        reached = True
    assert reached


async def test_a_refused_beat_cancels_the_body_and_is_raised() -> None:
    canceled = []

    async def work() -> None:
        async with keep_beating(refuse, first_s=0.001, close_s=1):
            try:
                await asyncio.sleep(PATIENCE_S)
            except asyncio.CancelledError:
                canceled.append(True)
                raise

    with pytest.raises(RunLostError, match="taken over"):
        await work()
    assert canceled == [True]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_body_ends_with_its_own_error_or_well_despite_a_refusal() -> None:
    with pytest.raises(TimeoutError):
        async with keep_beating(beat_often, first_s=0.001, close_s=1), asyncio.timeout(0.01):
            await asyncio.sleep(PATIENCE_S)
    with pytest.raises(ZeroDivisionError):
        async with keep_beating(refuse, first_s=0.001, close_s=1):
            try:
                await asyncio.sleep(PATIENCE_S)
            except asyncio.CancelledError:
                raise ZeroDivisionError from None
    async with keep_beating(refuse, first_s=0.001, close_s=1):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(PATIENCE_S)
    task = asyncio.current_task()
    assert task is not None
    assert not task.cancelling()


@pytest.mark.parametrize("refused", [False, True])
async def test_a_cancellation_from_outside_stays_one(refused: bool) -> None:
    inside = asyncio.Event()

    async def work() -> None:
        async with keep_beating(refuse if refused else beat_often, first_s=0.001, close_s=1):
            if refused:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(PATIENCE_S)
            inside.set()
            await asyncio.sleep(PATIENCE_S)

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_beat_under_way_may_finish_but_not_for_ever() -> None:
    began, finished = asyncio.Event(), []

    async def beat() -> float:
        began.set()
        await asyncio.sleep(0.01)
        finished.append(True)
        await asyncio.sleep(PATIENCE_S)
        return 0.0

    async with asyncio.timeout(PATIENCE_S / 2):
        async with keep_beating(beat, first_s=0.001, close_s=0.1):
            await began.wait()
    assert finished == [True]
