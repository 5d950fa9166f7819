"""Finds the abbreviations that a text defines: World Health Organization (WHO)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pgs_neo4j.model.documents import DefinedName, GroundedEntity, GroundedExtraction
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.variants.abbreviations import LONGEST, looks_abbreviated, without_plural
from pgs_neo4j.text.variants.forms import is_abbreviation

FORM = "1"
"""Of the rules; with others, documents are written again, which costs no call."""

_QUOTES = "\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
_SHORT = rf"(?P<short>\w[\w.&/-]{{1,{LONGEST}}})"
_BEHIND = re.compile(rf"[{_QUOTES}]?\s?\(\s?(?:the\s)?[{_QUOTES}]?{_SHORT}[{_QUOTES}]?\s?[),;]")
_BEFORE = re.compile(rf"(?<![\w.&/-]){_SHORT}[{_QUOTES}]?\s?\(\s?(?:the\s)?[{_QUOTES}]?$")
_CLOSED = re.compile(rf"[{_QUOTES}]?\s?[),;]")
_WITHIN = re.compile(r"(?P<first>[^()]+?)\s?\((?P<second>[^()]+)\)")
_REACH = 40
"""Characters before a name in which its abbreviation is looked for."""


def add_definitions(extraction: GroundedExtraction, text: str) -> GroundedExtraction:
    """Return an extraction with the abbreviations that its chunk's ``text`` defines for names."""
    found = {(one.name, one.type): one for one in reversed([*_definitions(extraction, text)])}
    ordered = sorted(found.values(), key=lambda one: (one.name, one.type))
    return replace(extraction, definitions=tuple(ordered))


def _definitions(extraction: GroundedExtraction, text: str) -> Iterator[DefinedName]:
    """Yield definitions, those of one name in the order of the text."""
    bracketed = "(" in text
    for entity in extraction.entities:
        for short in _shorts(entity, text) if bracketed else ():
            plain = without_plural(short)
            key, own = normalize_name(entity.name), normalize_name(plain)
            if looks_abbreviated(plain) and is_abbreviation(own, key, entity.type):
                yield DefinedName(name=entity.name, type=entity.type, short=plain)


def _shorts(entity: GroundedEntity, text: str) -> Iterator[str]:
    """Yield what stands beside a name as its abbreviation may."""
    if (both := _WITHIN.fullmatch(entity.name)) is not None:
        pairs = ((both["first"], both["second"]), (both["second"], both["first"]))
        for long, short in pairs:
            if is_abbreviation(normalize_name(short), normalize_name(long), entity.type):
                yield short
    for start, end in entity.spans:
        if behind := _BEHIND.match(text, end):
            yield behind["short"]
        before = _BEFORE.search(text[max(0, start - _REACH) : start])
        if before and _CLOSED.match(text, end):
            yield before["short"]
