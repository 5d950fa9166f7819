"""Finds texts of unlike words whose skeletons are alike: pairs of an analogy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_SKELETON = 0.45
"""Least cosine of two skeletons (Isomorphic, published default)."""
LEAST_DELTA = 0.08
"""Least difference between the cosine of the skeletons and that of the texts (the same)."""
PARTNERS = 10
"""Pairs kept for each node: those with the largest difference."""
COMMONPLACE = 0.05
"""Share of nodes from which a skeleton that matches them says nothing."""
LEAST_COMMON = 8
"""Fewest matches of a commonplace skeleton, so that a small graph may have analogies."""
BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of places, the first below the second, with their cosines ``(m,)``.

    They are in order of places. ``commonplace`` are the places left out, ``(c,)``.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    skeleton: NDArray[np.float32]
    raw: NDArray[np.float32]
    commonplace: NDArray[np.int64]

    @property
    def delta(self) -> NDArray[np.float32]:
        """How much more alike the skeletons are than the texts ``(m,)``."""
        return self.skeleton - self.raw


def find_pairs(
    texts: NDArray[np.float32], skeletons: NDArray[np.float32], *, nodes: int | None = None
) -> Pairs:
    """Return the analogies among nodes, compared exactly, block by block.

    Both are ``(n, d)`` in unit rows, of the same embedder. A row of zeros matches nothing. A pair
    stays if it is among the best partners of either node. They may be a part of a graph with
    ``nodes`` nodes, whose share decides what is commonplace.
    """
    common = _commonplace(skeletons, len(skeletons) if nodes is None else nodes)
    places = np.flatnonzero(~common)
    own = [_best_of(texts[places], skeletons[places], block) for block in _blocks(len(places))]
    empty = np.empty(0, np.int64)
    rows, columns = (
        np.concatenate([part[side] for part in own]) if own else empty for side in (0, 1)
    )
    # Both nodes may have kept the pair.
    codes = np.unique(np.minimum(rows, columns) * len(places) + np.maximum(rows, columns))
    one, other = np.divmod(codes, max(len(places), 1))
    first, second = places[one], places[other]
    return Pairs(
        first=first,
        second=second,
        skeleton=_cosines(skeletons, first, second),
        raw=_cosines(texts, first, second),
        commonplace=np.flatnonzero(common),
    )


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))


def _commonplace(skeletons: NDArray[np.float32], nodes: int) -> NDArray[np.bool_]:
    """Return which skeletons ``(n,)`` too many others match, in a graph of ``nodes``."""
    count = len(skeletons)
    matches = np.zeros(count, np.int64)
    for block in _blocks(count):
        matches[block] = ((skeletons[block] @ skeletons.T) >= LEAST_SKELETON).sum(axis=1)
    return matches - 1 >= max(COMMONPLACE * nodes, LEAST_COMMON)


def _best_of(
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


def _cosines(
    vectors: NDArray[np.float32], first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float32]:
    cosines: NDArray[np.float32] = np.einsum("ij,ij->i", vectors[first], vectors[second])
    return cosines
