"""Splits a model's Markdown into named sections and their bullets.

All functions take linear time, on any text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.text.citations import find_mentions

LONGEST_HEADING = 100  # characters, including its marks
PLAIN = 7  # the level of a heading without ``#``, below all headings with ``#``

_FENCE = re.compile(r"\s*(?:```|~~~)[\w-]*\s*")
_NUMBER = re.compile(r"\d{1,2}[.)]\s*")
_MARKS = re.compile(r"(?:\d{1,2}(?:[.):]|(?=\s))|[\W_])*")  # before a name: numbers, emoji, bold
_JOINED = re.compile(r" ?(?:[/&,]| and )")
_RULE = re.compile(r"\s*(?:-[-\s]*|=[=\s]*|\*[*\s]*|_[_\s]*)")
_HASHES = re.compile(r"^(?:#{1,6}\s+)*")
_TITLE = re.compile(r"#{1,6}\s+(?:\d{1,2}[.)]\s+)?(?P<text>.*)")
_BULLET = re.compile(r"(?P<indent>\s*)(?:[-*•+]|\d{1,3}[.)])\s+(?P<text>.*)")
_NOTHING = re.compile(
    r"n/?a|not applicable|"
    r"(?:none|nothing|no (?:[\w-]+ )?(?:finding|flag|absence|gap|connection|convergence)s?)"
    r"(?: (?:were|was|to|found|identified|report(?:ed)?|noted|observed|detected|here|"
    r"in this (?:pass|partition)|(?:relevant (?:to|for)|for) th(?:e|is) question))*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Heading:
    """A line that may be a heading.

    ``words`` are in lower case, and ``rest`` is the text after a colon. Any short line may be a
    heading. Without marks, it is one only if it is the name of a section.
    """

    level: int
    marked: bool
    words: str
    rest: str = ""


_NO_HEADING = _Heading(PLAIN, False, "")


def sections(text: str, names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the body of each section by its canonical name, in order.

    ``names`` maps a canonical name to the spellings it may have, lower case. A heading is a
    separate line with one of these spellings. It may have ``#``, bold, a number, a count, or a
    colon around it. After ``#`` or bold, the body may follow a colon on the same line. Any other
    heading ends the section, unless it is deeper.
    """
    spelled = {spelling: name for name, spellings in names.items() for spelling in spellings}
    bodies: dict[str, list[str]] = {}
    current: list[str] = []
    level = 0
    for line in text.splitlines():
        if _FENCE.fullmatch(line):
            continue
        heading = _read_heading(line)
        deeper = heading.level > level > 0
        name = _find_name(heading, spelled, deeper=deeper)
        if name and not (deeper and name in bodies):
            current, level = bodies.setdefault(name, []), heading.level
            current.append(heading.rest)
        elif _ends_section(line, heading, 2 if level == PLAIN else level):
            current = []
        else:
            current.append("" if _RULE.fullmatch(line) else line)
    return {name: "\n".join(lines).strip() for name, lines in bodies.items()}


def opened_section(line: str, names: Mapping[str, Sequence[str]]) -> str | None:
    """Return the canonical name of the section whose heading a line is, or None."""
    spelled = {spelling: name for name, spellings in names.items() for spelling in spellings}
    return _find_name(_read_heading(line.rstrip("\n")), spelled, deeper=False)


def is_heading(line: str) -> bool:
    """Return whether a line is a heading that ends a section."""
    return _ends_section(line, _read_heading(line.rstrip("\n")), 2)


def bullets(body: str) -> list[str]:
    """Return the bullets of a section, one line each.

    Nested bullets become part of their parents. A paragraph counts as a bullet, with the heading
    above it. A heading, or a paragraph that ends in a colon, is left out if it cites nothing and a
    bullet follows. Texts such as "None" are left out.
    """
    blocks = _split_blocks(body)
    items: list[str] = []
    for (marked, lines), (by_bullet, _) in zip(blocks, (*blocks[1:], (False, [])), strict=False):
        item = " ".join(" ".join(lines).split())
        leads_in = by_bullet and not marked and _leads_in(item)
        if not leads_in and not _is_nothing(item):
            items.append(item)
    return items


def paragraph(body: str) -> str:
    """Return a section as one line of text; texts such as "None" become empty."""
    text = _HASHES.sub("", " ".join(body.split()), count=1)
    return "" if _is_nothing(text) else text


def passage(body: str) -> str:
    """Return a section with its paragraphs; texts such as "None" become empty."""
    return "" if _is_nothing(body) else body.strip()


def _read_heading(line: str) -> _Heading:
    """Return the heading that a line may be, or ``_NO_HEADING`` if it cannot be a heading."""
    text = line.strip()
    words = text.lstrip("#")
    level = len(text) - len(words)
    words = words.strip()
    number = None if level else _NUMBER.match(words)
    words = words[number.end() :] if number else words
    rest = ""
    if marked := level > 0 or words.startswith(("**", "__")):
        marks = _MARKS.match(words)
        opened, words = (marks[0], words[marks.end() :]) if marks else ("", words)
        words, _, rest = words.partition(":")
        rest = rest.strip()
        for bold in ("**", "__"):
            rest = rest.removeprefix(bold).strip() if bold in opened else rest
    if level > 6 or len(line) - len(line.lstrip()) > 3:
        return _NO_HEADING
    if len(text) - len(rest) > LONGEST_HEADING or (number and rest):
        return _NO_HEADING  # a line with a number and text after its colon is a bullet with a label
    return _Heading(level or PLAIN, marked, _strip_words(words, marked=marked), rest)


def _ends_section(line: str, heading: _Heading, level: int) -> bool:
    """Return whether a line is a heading at this level or above, which ends the section."""
    title = heading.words and heading.level <= level
    return bool(title) and _TITLE.fullmatch(line.strip()) is not None


def _strip_words(words: str, *, marked: bool) -> str:
    words = words.rstrip(" \t:*_#")
    if marked and words.endswith(")"):
        words = words[: words.rfind("(")].rstrip(" \t:*_#") if "(" in words else words
    return " ".join(words.lower().split())


def _find_name(heading: _Heading, spelled: Mapping[str, str], *, deeper: bool) -> str | None:
    """Return the section that a heading opens, or None.

    A heading deeper than the current section must be exactly a section's name.
    """
    exact = spelled.get(heading.words)
    if deeper and heading.rest and exact != heading.words:
        return None
    if exact or deeper or not heading.marked:
        return exact
    return spelled.get(_JOINED.split(heading.words, maxsplit=1)[0])


def _split_blocks(body: str) -> list[tuple[bool, list[str]]]:
    """Return bullets and paragraphs in order; each has True for a bullet, and its lines."""
    blocks: list[tuple[bool, list[str]]] = []
    indent, apart, titled = 0, True, False
    for line in body.expandtabs(4).splitlines():
        text = line.strip()
        if not text or _RULE.fullmatch(text):
            apart = not titled
            continue
        bullet = _BULLET.fullmatch(line)
        title = _TITLE.fullmatch(text)
        inside = bool(blocks) and blocks[-1][0]
        if bullet and inside and len(bullet["indent"]) > indent:
            blocks[-1][1].append(bullet["text"])
        elif bullet:
            indent = len(bullet["indent"])
            blocks.append((True, [bullet["text"]]))
        elif title:
            blocks.append((False, [title["text"].rstrip(" #:") + ":"]))
        elif blocks and (not apart or (inside and line[0].isspace())):
            blocks[-1][1].append(text)
        else:
            blocks.append((False, [text]))
        apart, titled = False, title is not None
    return blocks


def _leads_in(item: str) -> bool:
    bold = item.startswith("**") and item.endswith("**") and item.count("**") == 2
    return (bold or item.endswith(":")) and next(find_mentions(item, 0), None) is None


def _is_nothing(text: str) -> bool:
    bare = text.strip(" \n*_`().!:\u2013\u2014-")
    return not any(map(str.isalnum, bare)) or _NOTHING.fullmatch(bare) is not None
