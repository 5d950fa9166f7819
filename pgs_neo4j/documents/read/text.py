"""Turns bytes into the text of a document: decoded, normalized, and not empty.

Bytes are decoded by their byte order mark, as UTF-8, or by a guess that must be clear and is
reported. Every reader normalizes its text here.
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
"""Bytes that a guess looks at: those from a little before the first that is not ASCII."""
USUAL = "cp1252"
"""The encoding that is taken if others fit as well, as browsers do."""
ENCODINGS = (
    *("cp1250", "cp1251", USUAL, "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp866"),
    *("koi8_r", "koi8_u", "cp874", "mac_roman", "gb18030", "big5", "cp932", "euc_jp", "cp949"),
)
"""Encodings that files on today's disks have."""
WIDE = frozenset(("gb18030", "big5", "cp932", "euc_jp", "cp949"))
MOST_CHAOS = 0.1
LEAST_COHERENCE = 0.3
CLEAR = 0.04
"""How much less chaos the best guess must show than another text that is possible."""
MIXED = {True: 0.5, False: 0.002}
"""Share of UTF-8 among all that is not ASCII from which encodings are mixed; for wide ones more."""
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
    """A source was read to its end, and has nothing to read: it has no document."""


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
    """Return a pattern for more combining marks on a letter than any script writes.

    ``unicodedata`` puts marks into their order in time with the square of their number.
    """
    every = map(chr, range(sys.maxunicode + 1))
    marks = "".join(char for char in every if unicodedata.combining(char))
    return re.compile(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text with its encoding; ``guessed``: nothing in the bytes says so."""

    text: str
    encoding: str
    guessed: bool = False

    @property
    def note(self) -> str:
        """What to tell of a guess, empty without one."""
        return f"it is not UTF-8; it was read as {self.encoding}" if self.guessed else ""


def decode(data: bytes, declared: str = "") -> Decoded:
    """Decode bytes. Raises InputFileError if their encoding cannot be determined.

    ``declared`` is the encoding that a server names; it counts if the bytes are not UTF-8.
    """
    if marked := marked_encoding(data):
        return Decoded(_decoded(data, marked), marked)
    for named in ("utf-8", *encodings_named(declared)):
        with suppress(UnicodeError, LookupError):
            return Decoded(data.decode(named), named)
    encoding = guess(data)
    return Decoded(_decoded(data, encoding), encoding, guessed=True)


def encoding_of(data: bytes) -> tuple[str, bool]:
    """Return the encoding of some bytes, and whether it is a guess. Raises InputFileError."""
    if marked := marked_encoding(data):
        return marked, False
    try:
        data.decode()
    except UnicodeDecodeError:
        return guess(data), True
    return "utf-8", False


def cut_at_letter(data: bytes) -> bytes:
    """Return the beginning of a text that was cut at any byte, without a part of a letter.

    In UTF-8 and all of ENCODINGS, no letter of several bytes has one below the digits.
    """
    end = max(data.rfind(one) for one in range(_FIRST_DIGIT)) + 1
    return data[:end] or data[:-4] + _LAST_LETTER.sub(b"", data[-4:])


def marked_encoding(data: bytes) -> str | None:
    """Return what a byte order mark names. Raises InputFileError for bytes that no text has."""
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if marked is None and b"\0" in data:
        raise InputFileError("it is not text: it contains bytes that no text has")
    return marked


def encodings_named(name: str) -> tuple[str, ...]:
    """Return the encodings that a page or server means by a name, none if it says nothing."""
    try:
        encoding = codecs.lookup(name).name if name else ""
    except (LookupError, ValueError):
        return ()
    if encoding.startswith(("utf-16", "utf-32", "utf-8")) or not encoding:
        return ()  # said in ASCII letters, so it is not true, or it is tried anyway
    return ("cp1252", "iso8859-1") if encoding in ("iso8859-1", "ascii") else (encoding,)


def guess(data: bytes) -> str:
    """Return the encoding of bytes that are not UTF-8. Raises InputFileError if it is unclear."""
    at = _first_foreign(data)
    try:
        from charset_normalizer import from_bytes
    except ImportError as error:
        raise InputFileError(
            f"its byte {at + 1:,} is not UTF-8; save it as UTF-8. To guess, "
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
            f"its byte {at + 1:,} is not UTF-8, and its encoding is not sure; save it as UTF-8"
        )
    return encoding


def _find_clear(matches: list[Any]) -> str | None:
    """Return the encoding of the best match, None if another text is as likely."""
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


def _first_foreign(data: bytes) -> int:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _decoded(data: bytes, encoding: str) -> str:
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
