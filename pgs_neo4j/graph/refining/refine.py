"""Refines partitions by moves that gain modularity and keep the limits.

A limit cuts communities where modularity would not, and merging places only whole communities. So
some nodes share more weight with a neighboring partition than with their own. They move first.
Where the limits still cost much, groups of nodes move that would not leave one by one (multi-level
refinement, Rotta and Noack 2011).
"""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import (
    BoolArray,
    Edges,
    FloatArray,
    IntArray,
    contracted,
    dense,
    renumbered,
    strengths,
    totals,
    within,
)
from pgs_neo4j.graph.quality import modularity
from pgs_neo4j.graph.recluster import recluster
from pgs_neo4j.graph.refining.moves import Units, move_units, touching

COSTLY = 0.01
"""Groups move where the limits cost more than this share of the communities' modularity. On
lfr_1e6 they cost 0.4 %, and groups would regain a tenth of that in as much time as all the rest."""

CYCLES = 2
"""Times that groups are formed and moved; a third time gains less than a thousandth."""


def refine(
    edges: Edges,
    labels: IntArray,
    communities: IntArray,
    tokens: IntArray,
    limits: Limits,
    nodes: IntArray | None = None,
) -> IntArray:
    """Return labels ``0 .. k-1`` after moves that gain modularity.

    Nodes move, and where it pays, groups. ``labels`` ``(n,)`` are partitions made from
    ``communities`` ``(n,)``, both numbered from 0. ``tokens`` and ``nodes`` (the nodes that each
    entry stands for) are ``(n,)``, and so is the result. Moves keep the limits
    (:func:`pgs_neo4j.graph.refining.moves.move_units`), and modularity never falls. Groups are the
    communities inside a partition, if that is not itself a community.
    """
    if not edges.total:
        return dense(labels)
    strength = strengths(edges)
    count = np.ones_like(tokens) if nodes is None else nodes
    parts = _move_nodes(edges, labels, tokens, count, strength, limits)
    whole = modularity(edges, communities, strength)
    rough = _rough(labels, communities)
    for _ in range(CYCLES):
        if whole - modularity(edges, parts, strength) <= COSTLY * whole:
            break
        parts = _move_groups(edges, parts, rough, tokens, count, strength, limits)
        parts = _move_nodes(edges, parts, tokens, count, strength, limits)
    return parts


def _move_nodes(
    edges: Edges,
    parts: IntArray,
    tokens: IntArray,
    count: IntArray,
    strength: FloatArray,
    limits: Limits,
) -> IntArray:
    """Return the partitions ``(n,)`` after moves of single entries."""
    free = np.ones(parts.size, dtype=np.bool_)
    units = Units(count, tokens, strength, strength, free, edges.total)
    return dense(move_units(edges, parts, units, limits))


def _move_groups(
    edges: Edges,
    parts: IntArray,
    rough: BoolArray,
    tokens: IntArray,
    count: IntArray,
    strength: FloatArray,
    limits: Limits,
) -> IntArray:
    """Return the partitions ``(n,)`` after moves of groups; ``rough`` is ``(n,)``.

    Partitions whose nodes are not mostly rough stay whole.
    """
    open_parts = 2 * totals(parts, rough) > np.bincount(parts)
    nodes = np.flatnonzero(open_parts[parts])
    inner = renumbered(within(edges, parts, open_parts), nodes)
    group = parts.copy()
    group[nodes] = open_parts.size + recluster(inner, dense(parts[nodes]))
    group = dense(group)
    of = np.empty(int(group.max(initial=-1)) + 1, dtype=np.int64)
    of[group] = parts
    between = contracted(touching(edges, open_parts[parts]), group)
    units = Units(
        totals(group, count).astype(np.int64),
        totals(group, tokens).astype(np.int64),
        totals(group, strength),
        strengths(between),
        open_parts[of],
        edges.total,
    )
    return dense(move_units(between, of, units, limits)[group])


def _rough(labels: IntArray, communities: IntArray) -> BoolArray:
    """Return the nodes ``(n,)`` whose partition is not exactly their community."""
    rough: BoolArray = _differing(labels, communities) | _differing(communities, labels)
    return rough


def _differing(whole: IntArray, part: IntArray) -> BoolArray:
    """Return the nodes of a ``whole`` with several parts; all ``(n,)``."""
    first = np.zeros(int(whole.max(initial=-1)) + 1, dtype=np.int64)
    first[whole] = part
    differs = np.zeros(first.size, dtype=np.bool_)
    differs[whole[first[whole] != part]] = True
    flags: BoolArray = differs[whole]
    return flags
