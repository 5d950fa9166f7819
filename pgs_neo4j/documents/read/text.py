"""Reads plain text and Markdown."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache

from pgs_neo4j.documents.read.empty import EmptyDocumentError
from pgs_neo4j.documents.read.encoding import decode
from pgs_neo4j.documents.read.limits import MOST_MARKS
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import DocumentText

_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HALF = re.compile(r"[\ud800-\udfff]")


def read_text(data: bytes, charset: str = "") -> tuple[DocumentText, str]:
    """Return the text of a file, and what was guessed. Raises InputFileError for other content."""
    decoded = decode(data, charset)
    return DocumentText(text=normalize_text(decoded.text)), decoded.note


def normalize_text(text: str) -> str:
    """Return a normalized text. Raises EmptyDocumentError if nothing is in it."""
    plain = normalize(text)
    if not plain.strip():
        raise EmptyDocumentError("it has no text")
    return plain


def check_text(text: str, unread: Sequence[str]) -> None:
    """Raise InputFileError if all that a file has is something that is not read."""
    if unread and not text.strip():
        raise InputFileError(f"it has no text, and what it has is not read: {'; '.join(unread)}")


def normalize(text: str) -> str:
    """Return a text in its composed form (NFC), with ``\\n`` for every line break.

    Halves of surrogate pairs become U+FFFD, NUL is left out, and so are marks on one letter beyond
    MOST_MARKS.
    """
    plain = _BREAK.sub("\n", text).replace("\0", "")
    if plain.isascii():
        return plain
    if not unicodedata.is_normalized("NFC", plain):
        plain = unicodedata.normalize("NFC", _marks().sub(r"\1", plain))
    return _HALF.sub("\ufffd", plain)


@cache
def _marks() -> re.Pattern[str]:
    """Return what finds more combining marks on a letter than any script writes.

    ``unicodedata`` puts marks into their order in time with the square of their number.
    """
    every = map(chr, range(sys.maxunicode + 1))
    marks = "".join(char for char in every if unicodedata.combining(char))
    return re.compile(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")
