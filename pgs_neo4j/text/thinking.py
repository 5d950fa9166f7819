"""Separates what a model says from what it thinks.

Reasoning models think in the same channel in which they answer, each family between marks of its
own. Servers should take the thinking out, and often do not. A draft is neither a finding nor an
answer, so everything between two marks goes. Text of the graph never holds these marks:
``clean_text`` defuses them.

The marks: ``<think>`` of DeepSeek and Qwen, ``<thinking>``, ``<thought>`` and ``<reasoning>`` of
prompted and tuned models, ``[THINK]`` of Magistral, ``◁think▷`` of Kimi, ``<seed:think>`` of Seed,
and the channels of OpenAI's harmony format.
"""

from __future__ import annotations

import re

MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
)
"""The marks before and after thinking, in lower case; models write them in any case."""

# In the harmony format, each message names its channel. Only the final one is for the reader.
_FINAL = "<|channel|>final<|message|>"
_CHANNELS = ("<|channel|>analysis", "<|channel|>commentary")
_ENDS = {**dict(MARKS), **dict.fromkeys(_CHANNELS, _FINAL)}
_END = {begin: re.compile(re.escape(end), re.IGNORECASE) for begin, end in _ENDS.items()}
_FRAME = re.compile(r"<\|start\|>assistant|<\|channel\|>final<\|message\|>|<\|(?:end|return)\|>")
# What is left of harmony's marks where a server drops its special tokens.
_BARE_CHANNEL = re.compile(r"\s*analysis(?=\S).*assistantfinal", re.DOTALL)
_BEGIN = re.compile("|".join(map(re.escape, _ENDS)), re.IGNORECASE)
_HEADLESS = re.compile(
    rf"^[^\S\n]*(?:{'|'.join(re.escape(end) for _, end in MARKS)})[^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_PREFIXES = {
    mark[:length]
    for mark in (*_ENDS, "<|start|>assistant", _FINAL, "<|end|>", "<|return|>")
    for length in range(1, len(mark))
}
_LONGEST = max(map(len, _PREFIXES))


def strip_thinking(reply: str) -> str:
    """Remove the model's thinking and lone surrogates from a reply.

    Thinking without an end takes the rest of the reply. If the endpoint swallowed its beginning,
    it ends at a closing mark on a line of its own. Takes linear time.
    """
    text = reply.encode("utf-8", "replace").decode("utf-8")
    text = text[_after_headless_thinking(text) :]
    if bare := _BARE_CHANNEL.match(text):
        text = text[bare.end() :]
    parts: list[str] = []
    start = 0
    while begun := _BEGIN.search(text, start):
        parts.append(text[start : begun.start()])
        closed = _END[begun[0].lower()].search(text, begun.end())
        start = closed.end() if closed else len(text)
    return _FRAME.sub("", "".join((*parts, text[start:])))


class ThinkingFilter:
    """Passes a streamed reply on without the model's thinking, piece by piece.

    It holds back what may be the beginning of a mark, and drops white space before the first word.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._end = ""
        self._began = False  # whether anything has been passed on

    def pass_on(self, piece: str) -> str:
        """Return the text that may be shown after ``piece`` has arrived."""
        self._pending += piece
        said: list[str] = []
        while self._take(said):
            pass
        return self._say("".join(said))

    def end(self) -> str:
        """Return the held-back text that is not thinking.

        Called at the end of the reply.
        """
        rest, self._pending = self._pending, ""
        return "" if self._end else self._say(rest)

    def _take(self, said: list[str]) -> bool:
        """Take one step; return whether there is another."""
        if self._end:
            at = self._pending.lower().find(self._end)
            if at < 0:
                self._pending = self._pending[-len(self._end) :]
                return False
            self._pending, self._end = self._pending[at + len(self._end) :], ""
            return True
        if begun := _BEGIN.search(self._pending):
            said.append(self._pending[: begun.start()])
            self._pending, self._end = self._pending[begun.end() :], _ENDS[begun[0].lower()]
            return True
        kept = _held_back(self._pending)
        said.append(self._pending[: len(self._pending) - kept])
        self._pending = self._pending[len(self._pending) - kept :]
        return False

    def _say(self, text: str) -> str:
        text = _FRAME.sub("", text)
        if not self._began:
            text = text.lstrip()
        self._began = self._began or bool(text)
        return text


def _held_back(text: str) -> int:
    """Return how many characters at the end may begin a mark."""
    tail = text[-_LONGEST:].lower()
    return next((n for n in range(len(tail), 0, -1) if tail[-n:] in _PREFIXES), 0)


def _after_headless_thinking(text: str) -> int:
    closed = _HEADLESS.search(text)
    if closed is None or not text[closed.end() :].strip():
        return 0
    begun = _BEGIN.search(text)
    return 0 if begun and begun.start() < closed.start() else closed.end()
