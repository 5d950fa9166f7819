"""The parts of a chat request that this server uses."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pgs_neo4j.errors import UsageError
from pgs_neo4j.web.chat.prompts import AskedText, find_question

MOST_CHARACTERS = 20_000
MOST_SESSION = 120
SYSTEM = ("system", "developer")
REFUSED: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("n", (None, 1)),
    ("tools", (None, [])),
    ("functions", (None, [])),
    ("logprobs", (None, False)),
    ("response_format", (None, {"type": "text"})),
    ("modalities", (None, ["text"])),
    ("stop", (None, [], "")),
)
"""Parameters that may ask for more than one plain text, with the values that are allowed."""


class RefusedParameterError(UsageError):
    """A parameter of a request is not supported, or has an invalid value; ``param`` is its name."""

    def __init__(self, param: str, message: str) -> None:
        super().__init__(message)
        self.param = param


class ChatMessage(BaseModel):
    """A message of a conversation; only its text is used."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    role: Annotated[str, Field(max_length=40)]
    content: str | list[dict[str, Any]] | None = None

    def text(self) -> str:
        """Return the text. Raises RefusedParameterError for pictures, sound, and files."""
        if not isinstance(self.content, list):
            return self.content or ""
        kinds = {str(part.get("type"))[:40] for part in self.content} - {"text"}
        if kinds:
            raise RefusedParameterError(
                "messages", f"a message has {', '.join(sorted(kinds))}; send text only"
            )
        return "\n".join(str(part.get("text", "")) for part in self.content)


class StreamOptions(BaseModel):
    """Options for the end of a stream."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool | None = None


class ChatRequest(BaseModel):
    """A conversation whose last message is the question; other parameters are ignored.

    ``full_sweep`` is an extension of OpenAI's format: it reads all partitions, even partitions that
    the session has read.
    """

    model_config = ConfigDict(extra="allow", hide_input_in_errors=True)

    model: Annotated[str, Field(min_length=1, max_length=200)]
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=2000)]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    user: Annotated[str | None, Field(max_length=500)] = None
    metadata: dict[str, Any] | None = None
    full_sweep: Annotated[bool, Field(strict=True)] | None = None

    def check(self) -> None:
        """Raise RefusedParameterError for parameters that no answer can satisfy."""
        extra = self.model_extra or {}
        for name, harmless in REFUSED:
            if name in extra and extra[name] not in harmless:
                raise RefusedParameterError(name, f"{name} is not supported; leave it out")

    def question(self) -> AskedText:
        """Return the question in the last message. Raises RefusedParameterError."""
        last = self.messages[-1]
        if last.role != "user":
            raise RefusedParameterError(
                "messages", "the last message has to be the user's; it is the question"
            )
        found = find_question(last.text().strip(), self._system())
        if found is None:
            raise RefusedParameterError(
                "messages",
                "this is a task of the chat program and no question to a graph; choose another "
                "model for its tasks, such as titles",
            )
        if len(found.question) > MOST_CHARACTERS:
            raise RefusedParameterError(
                "messages", f"a question has at most {MOST_CHARACTERS:,} characters; shorten it"
            )
        return found

    def _system(self) -> str:
        """Return the text of the system messages."""
        said = (turn.content for turn in self.messages if turn.role in SYSTEM)
        return "\n".join(content for content in said if isinstance(content, str))

    def session(self) -> str:
        """Return the session named in ``metadata``, else a name derived from the conversation.

        Conversations of one user that begin with the same message share a session.
        """
        named = (self.metadata or {}).get("session")
        if named is not None:
            if not (isinstance(named, str) and 1 <= len(named) <= MOST_SESSION):
                raise RefusedParameterError(
                    "metadata", f"metadata.session is no text of 1 to {MOST_SESSION} characters"
                )
            return named
        first = next(message.text() for message in self.messages if message.role == "user")
        found = find_question(first)  # chat programs put files only before the latest message
        first_text = first if found is None else found.question
        digest = sha256(f"{self.user or ''}\0{first_text}".encode("utf-8", "surrogatepass"))
        return f"chat-{digest.hexdigest()[:12]}"
