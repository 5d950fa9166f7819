"""Work that runs to its end even if its caller is cancelled, and pauses between questions."""

import asyncio
from itertools import islice

import pytest

from pgs_neo4j.database.tasks import LONGEST_S, poll_pauses, retrieve_exception, to_the_end


async def test_the_result_and_the_error_pass_through():
    async def value() -> int:
        await asyncio.sleep(0)
        return 7

    async def fail() -> None:
        raise ValueError("no")

    assert await to_the_end(value()) == 7
    with pytest.raises(ValueError, match="no"):
        await to_the_end(fail())


@pytest.mark.parametrize("times", [1, 3])
async def test_a_cancellation_waits_until_the_work_is_done(times):
    started, release, steps = asyncio.Event(), asyncio.Event(), []

    async def clean() -> None:
        started.set()
        await release.wait()
        steps.append("clean")

    task = asyncio.create_task(to_the_end(clean()))
    await started.wait()
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == ["clean"]


async def test_an_error_after_a_cancellation_is_retrieved():
    started, release = asyncio.Event(), asyncio.Event()

    async def fail() -> None:
        started.set()
        await release.wait()
        raise ValueError("late")

    task = asyncio.create_task(to_the_end(fail()))
    await started.wait()
    task.cancel()
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancelled_future_has_no_exception_to_retrieve():
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.cancel()
    assert retrieve_exception(future) is None  # type: ignore[func-returns-value]


def test_pauses_grow_to_the_longest():
    pauses = list(islice(poll_pauses(0.1), 9))
    assert pauses[:3] == pytest.approx([0.1, 0.16, 0.256])
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_S
