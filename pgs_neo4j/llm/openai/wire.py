"""Builds chat-completion requests in an endpoint's dialect, and parses the replies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    model_validator,
)

from pgs_neo4j.config.providers import PromptCache
from pgs_neo4j.llm.lessons import Lessons
from pgs_neo4j.llm.openai.endpoint import length_refusal
from pgs_neo4j.llm.openai.usage import Counted, Shape
from pgs_neo4j.model import Effort, Prompt
from pgs_neo4j.text.tokens import estimate

if TYPE_CHECKING:
    import openai

LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
# Parameters that an endpoint may refuse, with the words of such a refusal. A refused parameter is
# left out of all later requests.
OPTIONAL = {
    # Ollama: "does not support thinking", "think value "high" is not supported for this model".
    # xAI: "does not support parameter reasoningEffort". OpenRouter: "Reasoning is mandatory".
    "reasoning_effort": (
        *("reasoning_effort", "reasoning effort", "reasoningeffort", "reasoning is mandatory"),
        *("thinking", "think value"),
    ),
    "stream_options": ("stream_options", "include_usage"),
    "temperature": ("temperature",),
}
_SYSTEM = re.compile(
    r"system (?:role|message|prompt)|role\W{0,4}system|developer instruction|roles must alternate",
    re.IGNORECASE,
)
_UNSUPPORTED = re.compile(
    r"not support|unsupported|not allowed|not permitted|invalid|must|only", re.IGNORECASE
)
# llama.cpp and SGLang answer 500 if a chat template refuses the messages.
_TEMPLATE = re.compile(r"jinja|template|raise_exception|system role", re.IGNORECASE)
# OpenAI: "supports at most N completion tokens". Anthropic: "16000 > 8192, which is the maximum
# allowed number of output tokens". Groq: "must be less than or equal to `N`".
_MOST_OUTPUT = re.compile(
    r"(?:at most|less than or equal to|<=|maximum of|up to) `?(\d{2,7})"
    r"|> (\d{2,7}), which is the max",
    re.IGNORECASE,
)

# Models cache only blocks above their own minimum, between 512 and 4,096 tokens. A marked block
# below it does no harm: it is read at the usual price.
LEAST_CACHED_TOKENS = 1_024
CACHE_MARK = "cache_control"

Blocks = list[dict[str, Any]]


def _join_parts(content: object) -> object:
    """Join typed parts, which some servers send instead of text."""
    if not isinstance(content, list):
        return content
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(str(part.get("text", "")) for part in parts)


Text = Annotated[str | None, BeforeValidator(_join_parts)]


class Message(Shape):
    """A message, or the piece of a message that a chunk adds."""

    content: Text = None
    refusal: str | None = None


class MessageChoice(Shape):
    """The only choice of a whole reply; Gemini sends no message if a filter removed it."""

    message: Message | None = None
    finish_reason: str | None = None

    @model_validator(mode="after")
    def check_content(self) -> MessageChoice:
        """Refuse a choice without any content."""
        if self.message is None and not self.finish_reason:
            raise ValueError("a choice has neither a message nor an end")
        return self


class Reply(Shape):
    """A whole reply."""

    choices: Annotated[list[MessageChoice], Field(min_length=1)]
    usage: Counted = None
    model: str | None = None


class DeltaChoice(Shape):
    """The choice in a chunk; the last chunk has the finish reason."""

    delta: Message | None = None
    finish_reason: str | None = None


class StreamedPiece(Shape):
    """One event of a streamed reply; the usage event has no choices."""

    choices: list[DeltaChoice] | None = None
    usage: Counted = None
    model: str | None = None


@dataclass(slots=True, weakref_slot=True)
class Dialect:
    """The parameters that an endpoint accepts, learned from its refusals.

    ``limit`` is the name of the token limit. A server that knows only the other name may refuse
    this one, and the name is swapped. Or it may ignore this one, so the first guess matters. With
    ``merged``, there is no system role, so the system text is put at the beginning of the user's
    text. ``most_output`` is the longest reply that may be requested, and ``longest_accepted`` the
    longest request that was accepted, both in tokens. ``accepted`` are the names of parameters that
    were accepted, and ``dropped`` are names of parameters that were refused. ``extra`` is sent with
    every request. ``lessons`` say in words what was learned. ``marks`` is true if blocks of
    messages may be marked for the provider's prompt cache.
    """

    limit: str
    swapped: bool = False
    merged: bool = False
    most_output: int | None = None
    dropped: set[str] = field(default_factory=set)
    extra: Mapping[str, Any] = field(default_factory=dict)
    lessons: Lessons = field(default_factory=Lessons)
    longest_accepted: int = 0
    accepted: set[str] = field(default_factory=set)
    marks: bool = True
    _usual_limit: str = field(init=False)

    def __post_init__(self) -> None:
        self._usual_limit = self.limit

    def forget(self) -> None:
        """Forget what was learned, because the name now belongs to another model."""
        self.lessons.forget()
        self.limit, self.swapped, self.merged, self.marks = self._usual_limit, False, False, True
        self.most_output, self.longest_accepted = None, 0
        self.dropped.clear()
        self.accepted.clear()

    def body(
        self,
        model: str,
        prompt: Prompt,
        *,
        max_tokens: int,
        effort: Effort | None,
        temperature: float | None,
        stream: bool,
        caches: PromptCache | None = None,
    ) -> dict[str, Any]:
        """Return the request for ``prompt`` in the dialect learned so far.

        ``caches`` selects the blocks of messages that are marked for the provider's prompt cache;
        None if the provider needs no marks.
        """
        body: dict[str, Any] = {
            "model": model,
            "messages": self._build_messages(prompt, caches),
            self.limit: min(max_tokens, self.most_output or max_tokens),
        }
        if effort is not None:
            body["reasoning_effort"] = effort
        if temperature is not None:
            body["temperature"] = temperature
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if self.extra:  # the client accepts only known parameters as arguments
            body["extra_body"] = dict(self.extra)
        return {name: value for name, value in body.items() if name not in self.dropped}

    def learn(self, body: dict[str, Any], error: openai.APIStatusError) -> bool:
        """Learn from ``error``; return whether another request is worth sending.

        Returns True at most once per parameter of ``body``, so the repetition ends.
        """
        message = f"{error.param or ''} {error.message}"
        if error.status_code == 500 and _TEMPLATE.search(message):
            return self._merge(body, message)
        if not may_be_a_parameter(error):
            return False
        said = message.lower()
        refused = [
            name
            for name, words in OPTIONAL.items()
            if name in body and any(word in said for word in words)
        ]
        self.drop(refused)
        return (
            bool(refused)
            or self._unmark(body, said)
            or self._shorten(body, message)
            or self._swap(body, message)
            or self._merge(body, message)
        )

    def accept(self, body: dict[str, Any]) -> None:
        """Learn from a request that was accepted."""
        asked = next(body[name] for name in LIMITS if name in body)
        self.longest_accepted = max(self.longest_accepted, asked)
        self.accepted.update(body)
        if self.limit in body:  # so a later refusal of this name means that the server has changed
            self.swapped = False

    def drop(self, names: Iterable[str]) -> None:
        """Leave parameters out of all later requests."""
        for name in names:
            self.dropped.add(name)
            self.lessons.add(f"refuses {name}, so it is left out")

    def _build_messages(self, prompt: Prompt, caches: PromptCache | None) -> list[dict[str, Any]]:
        if self.merged:
            return [{"role": "user", "content": f"{prompt.system}\n\n{prompt.user}"}]
        if caches is not None and self.marks:
            system, user = build_blocks(prompt, caches)
            if any(CACHE_MARK in block for block in system + user):
                return [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]

    def _unmark(self, body: dict[str, Any], said: str) -> bool:
        """Learn that blocks may not be marked; return whether the request had marked blocks."""
        marked = any(isinstance(message["content"], list) for message in body["messages"])
        if marked and any(word in said for word in (CACHE_MARK, "content must be a string")):
            self.marks = False
            self.lessons.add("refuses marks for its prompt cache, so nothing is marked")
        return marked and not self.marks

    def _shorten(self, body: dict[str, Any], message: str) -> bool:
        """Learn the longest reply; return whether the refused request asked for a longer one."""
        sent = next(name for name in LIMITS if name in body)
        found = _MOST_OUTPUT.search(message)
        about = ("max_" in message, "output tokens" in message, "completion tokens" in message)
        if found is None or not any(about):
            return False
        self.shorten(int(found[1] or found[2]))
        return bool(body[sent] > (self.most_output or 0))

    def shorten(self, most: int) -> None:
        """Ask for replies of at most ``most`` tokens in all later requests."""
        if self.most_output is None or most < self.most_output:
            self.most_output = most
            self.lessons.add(
                f"allows replies of at most {most:,} tokens, so no longer ones are requested"
            )

    def _merge(self, body: dict[str, Any], message: str) -> bool:
        """Learn that there is no system role; return whether the refused request used it."""
        used = len(body["messages"]) > 1
        if used and _SYSTEM.search(message) and _UNSUPPORTED.search(message):
            self.merged = True
            self.lessons.add("takes no system message, so its text is part of the user's message")
        return used and self.merged

    def _swap(self, body: dict[str, Any], message: str) -> bool:
        """Switch once to the other name of the token limit.

        Returns whether later requests use another name than the refused one.
        """
        sent = next(name for name in LIMITS if name in body)
        if sent not in message:
            return False
        if sent == self.limit and not self.swapped:
            self.limit, self.swapped = LIMITS[sent], True
        return sent != self.limit  # also true if a concurrent call has already swapped the name


def may_be_a_parameter(error: openai.APIStatusError) -> bool:
    """Return whether the parameters of a request may be the reason for its refusal.

    They cannot be if the refusal is about the length.
    """
    return error.status_code in (400, 422) and not length_refusal(error)


def build_blocks(prompt: Prompt, caches: PromptCache) -> tuple[Blocks, Blocks]:
    """Return the blocks of the system text and of the user's text, without empty blocks.

    Long blocks that other calls repeat are marked for the cache. The part that differs between
    calls comes last, because a cache contains only prefixes.
    """
    stable, rest = prompt.user[: prompt.shared], prompt.user[prompt.shared :]
    system = _make_block(prompt.system, caches != "none" and _is_cached(prompt.system))
    first = _make_block(stable, caches == "nodes" and _is_cached(prompt.system + stable))
    user = (first, _make_block(rest, marked=False))
    return [system] if prompt.system else [], [block for block in user if block["text"]]


def _make_block(text: str, marked: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    return {**block, CACHE_MARK: {"type": "ephemeral"}} if marked else block


def _is_cached(prefix: str) -> bool:
    return estimate(prefix) >= LEAST_CACHED_TOKENS
