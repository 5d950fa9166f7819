"""A loop in a thread: results and errors come back, and closing ends whatever still runs."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.adapters.engine_loop import LoopThread
from pgs_neo4j.errors import PGSError, UsageError

NAME = "test-loop"
FORKED = """
import asyncio, os
from pgs_neo4j.adapters.engine_loop import LoopThread
from pgs_neo4j.errors import UsageError

async def double(value):
    return 2 * value

async def nothing():
    pass

thread = LoopThread("forked")
child = os.fork()
if child == 0:
    try:
        thread.run(double(2))
    except UsageError as error:
        print(error, flush=True)
    thread.close(nothing)
    os._exit(0)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(thread.run(double(2)))
thread.close(nothing)
"""


async def nothing() -> None:
    """Leave without anything to do."""


async def double(value: int) -> int:
    await asyncio.sleep(0)
    return 2 * value


async def fail() -> None:
    raise PGSError("refused")


def threads() -> int:
    return sum(thread.name == NAME for thread in threading.enumerate())


@pytest.fixture
def loop() -> Any:
    thread = LoopThread(NAME)
    yield thread
    thread.close(nothing)
    assert threads() == 0


async def test_results_and_errors_come_back_to_threads_and_to_code_in_another_loop(
    loop: LoopThread,
) -> None:
    assert loop.run(double(2)) == 4
    with pytest.raises(PGSError, match="refused"):
        loop.run(fail())
    with ThreadPoolExecutor(8) as pool:
        doubled = [*pool.map(lambda value: loop.run(double(value)), range(50))]
    assert doubled == [2 * value for value in range(50)]


def test_closing_leaves_first_and_cancels_what_runs() -> None:
    thread = LoopThread(NAME)
    steps: list[str] = []
    running = threading.Event()

    async def wait() -> None:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            steps.append("canceled")

    async def leave() -> None:
        steps.append("left")

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: thread.run(wait()))
        assert running.wait(5)
        thread.close(leave)
        with pytest.raises(UsageError, match="it is closed; create another one"):
            waiting.result(5)
    assert steps == ["canceled", "left"]
    assert threads() == 0
    thread.close(leave)
    assert steps == ["canceled", "left"]
    with pytest.raises(UsageError, match="it is closed"):
        thread.run(double(1))


def test_the_thread_ends_even_if_leaving_fails() -> None:
    thread = LoopThread(NAME)
    with pytest.raises(PGSError, match="refused"):
        thread.close(fail)
    assert threads() == 0


def test_an_interrupt_cancels_the_work(loop: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    canceled = threading.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            canceled.set()

    submit = asyncio.run_coroutine_threadsafe

    def interrupted(work: Any, running: Any) -> Any:
        future = submit(work, running)

        def result(timeout: float | None = None) -> None:
            loop._loop.call_soon_threadsafe(started.set)
            started.wait(5)
            raise KeyboardInterrupt

        started = threading.Event()
        future.result = result  # type: ignore[method-assign]
        return future

    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
        with pytest.raises(KeyboardInterrupt):
            loop.run(wait())
    assert canceled.wait(5)


def test_garbage_that_is_collected_in_the_thread_may_close_it() -> None:
    class Owner:
        """What the loop is closed with."""

    thread, owner = LoopThread(NAME), Owner()
    weakref.finalize(owner, thread.close, nothing)
    holder = [owner]
    del owner

    async def collect() -> None:
        holder.clear()
        gc.collect()

    with pytest.raises(UsageError):
        thread.run(collect_and_wait(collect))
    thread._thread.join(5)
    assert threads() == 0


async def collect_and_wait(collect: Any) -> None:
    await collect()
    await asyncio.Event().wait()


def test_a_call_from_the_thread_that_would_have_to_do_it_is_refused(loop: LoopThread) -> None:
    """It would wait for itself for ever, as in ``on_event`` of a call that is not asynchronous."""

    async def call_again() -> int:
        return loop.run(double(2))

    with pytest.raises(UsageError, match="would wait for itself"):
        loop.run(call_again())
    assert loop.run(double(2)) == 4


def test_a_forked_process_is_told_to_open_its_own_and_closes_nothing(tmp_path: Path) -> None:
    """No thread lives on in a fork, so that calls would wait there for ever."""
    script = tmp_path / "fork.py"
    script.write_text(FORKED)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        ["it was opened in another process, and its thread stayed there; open one in this process",
         "child 0", "4"],
    ), done.stderr  # fmt: skip
