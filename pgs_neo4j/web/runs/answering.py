"""Requests that wait for their answers, which go before the work of new runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_S = 0.25
"""Seconds for which a run lets requests go first."""
FOLLOW_S = 0.05
"""Seconds for which the reader of a new run is expected."""
PATH = "/api/runs"


@dataclass(slots=True)
class Answering:
    """How many requests about runs have no answer yet, and how many should come at once.

    Who asks a question reads its events next. That request counts from the acceptance on.
    """

    waiting: int = 0
    _expected: set[str] = field(default_factory=set, repr=False)
    _none_waiting: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @contextmanager
    def count_request(self) -> Iterator[Callable[[], None]]:
        """Count a request until the yielded function is called, or the block ends."""
        waits = True

        def stop_counting() -> None:
            nonlocal waits
            if waits:
                self._subtract()
            waits = False

        self._add()
        try:
            yield stop_counting
        finally:
            stop_counting()

    def expect_reader(self, run: str) -> None:
        """Count the reader of a new run for a while, or until it comes."""
        if run not in self._expected:
            self._expected.add(run)
            self._add()
            asyncio.get_running_loop().call_later(FOLLOW_S, self.meet_reader, run)

    def meet_reader(self, run: str) -> None:
        """Expect the reader of a run no longer."""
        if run in self._expected:
            self._expected.remove(run)
            self._subtract()

    def _add(self) -> None:
        self.waiting += 1
        self._none_waiting.clear()

    def _subtract(self) -> None:
        self.waiting -= 1
        if not self.waiting:
            self._none_waiting.set()

    async def settled(self) -> None:
        """Return when no request waits, or some have for too long."""
        if not self.waiting:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(MOST_S):
                await self._none_waiting.wait()


@dataclass(frozen=True, slots=True)
class CountRequests:
    """Counts requests about runs until their answers begin."""

    app: ASGIApp
    answering: Answering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or not scope["path"].startswith(PATH):
            await self.app(scope, receive, send)
            return
        with self.answering.count_request() as stop_counting:

            async def sending(message: Message) -> None:
                await send(message)
                stop_counting()

            await self.app(scope, receive, sending)
