"""Lets requests about runs be answered before new runs begin their work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_S = 0.25
"""Maximum seconds for which a run waits for requests."""
FOLLOW_S = 0.05
"""Seconds for which a new run expects a reader of its events."""
PATH = "/api/runs"


@dataclass(slots=True)
class Answering:
    """Counts unanswered requests about runs, and requests that are expected soon.

    A client that asks a question reads the events of the run next. This second request counts from
    the moment the question is accepted.
    """

    waiting: int = 0
    _expected: set[str] = field(default_factory=set, repr=False)
    _none_waiting: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @contextmanager
    def count_request(self) -> Iterator[Callable[[], None]]:
        """Count a request until the yielded function is called or the block ends."""
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
        """Count the expected reader of a new run for FOLLOW_S seconds, or until it arrives."""
        if run not in self._expected:
            self._expected.add(run)
            self._add()
            asyncio.get_running_loop().call_later(FOLLOW_S, self.meet_reader, run)

    def meet_reader(self, run: str) -> None:
        """Stop counting the expected reader of a run."""
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
        """Wait until no request is waiting, for at most MOST_S seconds."""
        if not self.waiting:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(MOST_S):
                await self._none_waiting.wait()


@dataclass(frozen=True, slots=True)
class CountRequests:
    """Counts requests about runs until their responses begin."""

    app: ASGIApp
    answering: Answering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, counted if its path is about runs."""
        if scope["type"] != "http" or not scope["path"].startswith(PATH):
            await self.app(scope, receive, send)
            return
        with self.answering.count_request() as stop_counting:

            async def sending(message: Message) -> None:
                await send(message)
                stop_counting()

            await self.app(scope, receive, sending)
