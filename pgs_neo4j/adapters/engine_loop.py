"""Runs the engine in one event loop, for callers in any thread.

``OwnEngine`` opens an engine in the event loop of a new thread. ``GivenEngine`` uses an engine that
the caller has opened.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from threading import Lock, Thread, current_thread
from typing import Any, Protocol, TypeVar

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UsageError

T = TypeVar("T")
CLOSED = "it is closed; create another one"
FORKED = "it was opened in another process, and its thread stayed there; open one in this process"
OWN_THREAD = (
    "this would wait for itself: it is called where its own work is done, as on_event and the "
    "methods of your own models are; call it in another thread"
)
SERVE_TASK = "pgs-serve"
"""Name of the task that keeps the loop running."""


class EngineAccess(Protocol):
    """An engine, and two ways to run its coroutines."""

    @property
    def pgs(self) -> PGS:
        """The engine."""
        ...

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine from synchronous code, and return its result."""
        ...

    async def run_async(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine from any event loop, and return its result."""
        ...

    def close(self) -> None:
        """Close the engine if this object opened it."""
        ...


class OwnEngine:
    """An engine with its own connection, event loop, and thread, until ``close`` is called."""

    def __init__(self, name: str, opening: AbstractAsyncContextManager[PGS]) -> None:
        self._thread = LoopThread(name)
        stack = AsyncExitStack()
        self._finalizer = weakref.finalize(self, self._thread.close, stack.aclose)
        try:
            self.pgs = self._thread.run(stack.enter_async_context(opening))
        except BaseException:
            self.close()
            raise

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result; blocks the calling thread."""
        return self._thread.run(work)

    async def run_async(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result, without blocking the caller's event loop."""
        return await self._thread.run_async(work)

    def close(self) -> None:
        """Close the connection; running calls end with UsageError. Harmless to repeat."""
        self._finalizer()


class GivenEngine:
    """An engine that the caller has opened in the running event loop, and has to close."""

    def __init__(self, pgs: PGS) -> None:
        """Remember the running event loop. Raises UsageError without one."""
        self.pgs = pgs
        loop = _running_loop()
        if loop is None:
            raise UsageError(
                "no event loop is running here; pass the engine in a coroutine of its event loop, "
                "or pass settings instead"
            )
        self._loop = loop

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine from a thread other than the engine's, and return its result."""
        if _running_loop() is self._loop:
            work.close()
            raise UsageError(
                "this would wait for itself: use the asynchronous form in the engine's own loop"
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def run_async(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine."""
        if _running_loop() is self._loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def close(self) -> None:
        """Leave the engine open."""


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class LoopThread:
    """Runs coroutines for any thread until it is closed.

    The thread does not keep the process alive.
    """

    def __init__(self, name: str) -> None:
        self._lock = Lock()
        self._closed = False
        self._process = os.getpid()
        started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = Thread(target=asyncio.run, args=(_serve(started),), name=name, daemon=True)
        self._thread.start()
        self._loop, self._stop = started.result()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result; an interrupt cancels the coroutine.

        Raises UsageError if the loop is closed, or is closed before the coroutine ends. Also raises
        UsageError in the loop's own thread, which cannot wait for itself, and in a forked process.
        """
        if current_thread() is self._thread:
            work.close()
            raise UsageError(OWN_THREAD)
        future = self._start(work)
        try:
            return future.result()
        except CancelledError as error:
            raise UsageError(CLOSED) from error
        finally:
            future.cancel()  # no effect after the coroutine has ended

    async def run_async(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine from another event loop; canceling the caller cancels the coroutine.

        Raises UsageError in the same cases as ``run``.
        """
        future = self._start(work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if self._closed:
                raise UsageError(CLOSED) from None
            raise

    def _start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine in the loop. Raises UsageError if the loop no longer runs."""
        # Checked before taking the lock, which a thread of the parent may have held at the fork.
        if self._process != os.getpid():
            work.close()
            raise UsageError(FORKED)
        with self._lock:
            if self._closed:
                work.close()
                raise UsageError(CLOSED)
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self, clean_up: Callable[[], Awaitable[None]]) -> None:
        """Cancel all running tasks, await ``clean_up``, and end the thread. Harmless to repeat.

        Does nothing in a forked process, because the connection belongs to the parent process.
        """
        if self._process != os.getpid():
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
        future = asyncio.run_coroutine_threadsafe(
            _cancel_and_stop(clean_up, self._stop), self._loop
        )
        if current_thread() is not self._thread:  # the finalizer may run in the loop's own thread
            try:
                future.result()
            finally:
                self._thread.join()


async def _serve(started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    stop = asyncio.Event()
    current = asyncio.current_task()
    assert current is not None
    current.set_name(SERVE_TASK)
    started.set_result((asyncio.get_running_loop(), stop))
    await stop.wait()


async def _cancel_and_stop(clean_up: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
    own = asyncio.current_task()
    running = [
        task for task in asyncio.all_tasks() if task is not own and task.get_name() != SERVE_TASK
    ]
    for task in running:
        task.cancel()
    try:
        await asyncio.gather(*running, return_exceptions=True)
        await clean_up()
    finally:
        stop.set()
