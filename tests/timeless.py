"""Tests in which only the event loop's own clock counts, so that they pass on a busy machine."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

import pytest

from tests.bench.clock import JumpingLoop

P = ParamSpec("P")


def timeless(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a test on a loop that never waits: its clock jumps to the next task that wakes.

    Times are exact. It is for tests without sockets, processes, and threads.
    """

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=JumpingLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run


class Clock:
    """The event loop's own clock, which a test may set forward while it waits for real work."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._ahead_s, self._wall = 0.0, asyncio.get_running_loop().time
        patch.setattr(asyncio.get_running_loop(), "time", self.now)

    def now(self) -> float:
        """Return the time of the loop, in seconds."""
        return self._wall() + self._ahead_s

    def forward(self, seconds: float) -> None:
        """Set the clock forward by so much time; what is then due runs next."""
        self._ahead_s += seconds
