"""Builds requests to Anthropic's Messages API, and parses its replies."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from pgs_neo4j.config.providers import PromptCache
from pgs_neo4j.llm.lessons import Lessons
from pgs_neo4j.llm.openai.usage import CountedUsage, PromptDetails, ReplyUsage, count_usage
from pgs_neo4j.llm.openai.wire import build_blocks
from pgs_neo4j.model import Effort, Prompt
from pgs_neo4j.model.ceilings import CALL_TOKENS
from pgs_neo4j.text.tokens import estimate

# A model writes up to 128,000 tokens an hour. A reply that may take longer than ten minutes is
# streamed, because a connection that is idle for that long is lost.
LONGEST_UNSTREAMED = 128_000 // 6
LEAST_THINKING = 1_024  # tokens; the interface refuses a smaller budget
# The share of a reply's tokens that a model may spend on thinking, by effort.
THINKING_SHARES: dict[Effort, float] = {"minimal": 0.0, "low": 0.2, "medium": 0.4, "high": 0.6}
EFFORTS: dict[Effort, str] = {"minimal": "low", "low": "low", "medium": "medium", "high": "high"}
_MOST_OUTPUT = re.compile(r"max_tokens\D{1,4}\d+ > (\d{2,9}), which is the max", re.IGNORECASE)

Thinking = Literal["adaptive", "enabled"]
THINKING: tuple[Thinking, ...] = ("adaptive", "enabled")


class _Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


Tokens = Annotated[int, Field(ge=0, le=CALL_TOKENS)]


class ReportedTokens(_Shape):
    """The counts of one reply or event; the counts of an event add to the earlier counts."""

    input_tokens: Tokens | None = None
    cache_creation_input_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None


def _ignore_invalid(value: object, validate: ValidatorFunctionWrapHandler) -> Any:
    """Return None for an invalid value, because the rest of the reply can still be used."""
    try:
        return None if value is None else validate(value)
    except ValidationError:
        return None


Reported = Annotated[ReportedTokens | None, WrapValidator(_ignore_invalid)]


class Block(_Shape):
    """A block of a reply, or the piece of a block that an event adds."""

    type: str = ""
    text: str = ""
    stop_reason: str | None = None

    @property
    def shown(self) -> str:
        """Its text; empty for thinking and tools."""
        return self.text if self.type in ("text", "text_delta") else ""


class Reply(_Shape):
    """A whole reply, or an error that was sent with the status of a reply."""

    content: list[Block] | None = None
    error: dict[str, Any] | None = None
    stop_reason: str | None = None
    usage: Reported = None
    model: str | None = None


class StartedReply(_Shape):
    """The facts about a reply that are known when it begins."""

    usage: Reported = None
    model: str | None = None


class Event(_Shape):
    """One event of a streamed reply."""

    type: str
    message: StartedReply | None = None
    content_block: Block | None = None
    delta: Block | None = None
    usage: Reported = None


@dataclass(frozen=True, slots=True)
class CountedTokens:
    """The tokens of a call as its endpoint counted them.

    ``uncached``, ``cache_writes``, and ``cache_reads`` add up to all tokens of the prompt.
    ``output`` is None for a reply that broke off before its end.
    """

    uncached: int
    cache_writes: int
    cache_reads: int
    output: int | None

    @property
    def input(self) -> int:
        """All tokens of the prompt."""
        return self.uncached + self.cache_writes + self.cache_reads


def sum_tokens(reported: ReportedTokens | None, *, ended: bool) -> CountedTokens | None:
    """Return the counts of a reply; None if the count of its input is missing or impossible.

    The count of the output is used only if the reply has ``ended``, because it is incomplete before
    the end.
    """
    if reported is None or reported.input_tokens is None:
        return None
    counted = CountedTokens(
        reported.input_tokens,
        reported.cache_creation_input_tokens or 0,
        reported.cache_read_input_tokens or 0,
        reported.output_tokens if ended else None,
    )
    return counted if counted.input <= CALL_TOKENS else None


def price_tokens(prompt: Prompt, text: str, counted: CountedTokens | None) -> CountedUsage:
    """Return the usage of a call. This is the only place that turns its counts into a ``Usage``."""
    if counted is None:
        return count_usage(prompt, text, None)
    output = estimate(text) if counted.output is None else counted.output
    details = PromptDetails(
        cached_tokens=counted.cache_reads, cache_write_tokens=counted.cache_writes
    )
    reported = ReplyUsage(
        prompt_tokens=counted.input, completion_tokens=output, prompt_tokens_details=details
    )
    priced = count_usage(prompt, text, reported)
    guessed = priced.usage.estimated or counted.output is None
    return replace(priced, usage=replace(priced.usage, estimated=guessed))


class _Support(_Shape):
    supported: bool | None = None


class _ThinkingTypes(_Shape):
    adaptive: _Support = _Support()
    enabled: _Support = _Support()


class _ThinkingSupport(_Support):
    types: _ThinkingTypes = _ThinkingTypes()


class _Capabilities(_Shape):
    effort: _Support = _Support()
    thinking: _ThinkingSupport = _ThinkingSupport()


def _parse_size(value: object) -> int | None:
    known = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= CALL_TOKENS
    return value if known and isinstance(value, int) else None


Size = Annotated[int | None, BeforeValidator(_parse_size)]


class ModelDescription(_Shape):
    """A server's description of a model; sizes are in tokens."""

    max_input_tokens: Size = None
    max_tokens: Size = None
    capabilities: Annotated[_Capabilities | None, WrapValidator(_ignore_invalid)] = None


def build_messages(prompt: Prompt, caches: PromptCache) -> dict[str, Any]:
    """Return the system text and the messages of a request."""
    system, user = build_blocks(prompt, caches)
    messages = [{"role": "user", "content": user}]
    return {"system": system, "messages": messages} if system else {"messages": messages}


@dataclass(slots=True, weakref_slot=True)
class Dialect:
    """The parameters that a model accepts, learned from its description and from refusals.

    ``thinking`` lists the forms of thinking that the model accepts, the preferred one first. Models
    since Claude 4.6 decide themselves how long they think, earlier models accept a budget of
    tokens, and the oldest models do not think. ``most_output`` is the longest reply that the model
    accepts, in tokens. ``marks`` is true if blocks may be marked for the prompt cache. ``lessons``
    describe in words what refusals have shown. ``description`` is the server's last description of
    the model.
    """

    thinking: tuple[Thinking, ...] = THINKING
    takes_effort: bool = True
    takes_temperature: bool = True
    marks: bool = True
    most_output: int | None = None
    lessons: Lessons = field(default_factory=Lessons)
    description: ModelDescription | None = None

    def forget(self) -> None:
        """Forget what was learned, because the name now belongs to another model.

        The server's last description stays, because it already describes the new model.
        """
        self.lessons.forget()
        self.thinking, self.takes_effort, self.takes_temperature = THINKING, True, True
        self.marks, self.most_output = True, None
        if self.description is not None:
            self.read(self.description)

    def body(
        self,
        model: str,
        prompt: Prompt,
        *,
        max_tokens: int,
        effort: Effort | None,
        temperature: float | None,
        stream: bool,
        caches: PromptCache = "instructions",
    ) -> dict[str, Any]:
        """Return the request for ``prompt`` in the dialect learned so far."""
        room = min(max_tokens, self.most_output or max_tokens)
        body: dict[str, Any] = {"model": model, "max_tokens": room}
        body |= build_messages(prompt, caches if self.marks else "none")
        if effort is not None:
            body |= self._effort_parameters(effort, room)
        # With thinking, the interface accepts only the default temperature.
        if temperature is not None and self.takes_temperature and "thinking" not in body:
            body["temperature"] = temperature
        return {**body, "stream": True} if stream else body

    def read(self, description: ModelDescription) -> None:
        """Learn from the server's description of the model."""
        self.description = description
        self._shorten(description.max_tokens)
        capabilities = description.capabilities
        if capabilities is None:
            return
        supported = capabilities.thinking
        types = {"adaptive": supported.types.adaptive, "enabled": supported.types.enabled}
        self.thinking = tuple(
            form
            for form in self.thinking
            if supported.supported is not False and types[form].supported is not False
        )
        self.takes_effort &= capabilities.effort.supported is not False

    def learn(self, body: dict[str, Any], message: str) -> bool:
        """Learn from a refusal; return whether another request is worth sending.

        Returns True at most once per parameter of ``body``, so the repetition ends.
        """
        said = message.lower()
        form = body.get("thinking", {}).get("type")
        # The refusal of one form names the other form, and the effort to use with it.
        if form and ("thinking" in said or "budget_tokens" in said):
            self.thinking = tuple(other for other in self.thinking if other != form)
            if not self.thinking:
                self.lessons.add("does not support thinking, so it is asked to answer without it")
        elif "output_config" in body and ("effort" in said or "output_config" in said):
            self.takes_effort = False
            self.lessons.add("refuses an effort, so it is left out")
        elif "temperature" in body and "temperature" in said:
            self.takes_temperature = False
            self.lessons.add("refuses a temperature, so it is left out")
        elif "cache_control" in said and "cache_control" in str(body.get("system")):
            self.marks = False
            self.lessons.add("refuses marks for its prompt cache, so they are left out")
        elif found := _MOST_OUTPUT.search(message):
            most = int(found[1])
            self._shorten(most)
            self.lessons.add(
                f"allows replies of at most {most:,} tokens, so no longer ones are requested"
            )
            return bool(body["max_tokens"] > most)
        else:
            return False
        return True

    def _effort_parameters(self, effort: Effort, room: int) -> dict[str, Any]:
        """Return the parameters for an effort, in the form of thinking that the model accepts."""
        asked: dict[str, Any] = {"output_config": {"effort": EFFORTS[effort]}}
        asked = asked if self.takes_effort else {}
        form = next(iter(self.thinking), None)
        budget = int(room * THINKING_SHARES[effort])
        if form == "adaptive":
            asked["thinking"] = {"type": "adaptive"}
        elif form == "enabled" and budget >= LEAST_THINKING:
            asked["thinking"] = {"type": "enabled", "budget_tokens": budget}
        return asked

    def _shorten(self, most: int | None) -> None:
        if most is not None:
            self.most_output = min(most, self.most_output or most)
