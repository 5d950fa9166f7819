"""Node weights where the graph has none, or not everywhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def degrees(source: IntArray, target: IntArray, count: int) -> FloatArray:
    """Relationships per node, self-loops left out; (count,) float64."""
    proper = source != target
    ends = np.concatenate([source[proper], target[proper]])
    return np.bincount(ends, minlength=count).astype(np.float64)


def complete(weight: FloatArray, degree: FloatArray) -> FloatArray:
    """Weights (n,) without gaps: NaN becomes a weight by degree, a negative one 0.

    Where no node has a weight, it is the degree, and 1 for an isolated node. Where some
    have one, a gap gets the median of the known weights scaled by degree over mean degree
    and kept within the known range, so that it neither leads nor vanishes.
    """
    known = np.isfinite(weight)
    if not known.any():
        return np.maximum(degree, 1.0)
    given = np.maximum(weight[known], 0.0)
    mean_degree = degree.mean() if len(degree) else 0.0
    scale = degree / mean_degree if mean_degree > 0 else np.ones_like(degree)
    filled = np.clip(np.median(given) * scale, given.min(), given.max())
    return np.where(known, np.maximum(weight, 0.0), filled)


def ranks(label: IntArray, weight: FloatArray) -> IntArray:
    """Place of each node in its part, heaviest first, ties by node index; (n,) from 0."""
    order = np.lexsort((np.arange(len(label)), -weight, label))
    sizes = np.bincount(label) if len(label) else np.empty(0, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(label), dtype=np.int64)
    place[order] = np.arange(len(label)) - starts[label[order]]
    return place
