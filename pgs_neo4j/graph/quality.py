"""Measures the quality of a partitioning: modularity and conductance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pgs_neo4j.graph.csr import Edges, FloatArray, IntArray, strengths, totals


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """The figures of one partitioning; ``conductance`` is ``(k,)``."""

    modularity: float
    conductance: FloatArray = field(repr=False)

    @property
    def mean_conductance(self) -> float:
        """The unweighted mean over the partitions; 0 if there are none."""
        return float(self.conductance.mean()) if self.conductance.size else 0.0


def quality(edges: Edges, labels: IntArray) -> Quality:
    """Return modularity and conductance for ``labels`` ``(n,)``, which count from 0."""
    return Quality(modularity(edges, labels), conductance(edges, labels))


def modularity(edges: Edges, labels: IntArray, strength: FloatArray | None = None) -> float:
    """Return Newman and Girvan's Q with weights, without self-loops.

    ``labels`` and ``strength`` are ``(n,)``. Pass ``strength``, the weight at each node, if it is
    already known. The result is 0 for a graph without weight.
    """
    total = edges.total
    if not total:
        return 0.0
    inside = edges.weight[labels[edges.source] == labels[edges.target]].sum()
    share = totals(labels, strengths(edges) if strength is None else strength) / (2 * total)
    return float(inside / total - share @ share)


def conductance(edges: Edges, labels: IntArray) -> FloatArray:
    """Return the conductance of each label ``(k,)``.

    It is the weight of the edges that leave a label, divided by the weight of the smaller side.
    ``labels`` ``(n,)`` count from 0. Values are from 0 to 1. A label that no weight leaves has
    conductance 0, even if it has no edges.
    """
    strength = strengths(edges)
    volume = totals(labels, strength)
    source, target = labels[edges.source], labels[edges.target]
    crossing = np.where(source != target, edges.weight, 0.0)
    cut = totals(source, crossing, volume.size) + totals(target, crossing, volume.size)
    smaller = np.minimum(volume, strength.sum() - volume)
    share: FloatArray = np.divide(cut, smaller, out=np.zeros(volume.size), where=smaller > 0)
    return share
