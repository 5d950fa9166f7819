"""Blocking work in a thread: results, errors, cancellation, and events."""

import asyncio
import threading

import pytest

from pgs_neo4j.database.local.threads import deliver_events, in_thread
from pgs_neo4j.events import Event, Progressed


async def test_the_result_or_error_comes_from_another_thread():
    ident, cancelled = await in_thread(lambda event: (threading.get_ident(), event.is_set()))
    assert ident != threading.get_ident()
    assert not cancelled

    def fail(cancelled: threading.Event) -> None:
        raise ValueError("in the thread")

    with pytest.raises(ValueError, match="in the thread"):
        await in_thread(fail)


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancelled_caller_waits_until_the_work_has_let_go_even_if_it_fails(fails):
    steps = []
    running = threading.Event()

    def work(cancelled: threading.Event) -> None:
        running.set()
        assert cancelled.wait(30)
        steps.append("released")
        if fails:
            raise ValueError("too late")

    task = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(running.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == ["released"]


async def test_events_arrive_in_order_in_the_thread_of_the_loop():
    received: list[tuple[int, Event]] = []
    report = deliver_events(lambda event: received.append((threading.get_ident(), event)))
    events = [Progressed("load", number, 3, "percent") for number in range(3)]

    def work(cancelled: threading.Event) -> None:
        for event in events:
            report(event)

    await in_thread(work)
    await asyncio.sleep(0)
    assert [event for _, event in received] == events
    assert {ident for ident, _ in received} == {threading.get_ident()}
