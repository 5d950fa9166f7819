"""Reads plain text and Markdown."""

from __future__ import annotations

import codecs
import re
import unicodedata

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import DocumentText

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def read_text(data: bytes) -> DocumentText:
    """Return the text of a file. Raises InputFileError for other content."""
    return DocumentText(text=normalize_text(decode(data)))


def decode(data: bytes) -> str:
    """Return the text of some bytes: by their byte order mark, else as UTF-8.

    Raises InputFileError.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    if encoding == "utf-8" and b"\0" in data:
        raise InputFileError("it is not text: it contains bytes that no text has")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputFileError(
            f"its byte {error.start + 1:,} is not {encoding.removesuffix('-sig').upper()}; save it "
            "as UTF-8"
        ) from None


def normalize_text(text: str) -> str:
    """Return a text in its composed form (NFC), with ``\\n`` for every line break.

    Raises InputFileError for a text without anything to read.
    """
    plain = unicodedata.normalize("NFC", _BREAK.sub("\n", text)).replace("\0", "")
    if not plain.strip():
        raise InputFileError("it has no text")
    return plain
