"""Turns the fields of a record into values, however a model wrote them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from pgs_neo4j.model.documents import ExtractedEntity, ExtractedRelation
from pgs_neo4j.text.extraction.names import clean_name, name_fault, normalize_name
from pgs_neo4j.text.invisible import INVISIBLE

LONGEST_DESCRIPTION = 2000
LONGEST_TYPE = 80
MOST_KEYWORDS = 8
MOST_NUMBERS = 200
"""Sentences of a record, and of a range in it."""

_ONE = r"(?:(?:sentences?|sent|s)\.?\s?|#)?\d{1,6}"
_BETWEEN = r"(?:\s?(?:,|;|-|\u2013|\u2014|&|and|to)\s?|\s)"
_NUMBERS = re.compile(rf"[\[(]?{_ONE}(?:{_BETWEEN}{_ONE})*[\])]?\.?", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,6})(?:\s?(?:-|\u2013|\u2014|to)\s?(\d{1,6}))?")
_WEIGHT = re.compile(r"\d{1,3}(?:\.\d{1,9})?")
_NONE = frozenset(("", "none", "null", "n/a", "-", "[]", "()"))


def make_entity(
    name: str, type_: str, description: str, sentences: Sequence[int] = ()
) -> ExtractedEntity | None:
    """Return the entity, None if its name is no name."""
    if name_fault(name) is not None:
        return None
    return ExtractedEntity(
        name=clean_name(name),
        type=clean_name(type_)[:LONGEST_TYPE],
        description=one_line(description),
        sentences=tuple(sentences),
    )


def make_relation(
    ends: tuple[str, str],
    keywords: str,
    description: str,
    sentences: Sequence[int] = (),
    weight: float = 1.0,
) -> ExtractedRelation | None:
    """Return the relation, None if an end is no name or both are the same."""
    source, target = ends
    if name_fault(source) is not None or name_fault(target) is not None:
        return None
    if normalize_name(source) == normalize_name(target):
        return None
    return ExtractedRelation(
        source=clean_name(source),
        target=clean_name(target),
        keywords=read_keywords(keywords),
        description=one_line(description),
        sentences=tuple(sentences),
        weight=weight if math.isfinite(weight) and weight > 0 else 1.0,
    )


def read_numbers(field: str) -> tuple[int, ...] | None:
    """Return the numbers of sentences, ascending; None if the field has something else."""
    plain = " ".join(field.split())
    if plain.lower() in _NONE:
        return ()
    if not _NUMBERS.fullmatch(plain):
        return None
    numbers: set[int] = set()
    for first, last in _RANGE.findall(plain):
        begin = int(first)
        end = min(int(last or first), begin + MOST_NUMBERS)
        numbers.update(range(begin, end + 1) if end >= begin else (begin, int(last)))
    return tuple(sorted(numbers - {0})[:MOST_NUMBERS])


def read_weight(field: str) -> float | None:
    """Return a weight, None if the field has something else."""
    plain = field.strip()
    return float(plain) if _WEIGHT.fullmatch(plain) else None


def read_keywords(field: str) -> tuple[str, ...]:
    """Return distinct keywords in their order."""
    words = (clean_name(word)[:LONGEST_TYPE] for word in re.split(r"[,;|]", field))
    return tuple(dict.fromkeys(filter(None, words)))[:MOST_KEYWORDS]


def one_line(text: str) -> str:
    """Return a description on one line of bounded length."""
    line = " ".join(INVISIBLE.sub("", text[: 4 * LONGEST_DESCRIPTION]).split())
    return line[:LONGEST_DESCRIPTION].strip().strip('"*').strip()
