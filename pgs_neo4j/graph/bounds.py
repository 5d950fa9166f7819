"""Limits of a partition, in nodes and in estimated tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgs_neo4j.graph.csr import BoolArray, FloatArray, IntArray, totals

SLACK = 0.1
"""A light community may exceed the maximum number of nodes by this share."""

LIGHT = 0.1
"""A community is light if it has at most this share of the maximum number of tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a partition, in nodes and tokens.

    The defaults 30 and 1800 come from the published method. With ``max_tokens`` None, the text is
    unlimited. Raises ValueError when the limits contradict each other.
    """

    min_nodes: int = 30
    max_nodes: int = 1800
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.min_nodes <= self.max_nodes:
            raise ValueError("limits must satisfy 1 <= min_nodes <= max_nodes")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError("max_tokens must be at least 1, or None for no limit")

    def fits(self, nodes: IntArray, tokens: IntArray) -> BoolArray:
        """Return whether parts of these sizes are allowed; a single node is always allowed.

        All arrays are ``(k,)``, one entry per part.
        """
        fits = nodes <= self.max_nodes
        if self.max_tokens is not None:
            fits &= tokens <= self.max_tokens
        return fits | (nodes <= 1)

    def stands(self, nodes: IntArray, tokens: IntArray) -> BoolArray:
        """Return whether communities found in the graph may stay undivided.

        All arrays are ``(k,)``. The rule is looser than ``fits``. Limits represent the effort of
        reading a partition, which depends on its text: 1,900 single words read faster than 60
        chapters. So a light community may exceed the maximum number of nodes by ``SLACK``, because
        a cut would separate closely connected nodes. Without text, or without a token limit, no
        community can be recognized as light, and the maximum applies. No step makes a part that
        large on purpose: joining and pooling follow ``fits``.
        """
        fits = self.fits(nodes, tokens)
        if self.max_tokens is None:
            return fits
        light = (tokens > 0) & (tokens <= LIGHT * self.max_tokens)
        return fits | (light & (nodes - self.max_nodes <= SLACK * self.max_nodes))

    def small(self, nodes: IntArray, tokens: IntArray) -> BoolArray:
        """Return whether parts are too small: few nodes and few tokens.

        Few means fewer nodes than the minimum, and fewer tokens than half of the maximum. All
        arrays are ``(k,)``.
        """
        small = nodes < self.min_nodes
        if self.max_tokens is not None:
            small &= 2 * tokens < self.max_tokens
        return small

    def load(self, nodes: IntArray, tokens: IntArray) -> FloatArray:
        """Return how much of the limits parts use, as shares.

        A share is counted by nodes or by tokens, whichever is larger. All arrays are ``(k,)``.
        """
        load = nodes / self.max_nodes
        if self.max_tokens is not None:
            load = np.maximum(load, tokens / self.max_tokens)
        return load


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Nodes and tokens of each part, both ``(k,)`` int64."""

    nodes: IntArray
    tokens: IntArray


def sizes_of(labels: IntArray, tokens: IntArray, nodes: IntArray | None = None) -> Sizes:
    """Return nodes and tokens per label ``0 .. k-1``.

    ``labels``, ``tokens``, and ``nodes`` are ``(n,)``. ``nodes`` counts the nodes that each entry
    stands for, one by default. Sums are exact below 2**53.
    """
    count = np.bincount(labels) if nodes is None else totals(labels, nodes).astype(np.int64)
    return Sizes(count, totals(labels, tokens).astype(np.int64))
