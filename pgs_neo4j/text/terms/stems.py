"""Finds the stems of words by array operations."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.text.terms.characters import BoolArray
from pgs_neo4j.text.terms.spans import IntArray, WordSpans
from pgs_neo4j.text.words import MIN_STEM, SUFFIXES

DERIVED = (
    *("izationally", "izational", "izations", "ization", "ationally", "ational", "ionally"),
    *("ability", "ibility", "abilit", "ibilit", "fulness", "iveness", "ousness"),
    *("ically", "ional", "ality", "alism", "alist", "ivity", "izing", "ating"),
    *("alit", "ivit", "ance", "ence", "able", "ible", "ness", "ator", "ated", "ates", "ized"),
    *("ical", "ial", "ant", "ent", "anc", "enc", "abl", "ibl", "ful", "ity", "ive", "ize"),
    *("ism", "ist", "ate", "ics", "ous", "al", "ic", "it", "iv", "iz", "at"),
)
"""Endings by which one word is derived from another, longest first; some as stems leave them."""


def consist_of(words: WordSpans, allowed: BoolArray) -> BoolArray:
    """Return which words ``(m,)`` have only the characters at ``allowed`` places ``(c,)``."""
    others = np.zeros(len(words.codes) + 1, np.int32)
    np.cumsum(~allowed, dtype=np.int32, out=others[1:])
    same: BoolArray = others[words.ends] == others[words.starts]
    return same


def stem_ends(words: WordSpans) -> IntArray:
    """Return where each word's stem ends, ``(m,)``.

    The stems are those of :func:`pgs_neo4j.text.words.stem`: only words of the letters a to z have
    an ending removed.
    """
    codes, starts, ends = words.codes, words.starts, words.ends.copy()
    plain = consist_of(words, (codes >= ord("a")) & (codes <= ord("z")))
    open_ = plain & (words.lengths > 0)
    for suffix in SUFFIXES:
        least = len(suffix) + (3 if suffix == "s" else MIN_STEM)
        found = np.flatnonzero(open_ & (words.lengths >= least))
        for back, letter in enumerate(reversed(suffix), start=1):
            found = found[codes[words.ends[found] - back] == ord(letter)]
        if suffix == "s":  # not of "process", "focus", "basis"
            found = found[~np.isin(codes[words.ends[found] - 2], [ord(c) for c in "sui"])]
        ends[found] -= len(suffix)
        open_[found] = False
    long = np.flatnonzero(plain & (ends - starts > MIN_STEM))
    last = codes[ends[long] - 1]
    double = (last == codes[ends[long] - 2]) & (last != ord("s")) & (last != ord("z"))
    ends[long[double]] -= 1
    long = np.flatnonzero(plain & (ends - starts >= MIN_STEM))
    ends[long[codes[ends[long] - 1] == ord("e")]] -= 1
    return ends


def family_ends(words: WordSpans, ends: IntArray) -> IntArray:
    """Return where the root ends that words derived from each other have in common, ``(m,)``.

    ``ends`` ``(m,)`` are those of the stems. "organize", "organization", and "organizational" share
    a root, which may be no word. Like stems, only words of the letters a to z lose an ending, one
    of ``DERIVED``, and then a last e, i, or y, and a doubled letter. This follows the second half
    of Porter's algorithm (1980), and is simpler: an ending is never replaced by another one.
    """
    codes, starts, ends = words.codes, words.starts, ends.copy()
    plain = consist_of(words, (codes >= ord("a")) & (codes <= ord("z")))
    open_ = plain & (ends - starts > MIN_STEM)
    for suffix in DERIVED:
        found = np.flatnonzero(open_ & (ends - starts >= len(suffix) + MIN_STEM))
        for back, letter in enumerate(reversed(suffix), start=1):
            found = found[codes[ends[found] - back] == ord(letter)]
        ends[found] -= len(suffix)
        open_[found] = False
    for letters in ("iy", "e"):
        long = np.flatnonzero(plain & (ends - starts > MIN_STEM))
        cut = np.isin(codes[ends[long] - 1], [ord(letter) for letter in letters])
        ends[long[cut]] -= 1
    long = np.flatnonzero(plain & (ends - starts > MIN_STEM))
    last = codes[ends[long] - 1]
    double = (last == codes[ends[long] - 2]) & (last != ord("s")) & (last != ord("z"))
    ends[long[double]] -= 1
    return ends
