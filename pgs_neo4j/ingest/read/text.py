"""Reads plain text and Markdown."""

from __future__ import annotations

import re
import unicodedata

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.ingest.read.encoding import decode
from pgs_neo4j.model.documents import DocumentText

_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HALF = re.compile(r"[\ud800-\udfff]")


def read_text(data: bytes, charset: str = "") -> tuple[DocumentText, str]:
    """Return the text of a file, and what was guessed. Raises InputFileError for other content."""
    decoded = decode(data, charset)
    return DocumentText(text=normalize_text(decoded.text)), decoded.note


def normalize_text(text: str) -> str:
    """Return a normalized text. Raises InputFileError if there is nothing to read in it."""
    plain = normalize(text)
    if not plain.strip():
        raise InputFileError("it has no text")
    return plain


def normalize(text: str) -> str:
    """Return a text in its composed form (NFC), with ``\\n`` for every line break.

    Halves of surrogate pairs become U+FFFD, and NUL is left out.
    """
    plain = unicodedata.normalize("NFC", _BREAK.sub("\n", text)).replace("\0", "")
    return plain if plain.isascii() else _HALF.sub("\ufffd", plain)
