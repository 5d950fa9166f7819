"""Blocking work in a thread: results, errors, cancellation, events, and locks."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pgs_neo4j.database.local import blocking
from pgs_neo4j.database.local.blocking import deliver_events, hold_lock, in_thread
from pgs_neo4j.errors import LocalServerError
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


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(blocking, "POLL_S", 0.01)


def test_a_lock_is_free_again_after_its_block_even_if_that_fails(tmp_path):
    with (
        pytest.raises(ValueError, match="inside"),
        hold_lock(tmp_path / "lock", "testing", threading.Event()),
    ):
        raise ValueError("inside")
    for _ in range(2):
        with hold_lock(tmp_path / "lock", "testing", threading.Event(), timeout_s=0.05):
            assert (tmp_path / "lock").exists()


@pytest.mark.parametrize(
    ("interrupted", "told"),
    [
        (False, "another process has been fetching jars for 0 s"),
        (True, "interrupted while fetching jars; run the command again"),
    ],
)
def test_a_second_holder_waits_only_so_long_and_says_for_what(tmp_path, interrupted, told):
    cancelled = threading.Event()
    if interrupted:
        cancelled.set()
    with (
        hold_lock(tmp_path / "lock", "testing", threading.Event()),
        pytest.raises(LocalServerError, match=told),
        hold_lock(tmp_path / "lock", "fetching jars", cancelled, 30.0 if interrupted else 0.0),
    ):
        pytest.fail("the lock was held twice")


def test_a_lock_that_cannot_be_created_names_its_file(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(LocalServerError, match=r"lock file .*file/lock cannot be used"),
        hold_lock(tmp_path / "file" / "lock", "testing", threading.Event()),
    ):
        pytest.fail("there is no such folder")
