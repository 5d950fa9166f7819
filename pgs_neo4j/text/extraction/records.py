"""The form of an extraction in prompts and replies: one record a line.

    entity<|#|>NAME<|#|>TYPE<|#|>description<|#|>1,3
    relation<|#|>SOURCE<|#|>TARGET<|#|>keywords<|#|>description<|#|>2-4
    <|COMPLETE|>

The last field has the numbers of the sentences that say it. A relation may have its weight after
that. A reply that is cut off lacks the last line, and all its whole lines still count.
"""

from __future__ import annotations

import re

from pgs_neo4j.model.documents import Chunk
from pgs_neo4j.text.clean import clean_text

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
