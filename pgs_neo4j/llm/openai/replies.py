"""Limits, checks, and counts replies in the same way for every interface."""

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

_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{1,40}", re.ASCII)  # any other text may repeat the prompt
MOST_MODELS = 2_000  # models of a list that are compared; routers list some hundreds
LONGEST_NAME = 80  # characters


@asynccontextmanager
async def in_time(endpoint: Endpoint, model: str) -> AsyncIterator[None]:
    """Limit the total time of a try, because the client's own timeout restarts with every byte.

    Raises ModelTimeoutError.
    """
    try:
        async with asyncio.timeout(endpoint.timeout_s):
            yield
    except TimeoutError:
        raise timeout_error(endpoint, model) from None


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The size limit of the body of a reply, in bytes, and the error for a longer body."""

    most_bytes: int
    error: ModelError


_CEILING: ContextVar[Ceiling | None] = ContextVar("ceiling", default=None)


@contextmanager
def limited_body(most_bytes: int, where: str) -> Iterator[None]:
    """Limit the bodies of replies to the requests of this block.

    ``where`` names the endpoint in the error.
    """
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
    """Return the ceiling for bodies that the current task reads; None without one."""
    return _CEILING.get()


def classify_end(reason: str | None, *, delivered: bool) -> End:
    """Return how a reply ended.

    Only a reply that its model ended is whole. A reply that was cut at the token limit may be
    repeated with a higher limit. With any other reason (a gateway's error, an abort, an unknown
    word), the reply is broken, even if it has text.

    Some servers give no reason. Their reply is whole if it was ``delivered`` completely: a closed
    JSON object, or a stream with its ``[DONE]``.
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
    """Return a completion with the reported usage, or an estimate if it is impossible."""
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
    """Raise ModelOutputError for a refusal, and for a reply that ended without text.

    A reply without text is accepted if it reached its token limit.
    """
    if end == "refused":
        what = "withheld its answer because of a content filter; rephrase the question"
    elif refusal:
        what = "refused to answer; rephrase the question or use another model"
    elif not made.text.strip() and end == "whole":
        what = "sent an empty answer; ask again or use another model"
    else:
        return
    # The endpoint charges for the usage that it reports. Without a report, the cost is unknown.
    usage = None if made.usage.estimated else made.usage
    raise ModelOutputError(f"model {model} at {endpoint.host} {what}", usage=usage)


def broken_reply(
    endpoint: Endpoint, made: Completion, reason: str | None, model: str
) -> ModelUnavailableError:
    """Return the error for a reply that was ended by neither its model nor the token limit."""
    word = f" ({reason})" if reason and _WORD.fullmatch(reason) else ""
    return ModelUnavailableError(
        f"the model endpoint {endpoint.host} (model {model}) broke its answer off{word}; ask "
        "again, or use another model or endpoint",
        retry=Retry(tries=TRIES_CONNECTION),
        usage=None if made.usage.estimated else made.usage,
    )


def stalled_answer(endpoint: Endpoint, model: str, characters: int) -> ModelTimeoutError:
    """Return the error for a streamed answer that stalled after ``characters`` characters."""
    return ModelTimeoutError(
        f"the answer of {endpoint.host} (model {model}) stalled after {characters} characters; ask "
        "again, or raise model_timeout_s"
    )


def lost_answer(endpoint: Endpoint, model: str, characters: int) -> ModelUnavailableError:
    """Return the error for a streamed answer that broke off after ``characters`` characters."""
    return ModelUnavailableError(
        f"the answer of {endpoint.host} (model {model}) broke off after {characters} characters; "
        "ask again"
    )


def overlong_answer(where: str, room: int) -> ModelOutputError:
    """Return the error for an answer that is far longer than its limit of ``room`` tokens.

    ``where`` names the endpoint and the model.
    """
    return ModelOutputError(
        f"the model endpoint {where} kept sending text after the {room:,} tokens that were "
        "requested; use another model or endpoint"
    )


def thoughtful_answer(where: str, room: int) -> ModelOutputError:
    """Return the error for a model that spent all ``room`` tokens of its answer on thinking.

    ``where`` names the endpoint and the model.
    """
    return ModelOutputError(
        f"the model endpoint {where} spent all of the {room:,} tokens of its answer on thinking; "
        "raise PGS_SYNTHESIS_MAX_TOKENS, or ask for a lower effort"
    )


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Whether an endpoint lists a model, and a line to display.

    ``listed`` is None if the endpoint lists no models at all. If it does not list the model,
    ``models`` are the names that it lists, the most similar first, safe to show.
    """

    listed: bool | None
    text: str
    models: tuple[str, ...] = ()


def signed_extra(extra: Mapping[str, Any]) -> str:
    """Return the part of a signature for properties that are added to requests; empty if none."""
    return f" {json.dumps(extra, sort_keys=True)}" if extra else ""


def probe_result(endpoint: Endpoint, model: str, models: tuple[str, ...]) -> ProbeResult:
    """Return whether an endpoint lists a model, with a line that says so."""
    if not models:
        return ProbeResult(None, f"{endpoint.host} answers, but lists no models")
    listed = model in models
    verb = "lists" if listed else "does not list"
    names = () if listed else sort_by_likeness(model, models)
    return ProbeResult(listed, f"{endpoint.host} answers and {verb} {model}", names)


def sort_by_likeness(model: str, models: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of models made safe to show, the name most similar to ``model`` first."""
    likeness = SequenceMatcher(b=model.casefold())

    def ratio(name: str) -> float:
        likeness.set_seq1(name.casefold())
        return likeness.ratio()

    shown = {one_line(name, LONGEST_NAME) for name in models[:MOST_MODELS]}
    return tuple(sorted(shown, key=lambda name: (-ratio(name), name)))
