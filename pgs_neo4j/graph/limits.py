"""Brings communities within the limits: split, merge, refine, and pool."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.connected import connect
from pgs_neo4j.graph.csr import BoolArray, Edges, IntArray, counted, dense
from pgs_neo4j.graph.merge import join_siblings, merge
from pgs_neo4j.graph.pool import pool
from pgs_neo4j.graph.refine import refine
from pgs_neo4j.graph.split import split

__all__ = ["Limited", "Limits", "apply_limits", "largest_first", "renumbered", "repool", "spread"]


@dataclass(frozen=True, slots=True, eq=False)
class Limited:
    """A partitioning within limits, and how it was reached.

    ``labels`` ``(n,)`` count from 0, largest partition first, ties by the lowest node. ``pool``
    ``(k,)`` flags pools: partitions of nodes that no edge could place. ``split`` counts the
    communities that were divided, and ``merged`` the parts that joined another. ``unpooled``
    ``(n,)`` are the labels before pooling.
    """

    labels: IntArray
    pool: BoolArray
    split: int
    merged: int
    unpooled: IntArray = field(repr=False)

    @property
    def partition_count(self) -> int:
        """Number of partitions."""
        return self.pool.size

    @property
    def pooled_nodes(self) -> int:
        """Number of nodes in pools."""
        return int(np.count_nonzero(self.pool[self.labels]))


def apply_limits(
    edges: Edges,
    labels: IntArray,
    tokens: IntArray,
    limits: Limits,
    pool_order: IntArray | None = None,
    *,
    refined: bool = True,
    nodes: IntArray | None = None,
) -> Limited:
    """Split, merge, refine, and pool communities so that all are within ``limits``.

    ``labels`` ``(n,)`` are communities with any numbers, ``tokens`` ``(n,)`` the estimated tokens
    of each node's text. Every partition then fits the maxima, with two exceptions. A single node
    may exceed ``max_tokens``. A light community of the graph itself may exceed ``max_nodes`` a
    little (:meth:`Limits.stands`). Every partition has at least the minimum number of nodes or half
    of the maximum tokens. Exceptions are pools, and a graph below the minimum, which becomes one
    partition. A partition other than a pool is connected, unless a piece of it would be too small,
    and no neighbor has room for it (:func:`pgs_neo4j.graph.connected.connect`). If all weights are
    zero, each edge weighs 1. ``pool_order`` ``(n,)`` ranks the nodes for dividing a pool that is
    too large. Without ``refined``, no single node moves, and communities that fit stay as they are,
    even if they are in pieces. ``nodes`` ``(n,)`` counts the nodes that each entry stands for, if
    some entries are bundles that stay together. By default, each entry is one node. The result
    depends neither on the order of edges nor on the numbers of labels. Raises ValueError when the
    arrays do not have one entry per node, or tokens are negative.
    """
    _check_arrays(edges.node_count, labels, tokens)
    communities = dense(labels)
    if not communities.size:
        return Limited(communities, np.zeros(0, dtype=np.bool_), 0, 0, communities)
    edges = counted(edges)
    whole = np.zeros_like(communities)
    count = communities.size if nodes is None else int(nodes.sum())
    if count < limits.min_nodes and _all_fit(whole, tokens, limits, nodes):
        is_pool = np.array([not edges.source.size])
        return Limited(whole, is_pool, 0, int(communities.max()), whole)
    limited = _fit_communities(edges, communities, tokens, limits, nodes, refined=refined)
    return repool(limited, tokens, limits, pool_order, nodes)


def repool(
    limited: Limited,
    tokens: IntArray,
    limits: Limits,
    pool_order: IntArray | None = None,
    nodes: IntArray | None = None,
) -> Limited:
    """Return the same partitioning with pools formed in another node order.

    ``tokens``, ``pool_order``, and ``nodes`` are ``(n,)``, as for :func:`apply_limits`. The same
    nodes stay pooled, so callers can look at ``limited.pool`` first. Callers need an order
    (:func:`pgs_neo4j.graph.pool.similarity_order`) only if there is more than one pool, and only
    for the pooled nodes.
    """
    pooled = pool(limited.unpooled, tokens, limits, pool_order, nodes)
    labels = largest_first(pooled.labels, nodes)
    flags = np.zeros_like(pooled.pool)
    flags[labels] = pooled.pool[pooled.labels]
    return replace(limited, labels=labels, pool=flags)


def renumbered(limited: Limited, numbers: IntArray) -> Limited:
    """Return the same partitioning with ``numbers`` ``(k,)`` in place of its labels.

    The numbers need not be in order of size.
    """
    flags = np.zeros_like(limited.pool)
    flags[numbers] = limited.pool
    return replace(limited, labels=numbers[limited.labels], pool=flags)


def spread(limited: Limited, of: IntArray) -> Limited:
    """Turn a partitioning of bundles into one of nodes; ``of`` ``(n,)`` is each node's bundle."""
    return replace(limited, labels=limited.labels[of], unpooled=limited.unpooled[of])


def largest_first(labels: IntArray, nodes: IntArray | None = None) -> IntArray:
    """Return labels ``(n,)`` renumbered ``0 .. k-1`` by falling size.

    ``nodes`` ``(n,)`` counts the nodes of each entry, one by default. Ties go to the lowest entry.
    """
    parts = dense(labels)
    size = sizes_of(parts, np.zeros_like(parts), nodes).nodes
    rank = np.empty(size.size, dtype=np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(size.size)
    ordered: IntArray = rank[parts]
    return ordered


def _fit_communities(
    edges: Edges,
    communities: IntArray,
    tokens: IntArray,
    limits: Limits,
    nodes: IntArray | None,
    *,
    refined: bool,
) -> Limited:
    """Divide, merge, and refine communities ``(n,)`` to fit the limits; form no pools."""
    divided = split(edges, communities, tokens, limits, nodes)
    merged = merge(edges, divided, tokens, limits, nodes)
    joined = join_siblings(edges, merged, tokens, limits, nodes)
    parts = joined
    if refined:
        moved = refine(edges, joined, communities, tokens, limits, nodes)
        parts = connect(edges, moved, tokens, limits, nodes)
    pieces = np.bincount(communities[np.unique(divided, return_index=True)[1]])
    return Limited(
        labels=parts,
        pool=np.zeros(int(parts.max()) + 1, dtype=np.bool_),
        split=int(np.count_nonzero(pieces > 1)),
        merged=int(divided.max() - joined.max()),
        unpooled=parts,
    )


def _check_arrays(node_count: int, labels: IntArray, tokens: IntArray) -> None:
    """Raise ValueError if the arrays do not describe the same nodes, or tokens are negative."""
    if labels.shape != (node_count,) or tokens.shape != (node_count,):
        raise ValueError(f"labels and tokens must have one entry for each of {node_count} nodes")
    if tokens.size and tokens.min() < 0:
        raise ValueError("a node has a negative number of tokens")


def _all_fit(labels: IntArray, tokens: IntArray, limits: Limits, nodes: IntArray | None) -> bool:
    """Return whether every part is within the maxima."""
    sizes = sizes_of(labels, tokens, nodes)
    return bool(limits.fits(sizes.nodes, sizes.tokens).all())
