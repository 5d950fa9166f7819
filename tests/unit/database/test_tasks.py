"""Work that runs to its end even if its caller is cancelled, and pauses between questions."""

import asyncio
from itertools import islice

import pytest

from pgs_neo4j.database.tasks import LONGEST_S, poll_pauses, retrieve_exception, to_the_end


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


async def test_an_error_after_a_cancellation_is_retrieved_and_a_cancellation_is_none():
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
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.cancel()
    assert retrieve_exception(future) is None  # type: ignore[func-returns-value]


def test_pauses_grow_to_the_longest():
    pauses = list(islice(poll_pauses(0.1), 9))
    assert pauses[:3] == pytest.approx([0.1, 0.16, 0.256])
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_S
