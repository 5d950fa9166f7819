"""Refine partitions by moves that gain modularity and keep the limits.

A limit cuts communities where modularity would not, and merging places only whole communities. So
some nodes share more weight with a neighboring partition than with their own. They move first.
Where the limits still cost much, groups of nodes move that would not leave one by one (multi-level
refinement, Rotta and Noack 2011).

What moves is a unit: a node, or a group of nodes that stay together. In each round all units look
for a better partition at the same time, and those move that do not disturb each other. So no round
lowers modularity, and no partition is over the limits between rounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import (
    BoolArray,
    Edges,
    FloatArray,
    IntArray,
    contracted,
    dense,
    first_best,
    renumbered,
    run_sums,
    strengths,
    sum_runs,
    totals,
    within,
)
from pgs_neo4j.graph.quality import modularity
from pgs_neo4j.graph.recluster import recluster

COSTLY = 0.01
"""Groups move where the limits cost more than this share of the communities' modularity. On
lfr_1e6 they cost 0.4 %, and groups would regain a tenth of that in as much time as all the rest."""

CYCLES = 2
"""Times that groups are formed and moved; a third time gains less than a thousandth."""

ROUNDS = 20
"""Maximum rounds; later ones are cheap, because they look at fewer units."""

ENOUGH = 1e-5
"""Rounds end when one gains no more modularity than this."""

TIE = 1e-9
"""A gain up to this share of a unit's strength counts as none, against rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Figures of each unit, all ``(u,)``; units that are not ``free`` stay.

    ``outer`` is the weight of a unit's edges to other units, ``strength`` also counts twice those
    inside it. ``total`` is the weight of all edges of the graph.
    """

    nodes: IntArray
    tokens: IntArray
    strength: FloatArray
    outer: FloatArray
    free: BoolArray
    total: float


@dataclass(slots=True, eq=False)
class Standing:
    """The partition of each unit, and figures of the partitions.

    ``of`` is ``(u,)``; ``nodes``, ``tokens``, and ``strength`` are ``(k,)``.
    """

    of: IntArray
    nodes: IntArray
    tokens: IntArray
    strength: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Units with their targets and gains, all ``(p,)``.

    A gain is of one move alone. It is the growth of modularity times the weight of all edges.
    """

    unit: IntArray
    target: IntArray
    gain: FloatArray

    def only(self, chosen: BoolArray | IntArray | slice) -> Moves:
        """Return the chosen moves."""
        return Moves(self.unit[chosen], self.target[chosen], self.gain[chosen])

    def best_first(self) -> Moves:
        """Return the moves by falling gain, ties by unit."""
        return self.only(np.lexsort((self.unit, -self.gain)))


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


def move_units(edges: Edges, parts: IntArray, units: Units, limits: Limits) -> IntArray:
    """Return the partition ``(u,)`` of each unit after moves that gain modularity.

    ``parts`` ``(u,)`` are the partitions before, numbered from 0. ``edges`` between units include
    all edges of free units. A unit moves along an edge into a partition with room for it that is
    not too small. A partition that may stand still may afterwards. Only partitions that were too
    small before become too small or empty. Modularity never falls. Of equal gains, the lower target
    and then the lower unit come first.
    """
    at = _standing(parts, units)
    awake = _restless(edges, at, units)
    for _ in range(ROUNDS):
        near = touching(edges, awake)
        wishes = _wishes(near, at, units, awake)
        moves = _apart(near, _best(wishes, at, units, limits), at.of)
        moves, gain = _gaining(near, _fitting(moves, at, units, limits), at, units)
        at = _standing(_moved(at.of, moves), units)
        if gain <= ENOUGH * units.total:
            break
        awake = _awakened(near, moves, wishes) & units.free
    return at.of


def touching(edges: Edges, chosen: BoolArray) -> Edges:
    """Return the edges with an end in ``chosen`` ``(n,)``, in order."""
    near = np.flatnonzero(chosen[edges.source] | chosen[edges.target])
    return Edges(edges.node_count, edges.source[near], edges.target[near], edges.weight[near])


def _standing(parts: IntArray, units: Units) -> Standing:
    """Return the partitions ``(u,)`` with their figures."""
    nodes = totals(parts, units.nodes).astype(np.int64)
    tokens = totals(parts, units.tokens).astype(np.int64)
    return Standing(parts, nodes, tokens, totals(parts, units.strength))


def _restless(edges: Edges, at: Standing, units: Units) -> BoolArray:
    """Return the free units ``(u,)`` that could gain by a move.

    A unit cannot if its own partition shares more weight with it than all others together.
    """
    cross = np.flatnonzero(at.of[edges.source] != at.of[edges.target])
    n, weight = at.of.size, edges.weight[cross]
    outer = totals(edges.source[cross], weight, n) + totals(edges.target[cross], weight, n)
    chance = units.strength * (at.strength.max(initial=0.0) / (2 * units.total))
    restless: BoolArray = units.free & (outer > 0) & (2 * outer > units.outer - chance)
    return restless


def _wishes(near: Edges, at: Standing, units: Units, awake: BoolArray) -> Moves:
    """Return all moves that gain, by unit, then by target.

    ``awake`` ``(u,)`` are the units to look at. The gain of unit u is
    w(u, target) - w(u, own) - k(u) (K(target) - K(own) + k(u)) / 2m.
    """
    out, back = awake[near.source], awake[near.target]
    owner = np.concatenate((near.source[out], near.target[back]))
    place = at.of[np.concatenate((near.target[out], near.source[back]))]
    weight = np.concatenate((near.weight[out], near.weight[back]))
    key = owner * at.nodes.size + place
    order = np.argsort(key)
    first, shared = sum_runs(key[order], weight[order])
    unit, target = np.divmod(key[order[first]], max(at.nodes.size, 1))
    own, strength = at.of[unit], units.strength[unit]
    inner = np.zeros(at.of.size)
    inner[unit[target == own]] = shared[target == own]
    chance = strength * ((at.strength[target] - at.strength[own] + strength) / (2 * units.total))
    gain = shared - inner[unit] - chance
    gains = (target != own) & (shared > 0) & (gain > TIE * strength)
    return Moves(unit, target, gain).only(gains)


def _best(wishes: Moves, at: Standing, units: Units, limits: Limits) -> Moves:
    """Return the best of each unit's wishes that the limits allow.

    None joins a partition that is too small. Merging could not place it, so it will be pooled.
    """
    nodes, tokens = units.nodes[wishes.unit], units.tokens[wishes.unit]
    allowed = limits.fits(at.nodes[wishes.target] + nodes, at.tokens[wishes.target] + tokens)
    allowed &= ~limits.small(at.nodes, at.tokens)[wishes.target]
    allowed &= _may_shrink(at.of[wishes.unit], nodes, tokens, at, limits)
    wishes = wishes.only(allowed)
    best, top = first_best(wishes.gain, wishes.unit, at.of.size)
    return wishes.only(best[np.flatnonzero(top > -np.inf)])


def _may_shrink(
    part: IntArray, nodes: IntArray, tokens: IntArray, at: Standing, limits: Limits
) -> BoolArray:
    """Return whether partitions may lose a number of nodes and tokens.

    Small ones always may. All arrays are ``(p,)``.
    """
    was_small = limits.small(at.nodes, at.tokens)[part]
    nodes, tokens = at.nodes[part] - nodes, at.tokens[part] - tokens
    stays = (nodes > 0) & ~limits.small(nodes, tokens) & limits.stands(nodes, tokens)
    allowed: BoolArray = was_small | stays
    return allowed


def _apart(near: Edges, moves: Moves, part: IntArray) -> Moves:
    """Return the moves that do not spoil each other; ``part`` is ``(u,)``.

    Neighbors that move the same way help each other. If one moves to the partition that the other
    leaves, only the one with the larger gain moves.
    """
    moves = moves.best_first()
    rank = np.full(part.size, moves.unit.size)
    rank[moves.unit] = np.arange(moves.unit.size)
    goal = np.full(part.size, -1)
    goal[moves.unit] = moves.target
    both = np.flatnonzero((goal[near.source] >= 0) & (goal[near.target] >= 0))
    source, target = near.source[both], near.target[both]
    against = (goal[source] == part[target]) | (goal[target] == part[source])
    stays = np.zeros(moves.unit.size, dtype=np.bool_)
    stays[np.maximum(rank[source], rank[target])[against]] = True
    return moves.only(~stays)


def _fitting(moves: Moves, at: Standing, units: Units, limits: Limits) -> Moves:
    """Return moves that keep the limits together.

    Any subset of them also keeps the limits. ``moves`` and the result are in order of falling gain.
    """
    nodes, tokens = _cumulated(moves, moves.target, units)
    room = limits.fits(at.nodes[moves.target] + nodes, at.tokens[moves.target] + tokens)
    moves = moves.only(room)
    own = at.of[moves.unit]
    return moves.only(_may_shrink(own, *_cumulated(moves, own, units), at, limits))


def _cumulated(moves: Moves, part: IntArray, units: Units) -> tuple[IntArray, IntArray]:
    """Return cumulative nodes and tokens of the moves with the same ``part``.

    All arrays are ``(p,)``.
    """
    order = np.argsort(part, kind="stable")
    nodes, tokens = np.empty_like(part), np.empty_like(part)
    nodes[order] = run_sums(units.nodes[moves.unit[order]], part[order])
    tokens[order] = run_sums(units.tokens[moves.unit[order]], part[order])
    return nodes, tokens


def _gaining(near: Edges, moves: Moves, at: Standing, units: Units) -> tuple[Moves, float]:
    """Return the moves that gain together, and their gain.

    These are all moves, or the best of them. Many moves to one partition may lose together,
    because each enlarges it. Then the better half is tried, and so on.
    """
    moving = np.zeros(at.of.size, dtype=np.bool_)
    moving[moves.unit] = True
    near = touching(near, moving)
    before = near.weight[at.of[near.source] == at.of[near.target]].sum()
    while moves.unit.size:
        part = _moved(at.of, moves)
        inside = near.weight[part[near.source] == part[near.target]].sum() - before
        strength, count = units.strength[moves.unit], at.nodes.size
        change = totals(moves.target, strength, count)
        change -= totals(at.of[moves.unit], strength, count)
        chance = change @ (2 * at.strength + change) / (4 * units.total)
        if inside - chance > TIE * strength.sum():
            return moves, float(inside - chance)
        moves = moves.only(slice(moves.unit.size // 2))
    return moves, 0.0


def _moved(part: IntArray, moves: Moves) -> IntArray:
    """Return the partitions ``(u,)`` after the moves."""
    part = part.copy()
    part[moves.unit] = moves.target
    return part


def _awakened(near: Edges, moves: Moves, wishes: Moves) -> BoolArray:
    """Return the units ``(u,)`` to look at in the next round.

    They are those that moved, their neighbors, and those whose wishes remain.
    """
    moved = np.zeros(near.node_count, dtype=np.bool_)
    moved[moves.unit] = True
    beside = moved[near.source] | moved[near.target]
    awake = moved
    awake[wishes.unit] = True
    awake[near.source[beside]] = True
    awake[near.target[beside]] = True
    return awake
