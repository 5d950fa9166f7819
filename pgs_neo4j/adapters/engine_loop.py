"""An engine that callers reach from any thread, in the event loop in which it lives."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Protocol, TypeVar

from pgs_neo4j.adapters.loop_thread import LoopThread
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UsageError

T = TypeVar("T")


class EngineAccess(Protocol):
    """An engine, and how to run its coroutines."""

    @property
    def pgs(self) -> PGS:
        """The engine."""
        ...

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine, to code that is not asynchronous."""
        ...

    async def reach(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine, in any event loop."""
        ...

    def close(self) -> None:
        """Close the engine if it was opened here."""
        ...


class OwnEngine:
    """An engine with a connection, an event loop, and a thread of its own, until ``close``."""

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
        """Return the result of a coroutine; code in an event loop waits."""
        return self._thread.run(work)

    async def reach(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine, while other tasks of the caller run."""
        return await self._thread.reach(work)

    def close(self) -> None:
        """Close the connection; what still runs ends with UsageError. Harmless to repeat."""
        self._finalizer()


class GivenEngine:
    """An engine that the caller has opened, in the running event loop, and closes itself."""

    def __init__(self, pgs: PGS) -> None:
        """Remember the running loop. Raises UsageError without one."""
        self.pgs = pgs
        loop = _running_loop()
        if loop is None:
            raise UsageError("pass an engine where its event loop runs, or settings instead")
        self._loop = loop

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine to another thread than that of the engine."""
        if _running_loop() is self._loop:
            work.close()
            raise UsageError(
                "this would wait for itself: use the asynchronous form in the engine's own loop"
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def reach(self, work: Coroutine[Any, Any, T]) -> T:
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
