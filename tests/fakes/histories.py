"""Endpoints on which every call may go wrong in a different way, drawn from a seed.

What can be proven limits what is drawn. If an endpoint does not count tokens, or its model repeats
no codes, a server cuts at one end or to one context, as real servers do. If it cuts the middle, it
removes more than stands between two codes.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

from tests.fakes.openai_server import Body, Raw, Recorded, Scripted, Status
from tests.fakes.windows import Cut, Window

MISCOUNT = 0.03
MIDDLE = 0.6  # the most that is left of a prompt whose middle is cut
NO_COUNT = (None, -1, 10**18, "many", 12)  # 12: the new part of a prompt whose rest is cached
ODD_ENDS = ("error", "abort", "cancelled", "content_filter", "length", "tool_calls", "x")
FAULTS = (
    Status(500),
    Status(529, message="Overloaded", error_code="overloaded_error"),
    Status(400, message="Input is too long for requested model."),
    Raw(b'{"error": {"code": 502, "message": "Provider returned error"}}'),
    Raw(b'{"choices": []}'),
)


@dataclass(slots=True)
class History:
    """The calls of one run. Each call is whole, is cut, ends oddly, or fails.

    ``given`` are the texts that the model has read in calls with a good reply. ``true`` counts the
    calls that were not cut. ``again`` counts those of them that are sent again because their report
    was refused.
    """

    seed: int
    true: int = 0
    again: int = 0
    calls: int = 0
    _draw: random.Random = field(default_factory=random.Random)
    _window: Window = field(default_factory=lambda: Window(10**9))
    _accepted: list[set[str]] = field(default_factory=list)
    _mute: bool = False
    _context: int | None = None
    _cut: Cut = "tail"
    _trouble: float = 0.0
    _counts: float = 1.0

    def __post_init__(self) -> None:
        draw = self._draw = random.Random(self.seed)
        self._mute = draw.random() < 0.2
        fixed = self._mute or draw.random() < 0.5
        self._context = draw.choice((3_000, 4_096, 6_000, 8_192)) if fixed else None
        self._cut = draw.choice(("head", "tail", "middle", "system"))
        self._trouble = draw.choice((0.0, 0.1, 0.3))
        self._counts = 1.0 if self._mute else draw.choice((0.0, 0.7, 1.0))
        self._window.repeats = not self._mute

    @property
    def mute(self) -> bool:
        """Whether the model repeats no codes."""
        return self._mute

    def gave(self, text: str) -> bool:
        """Whether the model has read all of a text."""
        return self._window.gave(text)

    def __call__(self, request: Recorded) -> Scripted | None:
        body, draw = request.body, self._draw
        if not request.path.endswith("/chat/completions") or body.get("stream"):
            return None
        messages = [str(message["content"]) for message in body["messages"]]
        lines = {line for line in "\n".join(messages).split("\n") if line.startswith("| ")}
        for earlier in [one for one in self._accepted if one & lines]:
            self._accepted.remove(earlier)
            self.again += 1
        self.calls += 1
        if draw.random() < self._trouble / 2:
            return draw.choice(FAULTS)
        counts = draw.random() < self._counts
        tokens = self._window.tokens(messages)
        room = self._room(tokens, counts)
        whole = room >= tokens
        cutting = Window(room, self._kind(counts and room <= MIDDLE * tokens))
        seen, read = cutting.read(messages)
        wrong = draw.uniform(-MISCOUNT, MISCOUNT)
        usage = {"prompt_tokens": round(read * (1 + wrong)) if counts else draw.choice(NO_COUNT),
                 "completion_tokens": 60}  # fmt: skip
        text, end = self._window.report(seen), "stop"
        if draw.random() < self._trouble / 2:
            end = draw.choice(ODD_ENDS)
            text = text[: draw.randrange(len(text))]
        else:
            self._window.give(seen)
            if whole:
                self.true += 1
                self._accepted.append(lines)
        return _reply(text, end, usage)

    def _room(self, tokens: int, counts: bool) -> int:
        """Return the number of tokens that are left of a prompt."""
        if self._context is not None:
            return self._context
        if self._draw.random() >= self._trouble:
            return tokens
        most = MIDDLE if counts and self._cut == "middle" else 0.97
        return int(tokens * self._draw.uniform(0.05, most))

    def _kind(self, shows: bool) -> Cut:
        """Return how a prompt is cut; ``shows`` says that a cut in the middle can be detected."""
        return "tail" if self._cut == "middle" and not shows else self._cut


def _reply(text: str, end: str, usage: Body) -> Raw:
    choice = {"index": 0, "message": {"content": text}, "finish_reason": end}
    return Raw(json.dumps({"model": "reader", "choices": [choice], "usage": usage}).encode())
