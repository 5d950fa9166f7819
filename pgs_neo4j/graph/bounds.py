"""How large and how small a partition may be, in nodes and in estimated tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgs_neo4j.graph.csr import BoolArray, FloatArray, IntArray, totals

SLACK = 0.1
"""Share of the maximum of nodes by which a light community may exceed it."""

LIGHT = 0.1
"""Share of the maximum of tokens up to which a community counts as light."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a partition; the defaults 30 and 1800 are those of the published method.

    ``max_tokens`` None leaves the text unbounded. Raises ValueError when the bounds exclude
    each other.
    """

    min_nodes: int = 30
    max_nodes: int = 1800
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.min_nodes <= self.max_nodes:
            raise ValueError("limits must satisfy 1 <= min_nodes <= max_nodes")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError("max_tokens must be at least 1, or None for no bound")

    def fits(self, nodes: IntArray, tokens: IntArray) -> BoolArray:
        """Whether parts of these sizes may stand; a single node always may."""
        fits = nodes <= self.max_nodes
        if self.max_tokens is not None:
            fits &= tokens <= self.max_tokens
        return fits | (nodes <= 1)

    def stands(self, nodes: IntArray, tokens: IntArray) -> BoolArray:
        """Whether communities that the graph itself made need no division: wider than ``fits``.

        The bounds stand for the effort of reading, and that is in the text: 1,900 single words
        are read sooner than 60 chapters. So a light community may have up to ``SLACK`` more
        nodes than the maximum rather than be torn where it has no seam. Without a text, or
        without a bound for it, nothing says that it is light, and the maximum holds. Nothing
        is ever made that large on purpose: joining and pooling keep to ``fits``.
        """
        fits = self.fits(nodes, tokens)
        if self.max_tokens is None:
            return fits
        light = (tokens > 0) & (tokens <= LIGHT * self.max_tokens)
        return fits | (light & (nodes - self.max_nodes <= SLACK * self.max_nodes))

    def small(self, nodes: IntArray, tokens: IntArray) -> BoolArray:
        """Whether parts are too small: under the minimum, and not yet half full of tokens."""
        small = nodes < self.min_nodes
        if self.max_tokens is not None:
            small &= 2 * tokens < self.max_tokens
        return small

    def load(self, nodes: IntArray, tokens: IntArray) -> FloatArray:
        """The share of the allowance that parts use up, by nodes or tokens, the larger."""
        load = nodes / self.max_nodes
        if self.max_tokens is not None:
            load = np.maximum(load, tokens / self.max_tokens)
        return load


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Nodes and tokens of each part, ``(k,)``."""

    nodes: IntArray
    tokens: IntArray


def sizes_of(labels: IntArray, tokens: IntArray) -> Sizes:
    """Nodes and tokens per label ``0 .. k-1``; token sums are exact below 2**53."""
    return Sizes(np.bincount(labels), totals(labels, tokens).astype(np.int64))
