"""Divides texts into batches whose arrays fit the processor's caches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from pgs_neo4j.text.terms.spans import TEXT_BITS, IntArray

BATCH = 1 << 20  # characters to split together


def batches(texts: Sequence[str]) -> Iterator[tuple[Sequence[str], IntArray]]:
    """Yield pieces of texts and the places ``(k,)`` of their texts, ``BATCH`` characters at a time.

    Only a longer text is cut, at a blank if possible.
    """
    pieces, places = texts, np.arange(len(texts))
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    if lengths.max(initial=0) > BATCH:
        parts = [list(_pieces(text)) for text in texts]
        pieces, places = list(chain(*parts)), np.repeat(places, list(map(len, parts)))
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    ends = np.cumsum(lengths)
    start = 0
    while start < len(pieces):
        most = ends[start] - lengths[start] + BATCH
        stop = max(start + 1, int(np.searchsorted(ends, most, side="right")))
        stop = min(stop, start + (1 << TEXT_BITS))
        yield pieces[start:stop], places[start:stop]
        start = stop


def is_cut(text: str) -> bool:
    """Return whether a text is longer than a batch."""
    return len(text) > BATCH


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > BATCH:
        blank = text.rfind(" ", start + BATCH // 2, start + BATCH)
        end = blank if blank > 0 else start + BATCH
        yield text[start:end]
        start = end
    yield text[start:]
