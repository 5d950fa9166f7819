"""Takes a model's Markdown apart: named sections, and the bullets in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\s*(?:```|~~~)[\w-]*\s*")
_HEADING = re.compile(
    r"\s{0,3}(?P<hashes>#{1,6})?\s*(?:\d{1,2}[.)]\s*)?(?P<bold>\*\*|__)?\s*"
    r"(?P<name>[A-Za-z][A-Za-z /&-]{2,60}?)\s*:?\s*(?:\*\*|__)?\s*:?\s*#*\s*"
)
_BULLET = re.compile(r"(?P<indent>\s*)(?:[-*•+]|\d{1,3}[.)])\s+(?P<text>.*)")
_NOTHING = re.compile(
    r"[\s*_(-]*(?:none|nothing|n/?a|not applicable|"
    r"no (?:\w+ )?(?:findings|flags|absences|gaps|connections|convergences))"
    r"(?: (?:found|identified|reported|noted))?[^A-Za-z0-9]*",
    re.IGNORECASE,
)


def sections(text: str, names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The body of each section by its canonical name, in order; repeated ones are joined.

    ``names`` maps a canonical name to the spellings it may have, lower case. A heading is a
    line of its own that holds a spelling, with ``#``, bold, a number, or a colon around it.
    A heading that is none of them, at the same weight, ends the section.
    """
    spelled = {spelling: name for name, spellings in names.items() for spelling in spellings}
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in _unfenced(text):
        heading = _HEADING.fullmatch(line)
        name = spelled.get(_plain(heading["name"])) if heading else None
        if name is not None:
            current = found.setdefault(name, [])
        elif heading and heading["hashes"] and len(heading["hashes"]) <= 2:
            current = []
        else:
            current.append(line)
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


def bullets(body: str) -> list[str]:
    """The bullets of a section, each on one line, nested ones folded into their parent.

    Without bullets every paragraph is one; "None" and its like are nothing.
    """
    items: list[list[str]] = []
    marked = False
    indent = 0
    blank = True
    for line in body.splitlines():
        bullet = _BULLET.fullmatch(line)
        if bullet and (not marked or len(bullet["indent"]) <= indent):
            if not marked:
                items = [item for item in items if item and item[-1].rstrip().endswith(".")]
            marked, indent = True, max(indent, len(bullet["indent"]))
            items.append([bullet["text"]])
        elif bullet:
            items[-1].append(bullet["text"])
        elif line.strip():
            if items and not (blank and not marked):
                items[-1].append(line.strip())
            else:
                items.append([line.strip()])
        blank = not line.strip()
    joined = [" ".join(" ".join(item).split()) for item in items]
    return [item for item in joined if item and not _NOTHING.fullmatch(item)]


def paragraph(body: str) -> str:
    """A section as running text on one line; "None" and its like are empty."""
    text = " ".join(body.split())
    return "" if _NOTHING.fullmatch(text) else text


def _plain(name: str) -> str:
    return " ".join(name.lower().split())


def _unfenced(text: str) -> Iterator[str]:
    told = _THINKING.sub("", text)
    return (line for line in told.splitlines() if not _FENCE.fullmatch(line))
