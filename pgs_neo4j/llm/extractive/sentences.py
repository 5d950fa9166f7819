"""Extracts readable sentences from text, and quotes them safely."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_QUOTE = 240
MIN_WORDS = 3
MAX_HEADING = 100
# Beyond this a "sentence" is a table, a dump, or a line of data.
MAX_SENTENCE = 1200

_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_INLINE_HEADING = re.compile(r"(?:^|\s)#{1,6}\s+")
_LABEL = re.compile(r"^\s*\*\*[^*]{1,60}:?\s?\*\*\s?:?\s+")
_LEANING = re.compile(
    r"(?:this|these|those|it|its|they|such|here|thus|hence|however|moreover"
    r"|furthermore|additionally|also|then|therefore|but|and|so|in addition|as a result)\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|>)\s+")
_FIELD = re.compile(r"^\s*[@:]\w+[^:]{0,60}:\s*")
_ENTRY = re.compile(r"^\s*[*`]{0,2}\w[\w*.]{0,40}(?:\(\))?[*`]{0,2}\s+-{1,2}\s")
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.(?:\s|$)|\$ |In \[\d+\]|Traceback \()")
_RULE = re.compile(r"^[\W_]*$")
_CODE = re.compile(
    r"^\s*(?:def |class |import |from \w[\w.]* import |return |raise |print\()|[{};]\s*$"
    r"|^\s*[\w.\[\]'\", ]{1,60} = \S|^\s*[\w.]+\([^)]*\)\s*$|^\s*<[/\w][^>]*>\s*$"
)
_MARK = re.compile(r"``?|\*\*|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_ROLE = re.compile(r":[a-z:]+:(?=`)")
_LINK = re.compile(r"!?\[([^\[\]]{1,200})\]\((?:[^()\s]{1,300})\)")
_TAG = re.compile(r"^\s*\[[A-Z][A-Z_ ]{2,}(?::[^\[\]]{0,80})?\]\s*")
# Terminal escapes and characters that reorder or hide text.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_SPACE = re.compile(r"\s+")
_END = re.compile(r"(?<=[.!?…])[\"'\u2019”)\]]{0,2}\s+(?=[\"'“\u2018(\[]?[^\W_a-z])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|fig|figs|eq|eqs|sec|no|nos|dr|mr|mrs|ms|prof|st|approx|resp"
    r"|ca|vol|ed|eds|pp|inc|ref|refs|jr)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"[\[\]]")
# Brackets of any kind with an alias in them: a citation, if they were let through.
_OPENING, _CLOSING = "[(\u3010\uff08\uff3b\u3014", "])\u3011\uff09\uff3d\u3015"
_ALIAS_GROUP = re.compile(
    rf"[{re.escape(_OPENING)}][^{re.escape(_CLOSING)}]*\bn\s*\d", re.IGNORECASE
)
_DEFUSED = str.maketrans(dict.fromkeys(_OPENING, "⟦") | dict.fromkeys(_CLOSING, "⟧"))
_CITATION = re.compile(r"\s*\[\s*(?:P\d+\s*:\s*)?n\d+[^\[\]]*\]")
_LEAD = re.compile(r"^(?:[\s#>*+\-\u2013—•=|~`]|\d{1,3}[.)]\s)+")


def sentences(text: str) -> list[str]:
    """Return sentences in reading order, one line each, without code or markup."""
    headed: list[str] = []
    found: list[str] = []
    for paragraph in _paragraphs(text):
        first, *others = _INLINE_HEADING.split(_TAG.sub("", paragraph))
        for place, part in enumerate((first, *others)):
            split = [s for s in _split(part) if _is_readable(s)]
            # Where line ends were lost, a heading runs into the sentence that follows it.
            if place > 0 and split:
                headed.append(split.pop(0))
            found.extend(split)
    return found or headed


def plain(text: str) -> str:
    """Return ``text`` on one line without leading tags and markup.

    The markup is that of Markdown and reStructuredText.
    """
    unlinked = _LINK.sub(r"\1", _ROLE.sub("", _TAG.sub("", text)))
    unmarked = _MARK.sub("", _INLINE_HEADING.sub(" ", _LABEL.sub("", unlinked)))
    return _SPACE.sub(" ", unmarked).strip()


def leans(sentence: str) -> bool:
    """Whether a sentence's first word refers to the sentence before it."""
    return _LEANING.match(sentence) is not None


def quote(text: str, limit: int = MAX_QUOTE) -> str:
    """Return ``text`` on one line, so it cannot forge sections or citations.

    A long text is cut at a word with an ellipsis. Leading list and heading marks are removed.
    Brackets become ⟦ and ⟧ where they could be read as citations.
    """
    line = _LEAD.sub("", _SPACE.sub(" ", _CONTROL.sub("", text[: 8 * limit]))).strip()
    if len(line) > limit:
        line = line[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:\u2013—-(") + "…"
    if _ALIAS_GROUP.search(line) or not _balanced(line):
        line = line.translate(_DEFUSED)
    return line


def _balanced(line: str) -> bool:
    """Return whether all brackets pair up.

    Then none can pair with the brackets of a citation.
    """
    depth = 0
    for mark in _BRACKET.findall(line):
        depth += 1 if mark == "[" else -1
        if depth < 0:
            return False
    return depth == 0


def without_citations(text: str) -> str:
    """Return ``text`` without the bracketed aliases that follow a report's claims."""
    return _SPACE.sub(" ", _CITATION.sub("", _SPACE.sub(" ", text))).strip()


def _paragraphs(text: str) -> Iterator[str]:
    """Return prose blocks with joined lines; bullets and fields are separate blocks."""
    lines: list[str] = []
    for line in _prose_lines(text):
        starts_anew = not line or any(p.match(line) for p in (_BULLET, _FIELD, _ENTRY))
        if starts_anew and lines:
            yield " ".join(lines)
            lines = []
        if line:
            lines.append(_FIELD.sub("", _BULLET.sub("", line)))
    if lines:
        yield " ".join(lines)


def _prose_lines(text: str) -> Iterator[str]:
    """Return lines without code; an empty line replaces each code block."""
    fenced = literal = session = False
    indent = 0
    for line in text.expandtabs().splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not line.strip():
            session = False
        elif not fenced and not session and not (literal and _indent(line) > indent):
            literal = False
            if _PROMPT.match(line):
                session = True
            elif not _RULE.match(line) and not _CODE.search(line) and not _is_heading(line):
                if line.rstrip().endswith("::"):
                    literal, indent = True, _indent(line)
                yield line.strip()
                continue
        yield ""


def _is_heading(line: str) -> bool:
    """Return whether a line is a heading with no paragraph attached."""
    return _HEADING.match(line) is not None and len(line) <= MAX_HEADING


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _split(paragraph: str) -> list[str]:
    line = plain(paragraph)
    parts: list[str] = []
    start = 0
    for end in _END.finditer(line):
        piece = line[start : end.start()]
        if not _ABBREVIATION.search(piece[-12:]):
            parts.append(line[start : end.end()].strip())
            start = end.end()
    return [*parts, line[start:].strip()]


def _is_readable(sentence: str) -> bool:
    """Return whether text is prose: some words, mostly letters, not a record."""
    if len(sentence) > MAX_SENTENCE or len(sentence.split()) < MIN_WORDS:
        return False
    letters = sum(map(str.isalpha, sentence)) + sum(map(str.isspace, sentence))
    return letters >= 0.7 * len(sentence) and sentence.count('":') < 2
