"""What every wire does with a reply: limits time and bytes, checks its end, counts its tokens."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from pgs_neo4j.errors import (
    ModelError,
    ModelOutputError,
    ModelTimeoutError,
    ModelUnavailableError,
    Retry,
)
from pgs_neo4j.llm.openai.endpoint import TRIES_CONNECTION, Endpoint, timeout_error
from pgs_neo4j.llm.openai.usage import ReplyUsage, count_usage
from pgs_neo4j.model import Completion, Prompt
from pgs_neo4j.text.shown import one_line

End = Literal["whole", "cut", "refused", "broken"]

WHOLE = frozenset(
    ("stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed", "end")
)
CUT = frozenset(
    (
        *("length", "max_tokens", "model_length", "max_output_tokens", "max_length"),
        "model_context_window_exceeded",
    )
)
REFUSED = frozenset(
    (
        *("content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist"),
        *("prohibited_content", "spii", "guardrail_intervened", "sensitive"),
    )
)

_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{1,40}", re.ASCII)  # anything else may repeat the prompt
MOST_MODELS = 2_000  # of a list that are compared; routers list some hundreds
LONGEST_NAME = 80  # characters


@asynccontextmanager
async def in_time(endpoint: Endpoint, model: str) -> AsyncIterator[None]:
    """Limit the total time of a try.

    The client's timeout restarts with every byte.
    """
    try:
        async with asyncio.timeout(endpoint.timeout_s):
            yield
    except TimeoutError:
        raise timeout_error(endpoint, model) from None


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most bytes that the body of a reply may have, and the error for a longer one."""

    most_bytes: int
    error: ModelError


_CEILING: ContextVar[Ceiling | None] = ContextVar("ceiling", default=None)


@contextmanager
def limited_body(most_bytes: int, where: str) -> Iterator[None]:
    """Limit the bodies of the requests made here, which go to ``where``."""
    error = ModelOutputError(
        f"the model endpoint {where} sent more than {most_bytes:,} bytes where the "
        "reply cannot be that long; use another model or endpoint"
    )
    token = _CEILING.set(Ceiling(most_bytes, error))
    try:
        yield
    finally:
        _CEILING.reset(token)


def body_ceiling() -> Ceiling | None:
    """Return the ceiling of the bodies that are read now; None without one."""
    return _CEILING.get()


def classify_end(reason: str | None, *, delivered: bool) -> End:
    """Return the kind of an end; ``delivered``: the transport says that all of it arrived.

    Only a reply that its model ended is whole. What was cut at the token limit may be asked for
    with more room. Anything else (a gateway's error, an abort, a word nobody knows) is broken,
    whatever text came with it.

    Some servers give no reason at all. Their reply is whole once all of it is there: a closed JSON
    object, or a stream with its ``[DONE]``.
    """
    if reason is None or not reason.strip():
        return "whole" if delivered else "broken"
    word = reason.strip().lower()
    if word in WHOLE:
        return "whole"
    if word in CUT:
        return "cut"
    return "refused" if word in REFUSED else "broken"


def make_completion(
    prompt: Prompt, text: str, end: End, usage: ReplyUsage | None, model: str
) -> Completion:
    """Return a reply with its usage: as reported, or estimated where that cannot be."""
    counted = count_usage(prompt, text, usage)
    return Completion(
        text=text,
        usage=counted.usage,
        model=model,
        truncated=end in ("cut", "broken"),
        doubted=counted.doubted,
        counted=usage.prompt_tokens if usage is not None else None,
    )


def check_reply(
    endpoint: Endpoint, made: Completion, refusal: str | None, end: End, model: str
) -> None:
    """Raise ModelOutputError without text, unless the token limit was reached first."""
    if end == "refused":
        what = "withheld its answer because of a content filter; rephrase the question"
    elif refusal:
        what = "refused to answer; rephrase the question or use another model"
    elif not made.text.strip() and end == "whole":
        what = "sent an empty answer; ask again or use another model"
    else:
        return
    # Reported usage is paid for; unreported usage is unknown.
    usage = None if made.usage.estimated else made.usage
    raise ModelOutputError(f"model {model} at {endpoint.host} {what}", usage=usage)


def broken_reply(
    endpoint: Endpoint, made: Completion, reason: str | None, model: str
) -> ModelUnavailableError:
    """Return the error for a reply that neither its model nor the token limit ended."""
    word = f" ({reason})" if reason and _WORD.fullmatch(reason) else ""
    return ModelUnavailableError(
        f"the model endpoint {endpoint.host} (model {model}) broke its answer off{word}; ask "
        "again, or use another model or endpoint",
        retry=Retry(tries=TRIES_CONNECTION),
        usage=None if made.usage.estimated else made.usage,
    )


def stalled_answer(endpoint: Endpoint, model: str, characters: int) -> ModelTimeoutError:
    """Return the error for a streamed answer that stopped coming after so many characters."""
    return ModelTimeoutError(
        f"the answer of {endpoint.host} (model {model}) stalled after {characters} characters; ask "
        "again, or raise model_timeout_s"
    )


def lost_answer(endpoint: Endpoint, model: str, characters: int) -> ModelUnavailableError:
    """Return the error for a streamed answer that broke off after so many characters."""
    return ModelUnavailableError(
        f"the answer of {endpoint.host} (model {model}) broke off after {characters} characters; "
        "ask again"
    )


def overlong_answer(where: str, room: int) -> ModelOutputError:
    """Return the error for an answer that is far longer than the ``room`` tokens it was given.

    ``where`` names the endpoint and the model.
    """
    return ModelOutputError(
        f"the model endpoint {where} kept sending text after the {room:,} tokens that were "
        "requested; use another model or endpoint"
    )


def thoughtful_answer(where: str, room: int) -> ModelOutputError:
    """Return the error for an answer of which thinking has taken all ``room`` tokens.

    ``where`` names the endpoint and the model.
    """
    return ModelOutputError(
        f"the model endpoint {where} thought for all of the {room:,} tokens that its answer may "
        "have; raise PGS_SYNTHESIS_MAX_TOKENS, or ask for a lower effort"
    )


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Whether an endpoint lists a model, and a line to display.

    ``listed`` is None if the endpoint lists no models at all. ``models`` are those that it lists
    instead, those with a similar name first, safe to show.
    """

    listed: bool | None
    text: str
    models: tuple[str, ...] = ()


def signed_extra(extra: Mapping[str, Any]) -> str:
    """Return what a signature says of properties that are added to requests; empty without any."""
    return f" {json.dumps(extra, sort_keys=True)}" if extra else ""


def probe_result(endpoint: Endpoint, model: str, models: tuple[str, ...]) -> ProbeResult:
    """Return whether an endpoint lists a model, in words as well."""
    if not models:
        return ProbeResult(None, f"{endpoint.host} answers, but lists no models")
    listed = model in models
    verb = "lists" if listed else "does not list"
    names = () if listed else sort_by_likeness(model, models)
    return ProbeResult(listed, f"{endpoint.host} answers and {verb} {model}", names)


def sort_by_likeness(model: str, models: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of models that are safe to show, the one most like ``model`` first."""
    likeness = SequenceMatcher(b=model.casefold())

    def ratio(name: str) -> float:
        likeness.set_seq1(name.casefold())
        return likeness.ratio()

    shown = {one_line(name, LONGEST_NAME) for name in models[:MOST_MODELS]}
    return tuple(sorted(shown, key=lambda name: (-ratio(name), name)))
