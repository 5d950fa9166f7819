"""Shapes of Ollama's native interface."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
import openai
from pydantic import BaseModel, ConfigDict

from pgs_neo4j.llm.lessons import Lessons
from pgs_neo4j.llm.openai.served import parse_tokens
from pgs_neo4j.llm.openai.usage import ReplyUsage

LINE = "application/x-ndjson"
# Tokens for each estimated one, before the first reply has shown how many there are.
FIRST_RATIO = 1.3


class ChatMessage(BaseModel):
    """A message, or the piece of one. What the model thought is not read."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    content: str | None = None


class ChatReply(BaseModel):
    """A whole reply, or one line of a streamed one; the last has the reason and the counts."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    message: ChatMessage | None = None
    model: str | None = None
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: Any = None
    eval_count: Any = None
    error: str | None = None

    @property
    def text(self) -> str:
        """The text that it adds."""
        return (self.message.content if self.message else None) or ""

    @property
    def usage(self) -> ReplyUsage | None:
        """The counted tokens; None where a count is missing or impossible."""
        read = parse_tokens(self.prompt_eval_count)
        written = 0 if self.eval_count == 0 else parse_tokens(self.eval_count)
        if read is None or written is None:
            return None
        return ReplyUsage(prompt_tokens=read, completion_tokens=written)


class ModelFacts(BaseModel):
    """What Ollama tells of a model.

    ``context``: the most that it was trained for. ``configured``: as its Modelfile sets it, both in
    tokens.
    """

    model_config = ConfigDict(frozen=True)

    context: int | None = None
    configured: int | None = None
    thinks: bool | None = None


def parse_facts(shown: Mapping[str, Any]) -> ModelFacts:
    """Return what the reply to ``/api/show`` says; whatever cannot be read is unknown."""
    info = shown.get("model_info")
    info = info if isinstance(info, Mapping) else {}
    architecture = info.get("general.architecture")
    configured = None
    parameters = shown.get("parameters")
    for line in parameters.splitlines() if isinstance(parameters, str) else ():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            configured = parse_tokens(int(value))
    capabilities = shown.get("capabilities")
    return ModelFacts(
        context=parse_tokens(info.get(f"{architecture}.context_length")),
        configured=configured,
        thinks="thinking" in capabilities if isinstance(capabilities, list) else None,
    )


@dataclass(slots=True, weakref_slot=True)
class Dialect:
    """What a model of Ollama has shown of itself and of its server.

    ``asked`` is the context of the calls so far, and ``memory`` the largest one that there is room
    for, in tokens. ``ratio`` is that of counted tokens to estimated ones. ``thinks`` is false once
    it has refused to, ``names_efforts`` once it has refused the name of one.
    """

    facts: ModelFacts | None = None
    asked: int = 0
    memory: int | None = None
    ratio: float = FIRST_RATIO
    thinks: bool = True
    names_efforts: bool = True
    lessons: Lessons = field(default_factory=Lessons)

    def forget(self) -> None:
        """Forget what was learned, because another model has this one's name now.

        What the server last said is kept, as that is how the other one was noticed.
        """
        self.lessons.forget()
        self.asked, self.memory, self.ratio = 0, None, FIRST_RATIO
        self.thinks = self.names_efforts = True


class LineStream(openai.AsyncStream[object]):
    """A stream of lines of JSON, which the client reads as it does events."""

    async def __stream__(self) -> AsyncIterator[object]:
        """Yield the text of each line. Raises APIConnectionError where it breaks off."""
        try:
            async for line in self.response.aiter_lines():
                if line.strip():
                    yield line
        except httpx2.HTTPError as error:
            raise openai.APIConnectionError(request=self.response.request) from error
