"""Turns bytes into the text of a document, which is decoded, normalized, and not empty.

Bytes are decoded by their byte order mark, as UTF-8, or by a guess. A guess must be clear, and is
reported. All readers normalize their text with this module.
"""

from __future__ import annotations

import codecs
import re
import sys
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from pgs_neo4j.documents.read.limits import MOST_MARKS
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import DocumentText

_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HALF = re.compile(r"[\ud800-\udfff]")
GUESSED_BYTES = 500_000
"""Number of bytes for a guess. They start shortly before the first byte that is not ASCII."""
USUAL = "cp1252"
"""The encoding that is preferred if others also fit. Browsers also prefer it."""
ENCODINGS = (
    *("cp1250", "cp1251", USUAL, "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp866"),
    *("koi8_r", "koi8_u", "cp874", "mac_roman", "gb18030", "big5", "cp932", "euc_jp", "cp949"),
)
"""Encodings that occur in files of today."""
WIDE = frozenset(("gb18030", "big5", "cp932", "euc_jp", "cp949"))
MOST_CHAOS = 0.1
LEAST_COHERENCE = 0.3
CLEAR = 0.04
"""Minimum lead of the best guess over another possible text, in chaos or in coherence."""
MIXED = {True: 0.5, False: 0.002}
"""Minimum share of valid UTF-8 in the text outside ASCII with which a file is refused because of
mixed encodings. The first value is for wide or unknown encodings, whose bytes may look like
UTF-8."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FIRST_DIGIT = ord("0")
_LAST_LETTER = re.compile(rb"[\xc0-\xff][\x80-\xbf]{0,3}\Z")
_FOREIGN = re.compile(r"[\udc80-\udcff]")
_WIDE_LETTER = re.compile(r"[^\x00-\x7f\udc80-\udcff]")


class EmptyDocumentError(InputFileError):
    """A source was read completely but has no text, so there is no document."""


def read_text(data: bytes, charset: str = "") -> tuple[DocumentText, str]:
    """Return the text of a file, and a note if its encoding was guessed.

    Raises InputFileError if the content is not text.
    """
    decoded = decode(data, charset)
    return DocumentText(text=normalize_text(decoded.text)), decoded.note


def normalize_text(text: str) -> str:
    """Return a normalized text. Raises EmptyDocumentError if it is blank."""
    plain = normalize(text)
    if not plain.strip():
        raise EmptyDocumentError("it has no text")
    return plain


def check_text(text: str, unread: Sequence[str]) -> None:
    """Raise InputFileError if a file has unread parts but no text."""
    if unread and not text.strip():
        raise InputFileError(f"it has no text, only parts that are not read: {'; '.join(unread)}")


def normalize(text: str) -> str:
    """Return a text in its composed form (NFC), with ``\\n`` for every line break.

    Halves of surrogate pairs become U+FFFD. NUL is removed. If a letter has more than MOST_MARKS
    combining marks, the further marks are removed.
    """
    plain = _BREAK.sub("\n", text).replace("\0", "")
    if plain.isascii():
        return plain
    if not unicodedata.is_normalized("NFC", plain):
        plain = unicodedata.normalize("NFC", _compile_marks().sub(r"\1", plain))
    return _HALF.sub("\ufffd", plain)


@cache
def _compile_marks() -> re.Pattern[str]:
    """Return a pattern for more combining marks on a letter than any script uses.

    These marks are limited because ``unicodedata`` sorts them in quadratic time.
    """
    every = map(chr, range(sys.maxunicode + 1))
    marks = "".join(char for char in every if unicodedata.combining(char))
    return re.compile(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text with its encoding; ``guessed`` means that the bytes do not determine the encoding."""

    text: str
    encoding: str
    guessed: bool = False

    @property
    def note(self) -> str:
        """A note that reports a guess, empty without a guess."""
        return f"it is not UTF-8; it was read as {self.encoding}" if self.guessed else ""


def decode(data: bytes, declared: str = "") -> Decoded:
    """Return decoded bytes. Raises InputFileError if their encoding cannot be determined.

    ``declared`` is the encoding that a server names. It is used if the bytes are not UTF-8.
    """
    if marked := marked_encoding(data):
        return Decoded(_decode_strictly(data, marked), marked)
    for named in ("utf-8", *encodings_named(declared)):
        with suppress(UnicodeError, LookupError):
            return Decoded(data.decode(named), named)
    encoding = guess(data)
    return Decoded(_decode_strictly(data, encoding), encoding, guessed=True)


def encoding_of(data: bytes) -> tuple[str, bool]:
    """Return the encoding of bytes, and whether it is a guess. Raises InputFileError."""
    if marked := marked_encoding(data):
        return marked, False
    try:
        data.decode()
    except UnicodeDecodeError:
        return guess(data), True
    return "utf-8", False


def cut_at_letter(data: bytes) -> bytes:
    """Return bytes that were cut at any place, without an incomplete letter at their end.

    They are cut after the last byte that is lower than the byte of "0". In UTF-8 and all of
    ENCODINGS, no letter of several bytes contains a lower byte.
    """
    end = max(data.rfind(one) for one in range(_FIRST_DIGIT)) + 1
    return data[:end] or data[:-4] + _LAST_LETTER.sub(b"", data[-4:])


def marked_encoding(data: bytes) -> str | None:
    """Return the encoding of a byte order mark, None without a mark.

    Raises InputFileError if the bytes have no mark but contain NUL, which no text contains.
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if marked is None and b"\0" in data:
        raise InputFileError("it is not text: it contains bytes that no text has")
    return marked


def encodings_named(name: str) -> tuple[str, ...]:
    """Return the encodings to try for a declared encoding, empty for an unusable name.

    A page or a server declares the encoding.
    """
    try:
        encoding = codecs.lookup(name).name if name else ""
    except (LookupError, ValueError):
        return ()
    if encoding.startswith(("utf-16", "utf-32", "utf-8")) or not encoding:
        # UTF-8 is always tried. If the name itself is in ASCII letters, the text is not UTF-16 or
        # UTF-32.
        return ()
    return ("cp1252", "iso8859-1") if encoding in ("iso8859-1", "ascii") else (encoding,)


def guess(data: bytes) -> str:
    """Return the encoding of bytes that are not UTF-8. Raises InputFileError if it is unclear."""
    at = _find_first_foreign(data)
    try:
        from charset_normalizer import from_bytes
    except ImportError as error:
        raise InputFileError(
            f"its byte {at + 1:,} is not UTF-8; save it as UTF-8. To guess the encoding, "
            f"{missing_extra(error, 'pgs')}"
        ) from None
    first = max(0, at - 1000)
    sample = data[first : first + GUESSED_BYTES]
    if first + GUESSED_BYTES < len(data):
        sample = cut_at_letter(sample)
    matches = [*from_bytes(sample, cp_isolation=[*ENCODINGS])]
    encoding = _find_clear(matches)
    if _share_of_utf8(sample) >= MIXED[encoding is None or encoding in WIDE]:
        raise InputFileError(
            f"a part of it is UTF-8, but its byte {at + 1:,} is not; save all of it as UTF-8"
        )
    if encoding is None:
        raise InputFileError(
            f"its byte {at + 1:,} is not UTF-8, and its encoding cannot be determined; save it as "
            "UTF-8"
        )
    return encoding


def _find_clear(matches: list[Any]) -> str | None:
    """Return the encoding of the best match, None if another text is about as likely."""
    best = min(matches, key=lambda one: (one.chaos, -one.coherence), default=None)
    if best is None or best.chaos > MOST_CHAOS:
        return None
    rivals = [
        one
        for one in matches
        if one.chaos < best.chaos + CLEAR
        and one.coherence > best.coherence - CLEAR
        and str(one) != str(best)
    ]
    usual = [one for one in (best, *rivals) if USUAL in one.could_be_from_charset]
    if usual and usual[0].coherence >= LEAST_COHERENCE:
        return USUAL
    return None if rivals else str(best.encoding)


def _share_of_utf8(sample: bytes) -> float:
    text = sample.decode("utf-8", "surrogateescape")
    valid, foreign = len(_WIDE_LETTER.findall(text)), len(_FOREIGN.findall(text))
    return valid / max(1, valid + foreign)


def _find_first_foreign(data: bytes) -> int:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _decode_strictly(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding.removesuffix("-sig").upper()
        raise InputFileError(
            f"its byte {error.start + 1:,} is not {name}; save it as UTF-8"
        ) from None


def missing_extra(error: ImportError, needed_for: str) -> InputFileError:
    """Return the error for a missing library of the extra ``documents``."""
    return InputFileError(
        f"{needed_for} needs the package {error.name}; install pgs-neo4j with its extra: "
        "pip install 'pgs-neo4j[documents]'"
    )
