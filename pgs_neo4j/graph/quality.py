"""How good a partitioning is: modularity, conductance, and sizes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pgs_neo4j.graph.csr import Edges, FloatArray, IntArray, strengths, totals

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of the sizes, as reported: smallest, quartiles, largest."""


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """The figures of one partitioning; ``conductance`` is ``(k,)``, sizes are in nodes."""

    modularity: float
    conductance: FloatArray = field(repr=False)
    size_quantiles: tuple[float, ...]
    largest_share: float

    @property
    def mean_conductance(self) -> float:
        """Unweighted mean over the partitions, 0 without any."""
        return float(self.conductance.mean()) if self.conductance.size else 0.0


def quality(edges: Edges, labels: IntArray) -> Quality:
    """All figures for labels ``0 .. k-1``."""
    sizes = np.bincount(labels)
    quantiles = np.quantile(sizes, QUANTILES) if sizes.size else np.zeros(len(QUANTILES))
    return Quality(
        modularity=modularity(edges, labels),
        conductance=conductance(edges, labels),
        size_quantiles=tuple(float(size) for size in quantiles),
        largest_share=float(sizes.max() / labels.size) if sizes.size else 0.0,
    )


def modularity(edges: Edges, labels: IntArray) -> float:
    """Newman and Girvan's Q with weights, self-loops left out; 0 for a graph without weight."""
    total = edges.total
    if not total:
        return 0.0
    inside = edges.weight[labels[edges.source] == labels[edges.target]].sum()
    share = totals(labels, strengths(edges)) / (2 * total)
    return float(inside / total - share @ share)


def conductance(edges: Edges, labels: IntArray) -> FloatArray:
    """Of each label ``(k,)``: weight that leaves it over the smaller side's weight, 0 to 1.

    0 where nothing leaves, and so for a partition without edges.
    """
    strength = strengths(edges)
    volume = totals(labels, strength)
    source, target = labels[edges.source], labels[edges.target]
    crossing = np.where(source != target, edges.weight, 0.0)
    cut = totals(source, crossing, volume.size) + totals(target, crossing, volume.size)
    smaller = np.minimum(volume, strength.sum() - volume)
    share: FloatArray = np.divide(cut, smaller, out=np.zeros(volume.size), where=smaller > 0)
    return share
