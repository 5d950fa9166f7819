"""Finds analogies: pairs of texts with different words and similar skeletons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_SKELETON = 0.45
"""Minimum cosine of two skeletons; the published default of Isomorphic."""
LEAST_DELTA = 0.08
"""Minimum difference between the cosines of the skeletons and of the texts; also published."""
PARTNERS = 10
"""Pairs kept for each node: the pairs with the largest difference."""
COMMONPLACE = 0.05
"""A skeleton that matches this share of all nodes is commonplace: its matches mean nothing."""
LEAST_COMMON = 8
"""Minimum number of matches of a commonplace skeleton, so that a small graph can have analogies."""
BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of nodes, by their places, with the cosines of their skeletons and texts ``(m,)``.

    The first place is below the second, and pairs are in order of places. ``commonplace`` ``(c,)``
    are the places of commonplace skeletons, which were left out.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    skeleton: NDArray[np.float32]
    raw: NDArray[np.float32]
    commonplace: NDArray[np.int64]

    @property
    def delta(self) -> NDArray[np.float32]:
        """Return how much more alike the skeletons are than the texts, ``(m,)``."""
        return self.skeleton - self.raw


def find_pairs(
    texts: NDArray[np.float32], skeletons: NDArray[np.float32], *, nodes: int | None = None
) -> Pairs:
    """Return the analogies among nodes, compared exactly, block by block.

    ``texts`` and ``skeletons`` are ``(n, d)`` rows of unit length, from the same embedder. A row of
    zeros matches nothing. A pair stays if it is among the best pairs of either node. The size of
    the graph decides which skeletons are commonplace; pass it as ``nodes`` if the rows are only
    part of the graph.
    """
    common = _flag_commonplace(skeletons, len(skeletons) if nodes is None else nodes)
    places = np.flatnonzero(~common)
    own = [
        _find_partners(texts[places], skeletons[places], block)
        for block in _split_blocks(len(places))
    ]
    empty = np.empty(0, np.int64)
    rows, columns = (
        np.concatenate([part[side] for part in own]) if own else empty for side in (0, 1)
    )
    # Both nodes may have kept the same pair, so it may occur twice.
    codes = np.unique(np.minimum(rows, columns) * len(places) + np.maximum(rows, columns))
    one, other = np.divmod(codes, max(len(places), 1))
    first, second = places[one], places[other]
    return Pairs(
        first=first,
        second=second,
        skeleton=_compute_cosines(skeletons, first, second),
        raw=_compute_cosines(texts, first, second),
        commonplace=np.flatnonzero(common),
    )


def _split_blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))


def _flag_commonplace(skeletons: NDArray[np.float32], nodes: int) -> NDArray[np.bool_]:
    """Flag skeletons ``(n,)`` that match too many others, in a graph of ``nodes`` nodes."""
    count = len(skeletons)
    matches = np.zeros(count, np.int64)
    for block in _split_blocks(count):
        matches[block] = ((skeletons[block] @ skeletons.T) >= LEAST_SKELETON).sum(axis=1)
    return matches - 1 >= max(COMMONPLACE * nodes, LEAST_COMMON)


def _find_partners(
    texts: NDArray[np.float32], skeletons: NDArray[np.float32], block: slice
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of a block and their best partners, as places."""
    alike = skeletons[block] @ skeletons.T
    delta = alike - texts[block] @ texts.T
    delta[alike < LEAST_SKELETON] = -np.inf
    inside = np.arange(block.start, block.stop)
    delta[inside - block.start, inside] = -np.inf
    kept = min(PARTNERS, delta.shape[1])
    best = np.argpartition(-delta, kept - 1, axis=1)[:, :kept]
    good = np.take_along_axis(delta, best, axis=1) >= LEAST_DELTA
    rows = np.broadcast_to(inside[:, None], best.shape)
    return rows[good], best[good]


def _compute_cosines(
    vectors: NDArray[np.float32], first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float32]:
    cosines: NDArray[np.float32] = np.einsum("ij,ij->i", vectors[first], vectors[second])
    return cosines
