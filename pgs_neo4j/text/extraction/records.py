"""The form of an extraction in prompts and replies: one record per line.

    entity<|#|>NAME<|#|>TYPE<|#|>description<|#|>1,3
    relation<|#|>SOURCE<|#|>TARGET<|#|>keywords<|#|>description<|#|>2-4
    <|COMPLETE|>

The last field has the numbers of the sentences that support the record. The weight of a relation
may follow. A reply that was cut off lacks the last line; its complete lines still count. Fields are
read in any form that models write.
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

# The reader accepts these forms as a delimiter or as the end, so they are removed from documents.
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
"""Maximum number of sentences of a record, and of a range in it."""

_ONE = r"(?:(?:sentences?|sent|s)\.?\s?|#)?\d{1,6}"
_BETWEEN = r"(?:\s?(?:,|;|-|\u2013|\u2014|&|and|to)\s?|\s)"
_NUMBERS = re.compile(rf"[\[(]?{_ONE}(?:{_BETWEEN}{_ONE})*[\])]?\.?", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,6})(?:\s?(?:-|\u2013|\u2014|to)\s?(\d{1,6}))?")
_WEIGHT = re.compile(r"\d{1,3}(?:\.\d{1,9})?")
_NONE = frozenset(("", "none", "null", "n/a", "-", "[]", "()"))


def number_sentences(chunk: Chunk, before: int = 0) -> str:
    """Return the sentences of a chunk for a prompt, one per line after its number.

    Numbers start after ``before``, the number of sentences in earlier passages. Delimiters are
    neutralized, so a reply that repeats a sentence cannot form a record. Lines without words are
    left out, but they use up a number.
    """
    lines = [
        f"[{number}] {neutral_text(chunk.text[one.start : one.end]).strip()}"
        for number, one in enumerate(chunk.sentences, before + 1)
        if one.kind != "rule"
    ]
    return "\n".join(lines)


def neutral_text(text: str) -> str:
    """Return text of a document for a prompt: one line of the same length, without delimiters.

    Since the length is the same, places stay valid. The only line break in ``text`` is ``\\n``.
    """
    plain = clean_text(text)
    if "<" in plain or "|" in plain:  # most sentences have neither
        for pattern in (BROKEN_DELIMITER, BROKEN_COMPLETE):
            plain = pattern.sub(lambda match: match[0].translate(_SAME_LENGTH), plain)
    return _LINE_BREAK.sub(" ", plain)


def fenced(text: str) -> str:
    """Return text that cannot end its passage in a prompt early."""
    return text.replace("</passage", "⟨/passage")


def make_entity(
    name: str, type_: str, description: str, sentences: Sequence[int] = ()
) -> ExtractedEntity | None:
    """Return the entity, or None if the name cannot name an entity."""
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
    """Return the relation, or None if an end cannot be a name or both ends are the same."""
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
    """Return the sentence numbers in a field, ascending; None if it contains anything else."""
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
    """Return the weight in a field, or None if it contains anything else."""
    plain = field.strip()
    return float(plain) if _WEIGHT.fullmatch(plain) else None


def read_keywords(field: str) -> tuple[str, ...]:
    """Return the distinct keywords of a field in their order, at most ``MOST_KEYWORDS``."""
    words = (clean_name(word)[:LONGEST_TYPE] for word in re.split(r"[,;|]", field))
    return tuple(dict.fromkeys(filter(None, words)))[:MOST_KEYWORDS]


def one_line(text: str) -> str:
    """Return a description on one line, at most ``LONGEST_DESCRIPTION`` characters."""
    line = " ".join(INVISIBLE.sub("", text[: 4 * LONGEST_DESCRIPTION]).split())
    return line[:LONGEST_DESCRIPTION].strip().strip('"*').strip()
