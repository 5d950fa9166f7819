"""Classifies the characters of texts, all at once."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.normal_form import is_mark

BoolArray = NDArray[np.bool_]
CodeArray = NDArray[np.uint8] | NDArray[np.uint32]

# Kinds of characters. All but OTHER are parts of words; a mark is a part as its letter is.
OTHER, LOWER, UPPER, LETTER, DIGIT, UNSPACED = range(6)
# Scripts without spaces: Thai and Lao, Myanmar, Khmer, and those of East Asia.
UNSPACED_RANGES = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x2E80, 0xA4CF),
    (0xF900, 0xFAFF),
)
PLANE = 0x20000  # code points in the table; those above are rare ideographs
LAST_ASCII = 127
CASE = 32  # between a capital of ASCII and its small letter


def classify(text: str) -> tuple[CodeArray, NDArray[np.uint8]]:
    """Return lower-case code points and kinds of a text's characters, both ``(c,)``."""
    if text.isascii():
        plain = text.encode("ascii")
        return np.frombuffer(plain.lower(), np.uint8), _ascii_kinds(plain)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).copy()
    # Most characters are ASCII in most texts; a table of bytes is the quickest.
    kinds = _ascii_kinds(np.minimum(codes, LAST_ASCII).astype(np.uint8).tobytes()).copy()
    codes += (kinds == UPPER) * np.uint32(CASE)
    others = np.flatnonzero(codes > LAST_ASCII)
    kind_of, lower_of = _tables(PLANE)
    wide = codes[others]
    entries = np.minimum(wide, PLANE)
    kinds[others] = kind_of[entries]
    codes[others] = np.where(wide < PLANE, lower_of[entries], wide)
    return codes, kinds


def _ascii_kinds(plain: bytes) -> NDArray[np.uint8]:
    """Return the kind of each byte ``(c,)``; bytes are below 128."""
    return np.frombuffer(plain.translate(_byte_kinds()), np.uint8)


@cache
def _byte_kinds() -> bytes:
    """Return the kinds of the first 256 bytes; only those of ASCII are right."""
    return _tables(LAST_ASCII + 1)[0][: LAST_ASCII + 1].tobytes().ljust(256, b"\0")


@cache
def _tables(size: int) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return kinds and lower cases of the first code points, both ``(size + 1,)``.

    The last entry stands for all code points beyond.
    """
    kinds = np.zeros(size + 1, np.uint8)
    lower = np.arange(size + 1, dtype=np.uint32)
    for code, letter in enumerate(map(chr, range(size))):
        if letter.isalnum() or is_mark(letter):
            kinds[code] = DIGIT if letter.isdecimal() else LETTER
            small = letter.lower()
            if len(small) == 1:
                lower[code] = ord(small)
    for first, last in UNSPACED_RANGES:
        chosen = kinds[first : last + 1]
        chosen[chosen == LETTER] = UNSPACED
    kinds[size] = UNSPACED
    kinds[ord("a") : ord("z") + 1] = LOWER
    kinds[ord("A") : ord("Z") + 1] = UPPER
    return kinds, lower


def is_digit(codes: CodeArray) -> BoolArray:
    """Return which code points ``(m,)`` are decimal digits."""
    if codes.dtype == np.uint8:
        return (codes >= ord("0")) & (codes <= ord("9"))
    digits: BoolArray = _tables(PLANE)[0][np.minimum(codes, PLANE)] == DIGIT
    return digits
