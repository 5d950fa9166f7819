"""Divides every community that is over the limits until each part fits."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import BoolArray, Edges, IntArray, dense, renumbered, within
from pgs_neo4j.graph.halve import halve
from pgs_neo4j.graph.recluster import recluster

STUCK = 0.75
"""A part with more than this share of its community's load counts as nearly whole."""


def split(
    edges: Edges,
    labels: IntArray,
    tokens: IntArray,
    limits: Limits,
    nodes: IntArray | None = None,
) -> IntArray:
    """Return labels ``0 .. k-1`` that refine ``labels`` until parts are allowed.

    ``labels``, ``tokens``, and ``nodes`` (the nodes that each entry stands for, one without it) are
    ``(n,)``, and so is the result. A community that may not stand is
    re-clustered with the edges inside it; parts still nearly whole are halved. This repeats until
    all parts are communities that stand or halves that fit. A node that exceeds the tokens alone
    becomes a part of its own. All communities are worked on at the same time.
    """
    parts, count = dense(labels), np.ones_like(labels) if nodes is None else nodes
    half = np.zeros(parts.size, dtype=np.bool_)
    if limits.max_tokens is not None:
        parts = _alone(parts, tokens > limits.max_tokens)
    while True:
        sizes = sizes_of(parts, tokens, count)
        over = ~limits.stands(sizes.nodes, sizes.tokens)
        over[parts[half]] = ~limits.fits(sizes.nodes, sizes.tokens)[parts[half]]
        chosen = np.flatnonzero(over[parts])
        if not chosen.size:
            return parts
        edges = within(edges, parts, over)
        # members of one community side by side, so that neighbors are near in memory
        chosen = chosen[np.argsort(parts[chosen], kind="stable")]
        divided, half[chosen] = _divide(
            renumbered(edges, chosen), dense(parts[chosen]), tokens[chosen], count[chosen], limits
        )
        parts[chosen] = divided + sizes.nodes.size
        parts = dense(parts)


def _alone(parts: IntArray, giant: BoolArray) -> IntArray:
    """Return the parts ``(n,)`` with each giant node as a separate part."""
    apart = parts.copy()
    apart[giant] = parts.size + np.arange(np.count_nonzero(giant))
    return dense(apart)


def _divide(
    edges: Edges, group: IntArray, tokens: IntArray, count: IntArray, limits: Limits
) -> tuple[IntArray, BoolArray]:
    """Divide every group ``(n,)``; also flag nodes ``(n,)`` in a half.

    No part that may not stand is nearly the whole group.
    """
    parts = recluster(edges, group)
    sizes, whole = sizes_of(parts, tokens, count), sizes_of(group, tokens, count)
    owner = np.empty(sizes.nodes.size, dtype=np.int64)
    owner[parts] = group
    part_load = limits.load(sizes.nodes, sizes.tokens)
    stuck = part_load > STUCK * limits.load(whole.nodes, whole.tokens)[owner]
    # a half that could stand as a community comes back to be divided, so it must be
    undivided = sizes.nodes == whole.nodes[owner]
    stuck &= undivided | ~limits.stands(sizes.nodes, sizes.tokens)
    half = stuck[parts]
    nodes = np.flatnonzero(half)
    if nodes.size:
        inner = renumbered(within(edges, parts, stuck), nodes)
        cost = limits.load(count[nodes], tokens[nodes])
        parts[nodes] += halve(inner, dense(parts[nodes]), cost) * sizes.nodes.size
    return parts, half
