"""Finds the stems of words by array operations."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.text.terms.characters import BoolArray
from pgs_neo4j.text.terms.spans import IntArray, WordSpans
from pgs_neo4j.text.words import MIN_STEM, SUFFIXES


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
