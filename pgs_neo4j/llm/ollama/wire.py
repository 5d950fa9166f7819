"""Parses the replies of Ollama's native interface, and keeps what a model accepts there."""

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
# Actual tokens per estimated token, until the first reply shows the true ratio.
FIRST_RATIO = 1.3


class ChatMessage(BaseModel):
    """A message, or a piece of a message. The model's thinking is not read."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    content: str | None = None


class ChatReply(BaseModel):
    """A whole reply, or a line of a streamed reply; the last line has the reason and the counts."""

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
        """The text of the reply or line; empty if it has no text."""
        return (self.message.content if self.message else None) or ""

    @property
    def usage(self) -> ReplyUsage | None:
        """The counted tokens; None if a count is missing or impossible."""
        read = parse_tokens(self.prompt_eval_count)
        written = 0 if self.eval_count == 0 else parse_tokens(self.eval_count)
        if read is None or written is None:
            return None
        return ReplyUsage(prompt_tokens=read, completion_tokens=written)


class ModelFacts(BaseModel):
    """The facts that Ollama reports about a model.

    ``context`` is the longest context that it was trained for, and ``configured`` the context that
    its Modelfile sets, both in tokens.
    """

    model_config = ConfigDict(frozen=True)

    context: int | None = None
    configured: int | None = None
    thinks: bool | None = None


def parse_facts(shown: Mapping[str, Any]) -> ModelFacts:
    """Parse the reply to ``/api/show``; a fact that cannot be read stays None."""
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
    """The facts about a model of Ollama, and the lessons from its replies.

    ``asked`` is the context that the calls so far have asked for, and ``memory`` the largest
    context that fits in the server's memory, both in tokens. ``ratio`` is the number of counted
    tokens per estimated token. ``thinks`` is false once the model has refused to think, and
    ``names_efforts`` once it has refused the name of an effort.
    """

    facts: ModelFacts | None = None
    asked: int = 0
    memory: int | None = None
    ratio: float = FIRST_RATIO
    thinks: bool = True
    names_efforts: bool = True
    lessons: Lessons = field(default_factory=Lessons)

    def forget(self) -> None:
        """Forget what was learned, because the name now belongs to another model.

        The server's last facts stay, because they already describe the new model.
        """
        self.lessons.forget()
        self.asked, self.memory, self.ratio = 0, None, FIRST_RATIO
        self.thinks = self.names_efforts = True


class LineStream(openai.AsyncStream[object]):
    """A stream of JSON lines, which replaces the client's stream of events."""

    async def __stream__(self) -> AsyncIterator[object]:
        """Yield the text of each line. Raises APIConnectionError if the stream breaks off."""
        try:
            async for line in self.response.aiter_lines():
                if line.strip():
                    yield line
        except httpx2.HTTPError as error:
            raise openai.APIConnectionError(request=self.response.request) from error
