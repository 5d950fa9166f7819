"""Extracts readable sentences from text, and quotes them safely."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgs_neo4j.text.sentences import HEADING, LONGEST, split_sentences

MAX_QUOTE = 240
MIN_WORDS = 3
MAX_SENTENCE = LONGEST
"""Maximum characters of a sentence. Anything longer is a table, a dump, or a line of data."""

_UNREADABLE = {"code", "data", "rule"}

_INLINE_HEADING = re.compile(r"(?:^|\s)#{1,6}\s+")
_LABEL = re.compile(r"^\s*\*\*[^*]{1,60}:?\s?\*\*\s?:?\s+")
_LEANING = re.compile(
    r"(?:this|these|those|it|its|they|such|here|thus|hence|however|moreover"
    r"|furthermore|additionally|also|then|therefore|but|and|so|in addition|as a result)\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|>)\s+")
_FIELD = re.compile(r"^\s*[@:]\w+[^:]{0,60}:\s*")
_MARK = re.compile(r"``?|\*\*|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_ROLE = re.compile(r":[a-z:]+:(?=`)")
_LINK = re.compile(r"!?\[([^\[\]]{1,200})\]\((?:[^()\s]{1,300})\)")
_TAG = re.compile(r"^\s*\[[A-Z][A-Z_ ]{2,}(?::[^\[\]]{0,80})?\]\s*")
# Terminal escapes and characters that reorder or hide text.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_SPACE = re.compile(r"\s+")
_BRACKET = re.compile(r"[\[\]]")
# Brackets of any kind around an alias would be read as a citation.
_OPENING, _CLOSING = "[(\u3010\uff08\uff3b\u3014", "])\u3011\uff09\uff3d\u3015"
_ALIAS_GROUP = re.compile(
    rf"[{re.escape(_OPENING)}][^{re.escape(_CLOSING)}]*\bn\s*\d", re.IGNORECASE
)
_DEFUSED = str.maketrans(dict.fromkeys(_OPENING, "⟦") | dict.fromkeys(_CLOSING, "⟧"))
_CITATION = re.compile(r"\s*\[\s*(?:P\d+\s*:\s*)?n\d+[^\[\]]*\]")
# A fact of a relationship, in the form in which the text of its source node lists it. It ends only
# at the end of the line.
_FACT = re.compile(r"^[^\s\n][^\n]{0,180} -> [^\n]{1,120}: [^\n]*$", re.MULTILINE)
_LEAD = re.compile(r"^(?:[\s#>*+\-\u2013—•=|~`]|\d{1,3}[.)]\s)+")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, one line each, without code or markup.

    Each fact of a relationship is a sentence of its own. Text that runs on from a heading counts
    only if there is no other sentence.
    """
    headed: list[str] = []
    readable: list[str] = []
    for part in filter(str.strip, _split_facts(text)):
        found, under = _split_prose(part)
        readable += found
        headed += under
    return readable or headed


def _split_facts(text: str) -> Iterator[str]:
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    start = 0
    for fact in _FACT.finditer(whole):
        yield whole[start : fact.start()]
        yield fact.group()
        start = fact.end()
    yield whole[start:]


def _split_prose(text: str) -> tuple[list[str], list[str]]:
    """Return the sentences of prose, and separately the sentences that run on from a heading."""
    headed: list[str] = []
    readable: list[str] = []
    for sentence in split_sentences(text):
        if sentence.kind in _UNREADABLE:
            continue
        part = text[sentence.start : sentence.end]
        if sentence.opens:
            part = _FIELD.sub("", _BULLET.sub("", part))
        if sentence.kind == "heading":
            if HEADING.match(part):
                continue
            part = part.lstrip().partition("\n")[0]  # without the rule below it
        # If the text has lost its line ends, a heading runs into the sentence after it.
        first, *others = map(plain, _INLINE_HEADING.split(_TAG.sub("", part)))
        readable.extend(filter(_is_readable, [first]))
        headed.extend(filter(_is_readable, others))
    return readable, headed


def plain(text: str) -> str:
    """Return ``text`` on one line, without leading tags and Markdown or reStructuredText markup."""
    unlinked = _LINK.sub(r"\1", _ROLE.sub("", _TAG.sub("", text)))
    unmarked = _MARK.sub("", _INLINE_HEADING.sub(" ", _LABEL.sub("", unlinked)))
    return _SPACE.sub(" ", unmarked).strip()


def leans(sentence: str) -> bool:
    """Return whether a sentence's first word refers to the sentence before it."""
    return _LEANING.match(sentence) is not None


def quote(text: str, limit: int = MAX_QUOTE) -> str:
    """Return ``text`` on one line, so it cannot forge sections or citations.

    A long text is cut at a word with an ellipsis. Leading list and heading marks are removed.
    Brackets become ⟦ and ⟧ where they could be read as citations.
    """
    line = _LEAD.sub("", _SPACE.sub(" ", _CONTROL.sub("", text[: 8 * limit]))).strip()
    if len(line) > limit:
        line = line[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:\u2013—-(") + "…"
    if _ALIAS_GROUP.search(line) or not _is_balanced(line):
        line = line.translate(_DEFUSED)
    return line


def _is_balanced(line: str) -> bool:
    """Return whether all brackets pair up, so that none can pair with a bracket of a citation."""
    depth = 0
    for mark in _BRACKET.findall(line):
        depth += 1 if mark == "[" else -1
        if depth < 0:
            return False
    return depth == 0


def without_citations(text: str) -> str:
    """Return ``text`` without the bracketed aliases that follow a report's claims."""
    return _SPACE.sub(" ", _CITATION.sub("", _SPACE.sub(" ", text))).strip()


def _is_readable(sentence: str) -> bool:
    """Return whether a sentence is prose: a few words, mostly letters, and not a record of data."""
    if len(sentence) > MAX_SENTENCE or len(sentence.split()) < MIN_WORDS:
        return False
    letters = sum(map(str.isalpha, sentence)) + sum(map(str.isspace, sentence))
    return letters >= 0.7 * len(sentence) and sentence.count('":') < 2
