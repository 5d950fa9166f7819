"""The form of an extraction in prompts and replies: one record a line.

    entity<|#|>NAME<|#|>TYPE<|#|>description<|#|>1,3
    relation<|#|>SOURCE<|#|>TARGET<|#|>keywords<|#|>description<|#|>2-4
    <|COMPLETE|>

The last field has the numbers of the sentences that say it. A relation may have its weight after
that. A reply that is cut off lacks the last line, and all its whole lines still count. Fields
become values however a model wrote them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from pgs_neo4j.model.documents import Chunk, ExtractedEntity, ExtractedRelation
from pgs_neo4j.text.extraction.names import clean_name, name_fault, normalize_name
from pgs_neo4j.text.invisible import INVISIBLE
from pgs_neo4j.text.prompt_text import clean_text

DELIMITER = "<|#|>"
COMPLETE = "<|COMPLETE|>"

# What the reader takes for a delimiter or for the end, and what documents may not contain.
BROKEN_DELIMITER = re.compile(
    r"<\\?\|{0,2}#\\?\|{0,2}\\?>|<\\?\|{1,2}\\?#\\?\|{0,2}|\|{1,2}\\?#\\?\|{1,2}>?|<\|\|?>"
)

BROKEN_COMPLETE = re.compile(
    r"<\\?\|{0,2}\s?COMPLETED?\s?\\?\|{0,2}\\?>|<\|COMPLETED?\b", re.IGNORECASE
)
_SAME_LENGTH = str.maketrans({"<": "\u27e8", ">": "\u27e9", "|": "\u00a6", "#": "\u266f"})
_LINE_BREAK = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
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


def number_sentences(chunk: Chunk, before: int = 0) -> str:
    """Return the sentences of a chunk for a prompt, one a line after its number.

    Numbers count from ``before``, those of the passages before it.

    Nothing in them could be repeated by a reply as a record. Sentences without words are left out,
    but they have numbers.
    """
    lines = [
        f"[{number}] {neutral_text(chunk.text[one.start : one.end]).strip()}"
        for number, one in enumerate(chunk.sentences, before + 1)
        if one.kind != "rule"
    ]
    return "\n".join(lines)


def neutral_text(text: str) -> str:
    """Return text of a document for a prompt: one line of the same length, without delimiters.

    So a place in it is a place in the document. The text has no line break but ``\\n``.
    """
    plain = clean_text(text)
    if "<" in plain or "|" in plain:  # most sentences have neither
        for pattern in (BROKEN_DELIMITER, BROKEN_COMPLETE):
            plain = pattern.sub(lambda match: match[0].translate(_SAME_LENGTH), plain)
    return _LINE_BREAK.sub(" ", plain)


def fenced(text: str) -> str:
    """Return text in which nothing looks like the end of the passage of a prompt."""
    return text.replace("</passage", "⟨/passage")


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
