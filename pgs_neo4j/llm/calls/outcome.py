"""Derives a model call's cost from its end, and decides whether later calls would fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from pgs_neo4j.errors import (
    ModelAuthError,
    ModelError,
    ModelOutputError,
    ModelRateLimitError,
    ModelUnavailableError,
    PromptTooLongError,
    StoppedError,
    UnknownModelError,
)
from pgs_neo4j.llm.protocol import LLM, reply_signature
from pgs_neo4j.model import Completion, Effort, Prompt, Usage
from pgs_neo4j.model.ceilings import text_bytes

# A test call with this prompt shows before the first paid sweep whether an endpoint accepts later
# calls of a run. Otherwise, a model that does not exist, an effort that it refuses, or a key that
# may not use it would show only after all sweeps are paid. Some interfaces refuse a smaller limit
# for the reply than ROOM, and a larger one would let a confused small model write endlessly.
ROOM = 16
PROMPT = Prompt(
    task="settling", system="You answer with one word.", user="Are you ready?", question=""
)


def check_size(model: str, reply: Completion, room: int) -> None:
    """Raise ModelOutputError for a reply that is far longer than its room."""
    if len(reply.text) > text_bytes(room):
        raise ModelOutputError(
            f"the model {model} sent {len(reply.text):,} characters when at most {room:,} "
            "tokens were requested; use another model",
            usage=reply.usage,
        )


@dataclass(slots=True)
class UsageDoubts:
    """Warns once of an endpoint whose counts of tokens are impossible."""

    warn: Callable[[str], None] = field(default=lambda _: None, repr=False)
    _warned: bool = False

    def note(self, model: str, reply: Completion) -> None:
        """Warn of impossible usage in a reply, once."""
        if reply.doubted and not self._warned:
            self._warned = True
            self.warn(
                f"the endpoint of {model} reports fewer tokens than its calls must have used; "
                "pgs estimates them instead, and limits apply to the estimate"
            )


@contextmanager
def without_retry(*, of_malformed: bool) -> Iterator[None]:
    """Forbid retries after malformed replies if ``of_malformed``, because the caller asks again."""
    try:
        yield
    except ModelOutputError as error:
        if of_malformed:
            error.retry = None
        raise


class CallsEnd(Protocol):
    """A record of why calls ended: a limit, or a failure; both are empty if neither occurred."""

    stopped: str
    error: str


@contextmanager
def noting_end(told: CallsEnd) -> Iterator[None]:
    """Record a limit or failure that ends all calls, and ignore a failure of a single call."""
    try:
        yield
    except (ModelOutputError, PromptTooLongError):
        pass
    except StoppedError as error:
        told.stopped = str(error)
    except ModelError as error:
        told.error = str(error)


def ends_calls(error: BaseException) -> bool:
    """Return whether all other calls would fail: the key, the model, or the quota is refused."""
    no_quota = isinstance(error, ModelRateLimitError) and error.retry is None
    return no_quota or isinstance(error, ModelAuthError | UnknownModelError)


def refuses_kind(error: BaseException) -> bool:
    """Return whether an endpoint would refuse each call of the same model and parameters.

    It would if it refused this call at once and at no cost, and another try would not help.
    """
    if ends_calls(error):
        return True
    refused = isinstance(error, ModelUnavailableError) and error.retry is None
    return refused and cost_of(error) == Usage()


def cost_of(error: BaseException) -> Usage | None:
    """Return the usage of a failed call; None if it is unknown."""
    if isinstance(error, ModelRateLimitError | ModelAuthError | PromptTooLongError):
        return error.usage or Usage()
    return error.usage if isinstance(error, ModelError) else None


@dataclass(frozen=True, slots=True)
class UpcomingCall:
    """A kind of call that a run will make: its model, its effort, and whether it is streamed."""

    llm: LLM
    effort: Effort | None
    stream: bool


@dataclass(slots=True)
class Settlements:
    """The kinds of calls that endpoints have answered."""

    _answered: set[tuple[str, Effort | None, bool]] = field(default_factory=set)

    def add(self, llm: LLM, effort: Effort | None, *, stream: bool) -> None:
        """Note that an endpoint answered a call of this kind."""
        self._answered.add((reply_signature(llm), effort, stream))

    def know(self, call: UpcomingCall) -> bool:
        """Return whether an endpoint has answered a call of this kind."""
        return (reply_signature(call.llm), call.effort, call.stream) in self._answered

    def forget(self, llm: LLM) -> None:
        """Forget the answers of a model, because its name now belongs to another model."""
        gone = reply_signature(llm)
        self._answered = {known for known in self._answered if known[0] != gone}
