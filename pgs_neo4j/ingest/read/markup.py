"""Makes a page one that its parser reads in time in proportion to its size, or refuses it.

The parser compares each attribute of a tag with those before it. When an option comes into a list
that chooses one of them, it looks at all that the list has, to keep only one chosen. A list that
allows several needs no such look. Which options the page says are chosen stays the same, and that
is what is read.
"""

from __future__ import annotations

import re

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.ingest.read.limits import MOST_ATTRIBUTES, MOST_OPTIONS

RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
"""Elements whose content is text, whatever looks like a tag in it."""
_ANY_NUMBER = " multiple"

_BLANK = r"[ \t\n\f\r]"
# A name, and what follows an equals sign. Nothing of it is tried twice, so time is linear.
_ATTRIBUTE = (
    r"(?>[ \t\n\f\r/]*+[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"
    rf"(?:{_BLANK}*+={_BLANK}*+(?:\"[^\"]*+\"?|'[^']*+'?|[^ \t\n\f\r>]*+))?+)"
)
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    rf"|<(?P<name>[a-z][^ \t\n\f\r/>]*+)(?:{_ATTRIBUTE}){{0,{MOST_ATTRIBUTES}}}+"
    rf"(?P<more>{_ATTRIBUTE})?",
    re.IGNORECASE | re.DOTALL,
)


def bound_markup(html: str) -> str:
    """Return a page of the same text that takes linear time to parse.

    Raises InputFileError if a tag has more than MOST_ATTRIBUTES attributes.
    """
    lists: list[int] = []
    options = place = 0
    while tag := _TAG.search(html, place):
        place = tag.end()
        name = (tag["name"] or "").lower()
        if tag["more"]:
            raise InputFileError(
                f"one of its tags has more than {MOST_ATTRIBUTES:,} attributes, as no page does; "
                "save it again without this tag"
            )
        if name == "select":
            lists.append(tag.end("name"))
        elif name == "option":
            options += 1
        elif name in RAW:
            place = _end_of_raw(html, name, place)
    return _allow_several(html, lists) if options > MOST_OPTIONS else html


def _end_of_raw(html: str, name: str, start: int) -> int:
    end = re.compile(f"</{name}", re.IGNORECASE).search(html, start)
    return end.end() if end else len(html)


def _allow_several(html: str, lists: list[int]) -> str:
    """Return a page in which several options of each list may be chosen."""
    parts: list[str] = []
    start = 0
    for place in lists:
        parts.append(html[start:place])
        start = place
    return _ANY_NUMBER.join([*parts, html[start:]])
