"""Divides every community that is over the limits until each part fits."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import BoolArray, Edges, IntArray, dense, renumbered, within
from pgs_neo4j.graph.halve import halve
from pgs_neo4j.graph.recluster import recluster

STUCK = 0.75
"""A part with more than this share of its community's load counts as nearly whole."""


def split(edges: Edges, labels: IntArray, tokens: IntArray, limits: Limits) -> IntArray:
    """Return labels ``0 .. k-1`` that refine ``labels`` until parts are allowed.

    ``labels`` and ``tokens`` are ``(n,)``, and so is the result. A community that may not stand is
    re-clustered with the edges inside it; parts still nearly whole are halved. This repeats until
    all parts are communities that stand or halves that fit. A node that exceeds the tokens alone
    becomes a part of its own. All communities are worked on at the same time.
    """
    parts = dense(labels)
    half = np.zeros(parts.size, dtype=np.bool_)
    if limits.max_tokens is not None:
        parts = _alone(parts, tokens > limits.max_tokens)
    while True:
        sizes = sizes_of(parts, tokens)
        over = ~limits.stands(sizes.nodes, sizes.tokens)
        over[parts[half]] = ~limits.fits(sizes.nodes, sizes.tokens)[parts[half]]
        nodes = np.flatnonzero(over[parts])
        if not nodes.size:
            return parts
        edges = within(edges, parts, over)
        # members of one community side by side, so that neighbors are near in memory
        nodes = nodes[np.argsort(parts[nodes], kind="stable")]
        divided, half[nodes] = _divide(
            renumbered(edges, nodes), dense(parts[nodes]), tokens[nodes], limits
        )
        parts[nodes] = divided + sizes.nodes.size
        parts = dense(parts)


def _alone(parts: IntArray, giant: BoolArray) -> IntArray:
    """Return the parts ``(n,)`` with each giant node as a separate part."""
    apart = parts.copy()
    apart[giant] = parts.size + np.arange(np.count_nonzero(giant))
    return dense(apart)


def _divide(
    edges: Edges, group: IntArray, tokens: IntArray, limits: Limits
) -> tuple[IntArray, BoolArray]:
    """Divide every group ``(n,)``; also flag nodes ``(n,)`` in a half.

    No part that may not stand is nearly the whole group.
    """
    parts = recluster(edges, group)
    sizes, whole = sizes_of(parts, tokens), sizes_of(group, tokens)
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
        cost = limits.load(np.ones(nodes.size, dtype=np.int64), tokens[nodes])
        parts[nodes] += halve(inner, dense(parts[nodes]), cost) * sizes.nodes.size
    return parts, half
