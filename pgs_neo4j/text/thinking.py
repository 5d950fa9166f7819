"""Separates a model's answer from its thinking.

Reasoning models think in the same channel in which they answer, and each family has different marks
around its thinking. Servers should remove the thinking, but often do not. A draft is neither a
finding nor an answer, so everything between two marks is removed. Text of the graph never contains
these marks, because ``clean_text`` defuses them.

The marks: ``<think>`` of DeepSeek and Qwen; ``<thinking>``, ``<thought>``, ``<reasoning>``, and
similar tags of prompted and tuned models; ``[THINK]`` of Magistral; ``◁think▷`` of Kimi;
``<seed:think>`` of Seed; the marks of Cohere, Gemma, and OpenThinker; the first words of Granite
and Apriel; and the channels of OpenAI's harmony format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice

_TAG_NAMES = """
think thinking thought thoughts reasoning reason reflection scratchpad analysis antthinking
inner_monologue seed:think mm:think
"""
_TAGS = tuple((f"<{name}>", f"</{name}>") for name in _TAG_NAMES.split())
_OTHERS = (
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel>thought", "<channel|>"),
)
MARKS = (*_TAGS, *_OTHERS)
"""The marks before and after thinking, in lower case; models write them in any case.

A tag may have blanks and attributes, as in ``<think type="deep">``.
"""


def _make_pattern(*patterns: str) -> re.Pattern[str]:
    """Return a pattern of alternatives, grouped by their first sign.

    Each group begins with its sign, so that the search skips other text quickly.
    """
    by_sign: dict[str, list[str]] = {}
    for pattern in patterns:
        sign = pattern.removeprefix("\\")[0]
        by_sign.setdefault(re.escape(sign), []).append(pattern.removeprefix("\\")[1:])
    return re.compile("|".join(f"{sign}(?i:{'|'.join(rest)})" for sign, rest in by_sign.items()))


_NAMES = "|".join(sorted(_TAG_NAMES.split(), key=len, reverse=True))
_ATTRIBUTES = r"(?:\s[^<>]{0,80})?"
_CLOSING_TAG = rf"<\s{{0,9}}/\s{{0,9}}(?:{_NAMES}){_ATTRIBUTES}>"
ANY_MARK = _make_pattern(
    rf"<\s{{0,9}}/?\s{{0,9}}(?:{_NAMES}){_ATTRIBUTES}>",
    *map(re.escape, chain.from_iterable(_OTHERS)),
)
"""A mark of thinking, except the marks of harmony."""

# Thinking may end with the mark of another family.
_ANY_END = _make_pattern(_CLOSING_TAG, *(re.escape(end) for _, end in _OTHERS))

# In the harmony format, each message names its channel, and only the final one is for the reader.
_FINAL = r"<\|channel\|>\s{0,9}final\b[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>"
_CHANNEL = r"<\|channel\|>\s{0,9}(?!final\b|f(?:i(?:na?)?)?\Z)[a-z]"
_BARE_CHANNEL = re.compile(r"\s*analysis(?=\S).*assistantfinal", re.DOTALL)
# Thinking that is only recognized at the beginning of a reply: the first words of some models, and
# the rest of harmony's marks if a server drops all special tokens, or the first of them.
_FIRST_KINDS = (
    (r"(?:analysis|commentary)<\|message\|>", _FINAL),
    (r"(?-i:(?:analysis|commentary)(?=[A-Z]))", r"(?-i:assistantfinal)"),
    (r"here is my thought process:", r"here is my response:"),
    (r"here are my reasoning steps:", r"\[begin final response\]"),
)
_FIRST_WORDS = (
    *("analysis<|message|>", "commentary<|message|>", "here is my thought process:"),
    "here are my reasoning steps:",
)
# The group name of each beginning contains the number of its end. Tags are distinguished by name.
_KINDS = (*((re.escape(begin), re.escape(end)) for begin, end in _OTHERS), (_CHANNEL, _FINAL))
_ENDS = tuple(re.compile(end, re.IGNORECASE) for _, end in (*_KINDS, *_FIRST_KINDS))
_TAG_ENDS = {
    name: re.compile(rf"<\s{{0,9}}/\s{{0,9}}{name}{_ATTRIBUTES}>", re.IGNORECASE)
    for name in _TAG_NAMES.split()
}
_BEGIN = _make_pattern(
    rf"<\s{{0,9}}(?P<tag>{_NAMES}){_ATTRIBUTES}>",
    *(f"{begin}(?P<k{place}>)" for place, (begin, _) in enumerate(_KINDS)),
)
_FIRST = re.compile(
    rf"""\s*(?:{
        "|".join(
            f"{begin}(?P<k{place}>)" for place, (begin, _) in enumerate(_FIRST_KINDS, len(_KINDS))
        )
    })""",
    re.IGNORECASE,
)
# Marks around the answer, which are not part of its text.
_FRAME = _make_pattern(
    r"<\|start\|>assistant(?:\s+to=[^\s<]{0,40})?",
    _FINAL,
    r"<\|(?:end|return|call|(?:start|end)_response|(?:begin|end)_of_(?:solution|box))\|>",
    r"</?answer>",
    r"\[(?:begin|end) final response\]",
)
# The beginning of thinking may be in the prompt. The reply then has only the end mark: at the end
# of a line, or between two sentences without a blank, as DeepSeek writes it.
_HEADLESS = re.compile(
    rf"(?:{_ANY_END.pattern})[^\S\n]*$"
    rf"|(?<=[^\s'\"`\u201c\u2018(])(?:{_ANY_END.pattern})(?=[^\s'\"`\u201d\u2019).,;])"
    r"|^[^\S\n]*\[BEGIN FINAL RESPONSE\][^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
LONGEST_MARK = 160  # characters of a mark with its attributes
_TAG_MARKS = tuple(chain.from_iterable(_TAGS))
_WHOLE_MARKS = (
    *chain.from_iterable(MARKS),
    *("<|start|>assistant to=", "<|channel|>", "<|end|>", "<|return|>", "<|call|>"),
    *("<|start_response|>", "<|end_response|>", "<|begin_of_solution|>", "<|end_of_solution|>"),
    *("<|begin_of_box|>", "<|end_of_box|>", "[begin final response]", "[end final response]"),
    *("<answer>", "</answer>"),
)
_OPEN_TAG = re.compile(r"<\s{0,9}(/?)\s{0,9}([a-z_:]*)(\s[^<>]{0,80})?")
_OPEN_CHANNEL = re.compile(
    r"<\|start\|>assistant\s+to=[^\s<]{0,40}"
    r"|<\|channel\|>[^<]{0,60}(?:<\|constrain\|>[^<]{0,40})?(?:<[|a-z]{0,11})?"
)


def strip_thinking(reply: str) -> str:
    """Remove the model's thinking and lone surrogates from a reply.

    Thinking without an end extends to the end of the reply. If the endpoint dropped the beginning
    mark, thinking ends at a closing mark at the end of a line, or between two sentences. This takes
    linear time.
    """
    text = reply.encode("utf-8", "replace").decode("utf-8")
    text = text[_find_headless_end(text) :]
    if bare := _BARE_CHANNEL.match(text):
        text = text[bare.end() :]
    parts: list[str] = []
    missing: set[re.Pattern[str]] = set()
    start = 0
    beginning = _FIRST.match(text) or _BEGIN.search(text)
    while beginning:
        parts.append(text[start : beginning.start()])
        start = _find_thinking_end(text, beginning, missing)
        beginning = _BEGIN.search(text, start)
    return "".join(_FRAME.sub("", part) for part in (*parts, text[start:]))


class ThinkingFilter:
    """Removes the model's thinking from a streamed reply, piece by piece.

    It holds back text that may begin a mark, and drops white space before the first word.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._end: re.Pattern[str] | None = None
        self._first = True  # whether the beginning of the reply is still unread
        self._began = False  # whether anything has been passed on

    def pass_on(self, piece: str) -> str:
        """Return the text that may be shown after ``piece`` has arrived."""
        self._pending += piece
        passed: list[str] = []
        while self._take(passed):
            pass
        return self._drop_frames(passed)

    def end(self) -> str:
        """End the reply; return the text that was held back and is not thinking."""
        rest, self._pending = self._pending, ""
        return "" if self._end else self._drop_frames([rest])

    def _take(self, passed: list[str]) -> bool:
        """Move one stretch of the pending text into ``passed``; return whether to call again."""
        if self._end:
            closed = self._end.search(self._pending)
            if closed is None:
                self._pending = self._pending[-LONGEST_MARK:]
                return False
            self._pending, self._end = self._pending[closed.end() :], None
            return True
        beginning = None
        if self._first:
            if _may_begin_with_thinking(self._pending):
                return False
            self._first, beginning = False, _FIRST.match(self._pending)
        if beginning := beginning or _BEGIN.search(self._pending):
            passed.append(self._pending[: beginning.start()])
            self._pending, self._end = self._pending[beginning.end() :], _get_end(beginning)
            return True
        kept = _count_held_back(self._pending)
        passed.append(self._pending[: len(self._pending) - kept])
        self._pending = self._pending[len(self._pending) - kept :]
        return False

    def _drop_frames(self, parts: Sequence[str]) -> str:
        text = "".join(_FRAME.sub("", part) for part in parts)
        if not self._began:
            text = text.lstrip()
        self._began = self._began or bool(text)
        return text


def _get_end(beginning: re.Match[str]) -> re.Pattern[str]:
    if beginning.lastgroup == "tag":
        return _TAG_ENDS[beginning["tag"].lower()]
    return _ENDS[int((beginning.lastgroup or "k0")[1:])]


def _find_thinking_end(text: str, beginning: re.Match[str], missing: set[re.Pattern[str]]) -> int:
    """Return the end of thinking: its own end mark, else any end mark, else the end of the reply.

    Thinking may contain the marks of more thinking. Then it ends only after one end mark for each
    beginning mark. ``missing`` collects end marks that do not occur in the rest of the text, so
    that no search for them is repeated, and reading takes linear time.
    """
    closed = None
    for end in (_get_end(beginning), _ANY_END):
        if end not in missing:
            closed = end.search(text, beginning.end())
            if closed is not None:
                break
            missing.add(end)
    if closed is None:
        return len(text)
    inner = len(_BEGIN.findall(text, beginning.end(), closed.start()))
    if not inner:
        return closed.end()
    after = _BEGIN.search(text, closed.end())
    rest = _ANY_END.finditer(text, closed.end(), after.start() if after else len(text))
    return max((one.end() for one in islice(rest, inner)), default=closed.end())


def _may_begin_with_thinking(text: str) -> bool:
    """Return whether a reply may begin with thinking, but more of it is needed to decide."""
    beginning = text.lstrip().lower()
    return any(words != beginning and words.startswith(beginning) for words in _FIRST_WORDS)


def _count_held_back(text: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a mark."""
    first = max(0, len(text) - LONGEST_MARK)
    places = (place for place in range(first, len(text)) if text[place] in "<[◁")
    return next((len(text) - place for place in places if _may_be_mark(text[place:])), 0)


def _may_be_mark(tail: str) -> bool:
    """Return whether a text may be the beginning of a mark."""
    beginning = tail.lower()
    if any(mark.startswith(beginning) for mark in _WHOLE_MARKS):
        return True
    tag = _OPEN_TAG.fullmatch(beginning)
    if tag is None:
        return _OPEN_CHANNEL.fullmatch(beginning) is not None
    name = f"<{tag[1]}{tag[2]}"
    return any(mark == f"{name}>" if tag[3] else mark.startswith(name) for mark in _TAG_MARKS)


def _find_headless_end(text: str) -> int:
    beginning = _FIRST.match(text) or _BEGIN.search(text)
    before = len(text) if beginning is None else beginning.start()
    ends = [closed.end() for closed in _HEADLESS.finditer(text, 0, before)]
    return next((end for end in reversed(ends) if text[end:].strip()), 0)
