"""Reports the waits and the growing replies of calls, and stops runs that must wait too long."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pgs_neo4j.errors import (
    ModelError,
    ModelOutputError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
    WaitError,
)
from pgs_neo4j.events import CallRetried, CallsHeld, OnEvent, ReplyGrew, ignore
from pgs_neo4j.llm.calls.budget import Budget, Stop
from pgs_neo4j.llm.protocol import heard_by
from pgs_neo4j.llm.retry import wait_sentence
from pgs_neo4j.model import Prompt
from pgs_neo4j.model.ceilings import longest_wait_s

GROWS_EVERY_S = 2.0
SAME_HOLD_S = 5.0  # maximum time between the ends of two waits that are reported as one
REASONS: dict[type[ModelError], str] = {
    ModelRateLimitError: "429",
    ModelTimeoutError: "no answer in time",
    ModelUnavailableError: "endpoint failed",
    ModelOutputError: "malformed reply",
}


@dataclass(slots=True)
class WaitReporter:
    """Reports retries, the progress of replies, and each hold once for all waiting calls."""

    on_event: OnEvent = ignore
    _held_until: float = 0.0

    def tell(self, prompt: Prompt, wait_s: float, error: ModelError | None, reason: str) -> None:
        """Report that a call waits for ``reason``, or that it will be retried after ``error``."""
        reason = reason or (error.retry.reason if error is not None and error.retry else "")
        if error is not None and not reason:
            words = REASONS.get(type(error), "failed")
            self.on_event(CallRetried(prompt.task, prompt.partition, words, wait_s))
            return
        until = asyncio.get_running_loop().time() + wait_s
        if until > self._held_until + SAME_HOLD_S:
            self._held_until = until
            self.on_event(CallsHeld(reason, wait_s))

    @contextmanager
    def hearing(self, prompt: Prompt) -> Iterator[None]:
        """Report every two seconds the progress of the reply that the block waits for."""
        now = asyncio.get_running_loop().time
        last, reported = now(), False

        def hear(tokens: int) -> None:
            nonlocal last, reported
            if now() - last >= GROWS_EVERY_S:
                last, reported = now(), True
                self.on_event(ReplyGrew(prompt.task, prompt.partition, tokens))

        try:
            with heard_by(hear):
                yield
        finally:
            if reported:
                self.on_event(ReplyGrew(prompt.task, prompt.partition, 0))


@contextmanager
def stopping(budget: Budget, timeout_s: float) -> Iterator[None]:
    """Stop all calls of a run once its endpoint asks for a wait that is too long.

    Raises WaitError, which names the time when the run can be resumed.
    """
    try:
        yield
    except ModelError as error:
        wait_s = error.retry.wait_s if error.retry is not None else None
        longest_s = longest_wait_s(timeout_s)
        if wait_s is None or wait_s <= longest_s:
            raise
        stop = WaitError(
            f"{wait_sentence(str(error), wait_s, longest_s)}; what was paid for is kept, and "
            "'pgs resume' can continue the run after that"
        )
        budget.closed = Stop.from_error(stop)
        raise stop from None
