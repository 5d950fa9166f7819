"""Endpoints whose model reads no more of a prompt than its context holds.

Each model reports on the nodes that it was really given, so that a test can compare what a run
counts as read with what the model has seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from tests.fakes.openai_server import (
    Body,
    Recorded,
    Scripted,
    Status,
    counted,
    receipts_in,
    streamed,
)

Cut = Literal["refuse", "head", "tail", "middle", "system", "shift"]
BYTES_PER_TOKEN = 4


@dataclass(slots=True)
class Window:
    """A model with ``context`` tokens of ``bytes_per_token``, without the tokens of its reply.

    A longer prompt is refused or cut. ``head`` and ``tail`` name the part that stays, and
    ``middle`` the part that goes. ``system`` keeps the system message and the tail; ``shift`` keeps
    a tail of half the context. ``count`` turns the tokens that were read into the reported tokens.
    ``repeats`` says that the reader repeats codes. ``reply`` writes replies other than reports,
    from the part of a prompt that was read; without it, streams are left to the default of the
    server. ``given`` are the whole lines of text that the model has read; the text of every node is
    one line.
    """

    context: int
    cut: Cut = "refuse"
    repeats: bool = True
    count: Callable[[int], int | None] = lambda tokens: tokens
    refusal: Callable[[int, int], Status] = field(
        default=lambda prompt, context: Status(
            400, message=f"maximum context length is {context} tokens, not {prompt}"
        )
    )
    reply: Callable[[str], str] | None = None
    given: set[str] = field(default_factory=set)
    cuts: int = 0
    bytes_per_token: float = BYTES_PER_TOKEN

    def __call__(self, request: Recorded) -> Scripted | None:
        body = request.body
        if not request.path.endswith("/chat/completions"):
            return None
        prompt = [str(message["content"]) for message in body["messages"]]
        tokens = self.tokens(prompt)
        if tokens > self.context and self.cut == "refuse":
            return self.refusal(tokens, self.context)
        seen, tokens = self.read(prompt)
        if body.get("stream") and self.reply is None:
            return None
        self.give(seen)
        usage: Body = {"prompt_tokens": self.count(tokens), "completion_tokens": 60}
        told = usage if usage["prompt_tokens"] is not None else {}
        if self.reply is None or "You are reading one partition" in "\n".join(prompt):
            return counted(self.report(seen), told)
        codes = receipts_in(seen) if self.repeats else ""
        text = codes + self.reply(seen)
        return streamed(text, told) if body.get("stream") else counted(text, told)

    def tokens(self, prompt: list[str]) -> int:
        """Return the number of tokens of the messages of a prompt."""
        return int(len("\n".join(prompt).encode()) / self.bytes_per_token)

    def read(self, prompt: list[str]) -> tuple[str, int]:
        """Return what the model sees of the messages of a prompt, and the number of its tokens."""
        tokens = self.tokens(prompt)
        if tokens <= self.context:
            return "\n".join(prompt), tokens
        self.cuts += 1
        kept = self.context // 2 if self.cut == "shift" else self.context
        return self._shorten(prompt, int(kept * self.bytes_per_token)), kept

    def give(self, seen: str) -> None:
        """Note the texts of nodes that a model has read and reported on."""
        self.given.update(line for line in seen.split("\n") if line.startswith("| "))

    def gave(self, text: str) -> bool:
        """Return whether the model has read all of a text."""
        return was_given(self.given, text)

    def _shorten(self, messages: list[str], room: int) -> str:
        prompt = "\n".join(messages)
        match self.cut:
            case "system":
                kept = messages[0][:room]
                return f"{kept}\n{prompt[len(prompt) - max(0, room - len(kept)) :]}"
            case "head":
                return prompt[:room]
            case "tail" | "shift":
                return prompt[-room:]
        return f"{prompt[: room // 2]}{prompt[-room // 2 :]}"

    def report(self, seen: str) -> str:
        """Return a report on the nodes that the model has read."""
        nodes = re.findall(r"^\[(n\d+)\]", seen, re.MULTILINE)
        cited = f" [{nodes[0]}]" if nodes else ""
        return (
            f"{receipts_in(seen) if self.repeats else ''}"
            f"## Domain State\nRead.\n\n## Findings\n- All has been read{cited}.\n\n"
            "## Outbound Flags\nNone.\n\n## Absences\nNone.\n"
        )


def was_given(given: set[str], text: str) -> bool:
    """Return whether a model has read all of a text, each line as a whole or in long parts."""
    if "\n" in text:
        return all(was_given(given, line) for line in text.split("\n") if line.strip())
    if f"| {text}" in given:
        return True
    seen = [character == " " for character in text]
    for part in (line[2:].strip() for line in given):
        at = text.find(part) if len(part) > 100 else -1
        if at >= 0:
            seen[at : at + len(part)] = [True] * len(part)
    return all(seen)
