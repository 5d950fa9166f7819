"""Divides a text that is longer than a model reads, and joins the vectors of its pieces.

The vector of such a text is the mean of the vectors of its pieces, weighted by their length and
scaled to length 1. That is the method that OpenAI's cookbook describes for texts longer than the
context of an embedding model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.text.cut import MARGIN, chunks
from pgs_neo4j.text.token_floor import UNSPACED_PER_TOKEN, measure
from pgs_neo4j.text.tokens import estimate

Script = Literal["Latin", "spaced", "unspaced"]
"""``spaced`` are other scripts with spaces between words, ``unspaced`` those without."""

_FOREIGN = re.compile("[^\x00-\x7f]+")
LEAST_CHARACTERS = 20
"""Of a text that is divided until an endpoint accepts its pieces."""
SURELY_READ = 32
"""Tokens by estimate that every model reads of a text: some read 128, and a token has a byte."""
FOREIGN_SHARE = 0.1
"""Of the letters of a text in Latin, at most, that are not ASCII."""
EVEN = 1.05  # room of a piece, so that words at the ends do not make another piece


def weigh(text: str) -> int:
    """Return the tokens of a text by estimate, also for code and lists, which have many marks."""
    tokens = estimate(text)
    return tokens if tokens <= SURELY_READ else max(tokens, ceil(measure(text).runs))


def name_script(text: str) -> Script:
    """Return how a text is written.

    Tokens of one vocabulary are alike in it, whatever the estimate: a model that was made for
    English takes each letter of Russian as a token.
    """
    if text.isascii():
        return "Latin"
    foreign = sum(map(len, _FOREIGN.findall(text)))
    if foreign <= FOREIGN_SHARE * len(text):
        return "Latin"
    unspaced = measure(text).unspaced * UNSPACED_PER_TOKEN
    return "unspaced" if unspaced > foreign / 2 else "spaced"


def divide_text(text: str, most: int) -> list[str]:
    """Return pieces of a text that are about equally long, of about ``most`` tokens or fewer.

    They end at words where possible, and hold all of the text but blank pieces.
    """
    text = text.encode("utf-8", "replace").decode()  # ``chunks`` takes no lone surrogates
    tokens = weigh(text)
    if tokens <= most:
        return [text]
    count = ceil(tokens / most)
    size = len(text.encode())
    room = max(MARGIN + 4, min(ceil(EVEN * size / count) + MARGIN, size * most // tokens))
    return [piece for piece in chunks(text, (room, room)) if piece.strip()]


def join_pieces(
    vectors: Sequence[NDArray[np.float32]], weights: Sequence[int]
) -> NDArray[np.float32]:
    """Return the unit vector ``(d,)`` of a text from those of its pieces ``(n, d)``."""
    if len(vectors) == 1:
        return vectors[0]
    shares = np.asarray(weights, np.float64)
    mean = np.asarray(vectors, np.float64).T @ (shares / shares.sum())
    return unit(mean).astype(np.float32)
