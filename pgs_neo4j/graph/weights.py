"""Fills in node weights for graphs that store no weights, or not for all nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def degrees(source: IntArray, target: IntArray, count: int) -> FloatArray:
    """Return the number of relationships per node, without self-loops: ``(count,)`` float64.

    ``source`` and ``target`` are ``(m,)``.
    """
    proper = source != target
    ends = np.concatenate([source[proper], target[proper]])
    return np.bincount(ends, minlength=count).astype(np.float64)


def complete(weight: FloatArray, degree: FloatArray) -> FloatArray:
    """Fill gaps in weights ``(n,)``: NaN becomes a weight by degree.

    ``degree`` is ``(n,)``. A negative weight becomes 0. If no node has a weight, each gets its
    degree, and an isolated node gets 1. If some nodes have a weight, a gap gets their median,
    scaled by degree over mean degree and clipped to the range of their weights.
    """
    finite = np.isfinite(weight)
    if not finite.any():
        return np.maximum(degree, 1.0)
    usable = np.maximum(weight[finite], 0.0)
    mean_degree = degree.mean() if len(degree) else 0.0
    scale = degree / mean_degree if mean_degree > 0 else np.ones_like(degree)
    filled = np.clip(np.median(usable) * scale, usable.min(), usable.max())
    return np.where(finite, np.maximum(weight, 0.0), filled)


def ranks(label: IntArray, weight: FloatArray) -> IntArray:
    """Return positions ``(n,)`` of nodes in their part, from 0, heaviest first.

    ``label`` and ``weight`` are ``(n,)``. Ties go by node index.
    """
    order = np.lexsort((np.arange(len(label)), -weight, label))
    sizes = np.bincount(label) if len(label) else np.empty(0, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(label), dtype=np.int64)
    place[order] = np.arange(len(label)) - starts[label[order]]
    return place
