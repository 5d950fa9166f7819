"""Separates the pieces of partitions that no relationship connects."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import BoolArray, Edges, IntArray, dense
from pgs_neo4j.graph.merge import merge

ROUNDS = 8
"""Maximum number of rounds, which take partitions apart and join some again; two are typical."""


def connect(
    edges: Edges,
    labels: IntArray,
    tokens: IntArray,
    limits: Limits,
    nodes: IntArray | None = None,
) -> IntArray:
    """Return labels ``0 .. k-1`` whose parts are connected, as far as the limits allow.

    ``labels``, ``tokens``, and ``nodes`` (the nodes that each entry stands for) are ``(n,)``, and
    so is the result. Each piece of a part becomes a separate part if it is large enough. A small
    piece joins its most closely connected neighbor, as in :func:`merge`. A part stays in pieces if
    one of them would be too small for a partition, and no neighbor has room for it. Thousands of
    leaves around a full hub are an example. A component of the graph that is itself too small stays
    too small; a pool will collect it.
    """
    parts = dense(labels)
    pieces = components(edges, parts)
    if int(pieces.max(initial=-1)) == int(parts.max(initial=-1)):
        return parts
    # A small piece is a loss only if its part was large enough before, and if it does not lie in a
    # small component of the graph.
    former = _flag_small(parts, tokens, limits, nodes)
    former |= _flag_small(components(edges, np.zeros_like(parts)), tokens, limits, nodes)
    held = np.zeros(int(parts.max()) + 1, dtype=np.bool_)
    for _ in range(ROUNDS):
        apart = dense(np.where(held[parts], parts, held.size + pieces))
        placed = merge(edges, apart, tokens, limits, nodes)
        lost = parts[_flag_small(placed, tokens, limits, nodes) & ~former]
        if not lost.size:
            return placed
        held[lost] = True
    return parts


def count_pieces(edges: Edges, labels: IntArray) -> IntArray:
    """Return how many connected pieces each part ``(k,)`` has; ``labels`` ``(n,)`` are from 0."""
    pieces = components(edges, labels)
    part = np.zeros(int(pieces.max(initial=-1)) + 1, dtype=np.int64)
    part[pieces] = labels
    return np.bincount(part, minlength=int(labels.max(initial=-1)) + 1)


def components(edges: Edges, labels: IntArray) -> IntArray:
    """Return labels ``0 .. c-1`` ``(n,)`` of the connected pieces of parts ``(n,)``.

    A relationship connects its nodes whatever its weight. Each round halves the distance to the
    lowest node of a piece, so about log n rounds are enough.
    """
    inside = labels[edges.source] == labels[edges.target]
    source, target = edges.source[inside], edges.target[inside]
    root = np.arange(labels.size)
    while source.size:
        low = np.minimum(root[source], root[target])
        before = root.copy()
        # Hooking the roots, not the nodes, joins whole trees at once.
        np.minimum.at(root, before[source], low)
        np.minimum.at(root, before[target], low)
        while not np.array_equal(root, up := root[root]):
            root = up
        if np.array_equal(root, before):
            break
    return dense(root)


def _flag_small(
    parts: IntArray, tokens: IntArray, limits: Limits, nodes: IntArray | None
) -> BoolArray:
    """Return whether each node ``(n,)`` is in a part that is too small."""
    sizes = sizes_of(parts, tokens, nodes)
    small: BoolArray = limits.small(sizes.nodes, sizes.tokens)[parts]
    return small
