"""Event loops whose clocks differ from the wall clock.

In a ``HurriedLoop``, every wait takes a fraction of its time, while work and sockets take their
real time. In a ``JumpingLoop``, no wait takes any time: when all tasks sleep, the clock jumps to
the first one that wakes. So it is for simulations, or for connections with both
ends in the loop.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

Given = TypeVarTuple("Given")
Made = TypeVar("Made")


class HurriedLoop(asyncio.SelectorEventLoop):
    """A loop of whose seconds ``speed`` fit into one of the wall's."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        super().__init__(_Hurried(speed))  # type: ignore[arg-type]

    def time(self) -> float:
        """The wall's clock, hurried."""
        return super().time() * self._speed


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop that waits ``grace_s`` real seconds for sockets at most, and until its threads end.

    Nothing else takes time. On a busy machine a thread may take long, and no timeout should pass
    before it ends.
    """

    def __init__(self, grace_s: float = 0.0) -> None:
        self._clock = _Jumping(grace_s)
        super().__init__(self._clock)  # type: ignore[arg-type]

    def time(self) -> float:
        """Where the clock has jumped to."""
        return self._clock.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Given], Made], *args: *Given
    ) -> asyncio.Future[Made]:
        """Stop the clock while ``func`` runs in its thread."""
        future = super().run_in_executor(executor, func, *args)
        self._clock.threads += 1
        future.add_done_callback(self._clock.thread_ended)
        return future


class _Selector:
    """The default selector, but for how it waits."""

    def __init__(self) -> None:
        self._inner = selectors.DefaultSelector()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Hurried(_Selector):
    def __init__(self, speed: float) -> None:
        super().__init__()
        self._speed = speed

    def select(self, timeout: float | None = None) -> list[Any]:
        return self._inner.select(None if timeout is None else timeout / self._speed)


class _Jumping(_Selector):
    def __init__(self, grace_s: float) -> None:
        super().__init__()
        self.now = 0.0
        self.threads = 0
        self._grace_s = grace_s

    def thread_ended(self, _: object) -> None:
        self.threads -= 1

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:  # no task sleeps, so there is no time to jump to
            return self._inner.select(None)
        if self.threads and timeout > 0:
            return self._inner.select(None)  # the end of a thread wakes the loop
        ready = self._inner.select(min(timeout, self._grace_s))
        if not ready:
            self.now += timeout
        return ready
