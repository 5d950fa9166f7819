"""Determines the usage of a call: the endpoint's count, or an estimate if that is impossible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from pgs_neo4j.model import Prompt, Usage
from pgs_neo4j.model.ceilings import BYTES_PER_TOKEN, CALL_TOKENS
from pgs_neo4j.text.tokens import estimate


class Shape(BaseModel):
    """The part of a reply that is read; everything else in it is ignored."""

    model_config = ConfigDict(from_attributes=True, extra="ignore", hide_input_in_errors=True)


def _ignore_invalid(value: object, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return None if value is None else validate(value)
    except ValidationError:
        return None


# An impossible count of cached tokens is ignored, because the prompt's tokens are known.
CachedTokens = Annotated[
    int | None, Field(strict=True, ge=0, le=CALL_TOKENS), WrapValidator(_ignore_invalid)
]


class PromptDetails(Shape):
    """Details of a prompt's tokens; only OpenRouter reports ``cache_write_tokens``."""

    cached_tokens: CachedTokens = None
    cache_write_tokens: CachedTokens = None


class ReplyDetails(Shape):
    """Details of a reply's tokens; ``reasoning_tokens`` are the tokens of its thinking."""

    reasoning_tokens: CachedTokens = None


class ReplyUsage(Shape):
    """Tokens as the endpoint counted them.

    ``prompt_tokens`` include tokens that were read from the provider's prompt cache or stored in
    it. OpenAI, Azure, xAI, Groq, Gemini, and OpenRouter count them in the details of the prompt,
    Moonshot as ``cached_tokens``, and DeepSeek as ``prompt_cache_hit_tokens``. xAI and Gemini leave
    the tokens of thinking out of ``completion_tokens``, but bill them: their ``total_tokens``
    include these tokens, and so do xAI's details of the reply.
    """

    prompt_tokens: Annotated[int, Field(ge=0, le=CALL_TOKENS)]
    completion_tokens: Annotated[int, Field(ge=0, le=CALL_TOKENS)]
    prompt_tokens_details: Annotated[PromptDetails | None, WrapValidator(_ignore_invalid)] = None
    cached_tokens: CachedTokens = None
    prompt_cache_hit_tokens: CachedTokens = None
    total_tokens: CachedTokens = None
    completion_tokens_details: Annotated[ReplyDetails | None, WrapValidator(_ignore_invalid)] = None

    @property
    def thought(self) -> int:
        """Tokens of thinking that are billed in addition to the reply's tokens."""
        rest = (self.total_tokens or 0) - self.prompt_tokens - self.completion_tokens
        details = self.completion_tokens_details
        reported = details.reasoning_tokens if details is not None else None
        return max(0, rest if reported is None else min(rest, reported))

    @property
    def cached(self) -> int:
        """Prompt tokens from the provider's cache; 0 without a possible count."""
        details = self.prompt_tokens_details or PromptDetails()
        reported = (details.cached_tokens, self.cached_tokens, self.prompt_cache_hit_tokens)
        # A proxy may add the field of another provider with a zero, so the largest count is used.
        return max((count for count in reported if count and self._has_room(count)), default=0)

    @property
    def stored(self) -> int:
        """Prompt tokens that the provider stored in its cache; 0 if the count is impossible."""
        details = self.prompt_tokens_details or PromptDetails()
        count = details.cache_write_tokens or 0
        return count if self._has_room(count + self.cached) else 0

    def _has_room(self, count: int) -> bool:
        return count <= self.prompt_tokens


# An impossible usage is ignored: the reply is still good, and its tokens are estimated.
Counted = Annotated[ReplyUsage | None, WrapValidator(_ignore_invalid)]


@dataclass(frozen=True, slots=True)
class CountedUsage:
    """The usage of a call; ``doubted`` is true if the endpoint reported an impossible one."""

    usage: Usage
    doubted: bool = False


def count_usage(prompt: Prompt, text: str, reported: ReplyUsage | None) -> CountedUsage:
    """Return the reported usage, with an estimate in place of every impossible count.

    If the prompt's tokens are estimated, none of them counts as cached by the provider.
    """
    asked = prompt.system + prompt.user
    read, written = estimate(asked), estimate(text)
    if reported is None:
        return CountedUsage(_make_usage(read, written, estimated=True))
    believed = (
        _is_believable(reported.prompt_tokens, asked),
        _is_believable(reported.completion_tokens, text),
    )
    usage = _make_usage(
        reported.prompt_tokens if believed[0] else read,
        reported.thought + (reported.completion_tokens if believed[1] else written),
        estimated=not all(believed),
    )
    if believed[0]:
        usage = replace(
            usage, cache_read_tokens=reported.cached, cache_write_tokens=reported.stored
        )
    return CountedUsage(usage, doubted=not all(believed))


def count_read(texts: Sequence[str], reported: int | None) -> Usage:
    """Return the usage of a call without a written reply, estimated if its count is impossible."""
    if reported is not None and _is_believable(reported, "".join(texts)):
        return _make_usage(reported, 0, estimated=False)
    return _make_usage(sum(map(estimate, texts)), 0, estimated=True)


def _is_believable(tokens: int, text: str) -> bool:
    """Return whether a text can have only ``tokens`` tokens, at the maximum bytes per token."""
    return tokens * BYTES_PER_TOKEN >= len(text.encode("utf-8", "replace"))


def _make_usage(read: int, written: int, *, estimated: bool) -> Usage:
    return Usage(calls=1, input_tokens=read, output_tokens=written, estimated=estimated)
