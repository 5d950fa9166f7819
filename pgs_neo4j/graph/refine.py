"""Refines partitions by moves that gain modularity and keep the limits.

A limit cuts communities where modularity would not, and merging places only whole communities. So
some nodes share more weight with a neighboring partition than with their own. These nodes move
first. If the limits still cost much modularity, nodes that would not leave one by one move in
groups (multi-level refinement, Rotta and Noack 2011).

A unit is a node, or a group of nodes that move together. In each round all units look for a better
partition at the same time, and the units that do not disturb each other move. So no round lowers
modularity, and no partition is over the limits between rounds.
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
"""Groups move if the limits cost more than this share of the communities' modularity. On lfr_1e6,
the limits cost 0.4 %. Moving groups would regain a tenth of that, but take twice the time.
"""

CYCLES = 2
"""Times that groups are formed and moved; a third time gains less than a thousandth."""

ROUNDS = 20
"""Maximum number of rounds; later rounds are cheap, because they look at fewer units."""

ENOUGH = 1e-5
"""Rounds end when a round gains no more modularity than this."""

TIE = 1e-9
"""A gain up to this share of a unit's strength counts as zero, because of rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Figures of each unit, all ``(u,)``; units that are not ``free`` stay.

    ``outer`` is the weight of a unit's edges to other units. ``strength`` is ``outer`` plus twice
    the weight of the edges inside the unit. ``total`` is the weight of all edges of the graph.
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

    Each gain assumes that the move is made alone. It is the increase of modularity, times the
    weight of all edges.
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

    Single nodes move first; groups follow if the limits cost much modularity (``COSTLY``).
    ``labels`` ``(n,)`` are partitions made from ``communities`` ``(n,)``, both numbered from 0.
    ``tokens`` and ``nodes`` (the nodes that each entry stands for) are ``(n,)``, and so is the
    result. Moves keep the limits (:func:`move_units`), and modularity never falls. Groups are the
    communities inside a partition that is not itself a community.
    """
    if not edges.total:
        return dense(labels)
    strength = strengths(edges)
    count = np.ones_like(tokens) if nodes is None else nodes
    parts = _move_nodes(edges, labels, tokens, count, strength, limits)
    whole = modularity(edges, communities, strength)
    rough = _flag_rough(labels, communities)
    for _ in range(CYCLES):
        if whole - modularity(edges, parts, strength) <= COSTLY * whole:
            break
        parts = _move_groups(edges, parts, rough, tokens, count, strength, limits)
        parts = _move_nodes(edges, parts, tokens, count, strength, limits)
    return parts


def _flag_rough(labels: IntArray, communities: IntArray) -> BoolArray:
    """Flag the nodes ``(n,)`` whose partition is not exactly their community."""
    rough: BoolArray = _flag_mixed(labels, communities) | _flag_mixed(communities, labels)
    return rough


def _flag_mixed(whole: IntArray, part: IntArray) -> BoolArray:
    """Flag the nodes whose ``whole`` contains several parts; all arrays are ``(n,)``."""
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
    all edges of free units. A unit moves along an edge into a partition that has room for it and is
    not too small. A partition that meets :meth:`Limits.stands` still meets it after the moves. No
    partition becomes too small or empty unless it was too small before. Modularity never falls. Of
    equal gains, the lower target and then the lower unit come first.
    """
    at = _measure_partitions(parts, units)
    awake = _flag_restless(edges, at, units)
    for _ in range(ROUNDS):
        near = touching(edges, awake)
        wishes = _find_wishes(near, at, units, awake)
        moves = _drop_conflicts(near, _choose_best(wishes, at, units, limits), at.of)
        moves, gain = _keep_gaining(near, _keep_fitting(moves, at, units, limits), at, units)
        at = _measure_partitions(_apply_moves(at.of, moves), units)
        if gain <= ENOUGH * units.total:
            break
        awake = _flag_awake(near, moves, wishes) & units.free
    return at.of


def touching(edges: Edges, chosen: BoolArray) -> Edges:
    """Return the edges with an end in ``chosen`` ``(n,)``, in order."""
    near = np.flatnonzero(chosen[edges.source] | chosen[edges.target])
    return Edges(edges.node_count, edges.source[near], edges.target[near], edges.weight[near])


def _measure_partitions(parts: IntArray, units: Units) -> Standing:
    """Return the partitions ``(u,)`` of units with the figures of each partition."""
    nodes = totals(parts, units.nodes).astype(np.int64)
    tokens = totals(parts, units.tokens).astype(np.int64)
    return Standing(parts, nodes, tokens, totals(parts, units.strength))


def _flag_restless(edges: Edges, at: Standing, units: Units) -> BoolArray:
    """Flag the free units ``(u,)`` that could gain by a move.

    A unit that shares more weight with its own partition than with all others cannot gain.
    """
    cross = np.flatnonzero(at.of[edges.source] != at.of[edges.target])
    n, weight = at.of.size, edges.weight[cross]
    outer = totals(edges.source[cross], weight, n) + totals(edges.target[cross], weight, n)
    chance = units.strength * (at.strength.max(initial=0.0) / (2 * units.total))
    restless: BoolArray = units.free & (outer > 0) & (2 * outer > units.outer - chance)
    return restless


def _find_wishes(near: Edges, at: Standing, units: Units, awake: BoolArray) -> Moves:
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


def _choose_best(wishes: Moves, at: Standing, units: Units, limits: Limits) -> Moves:
    """Return the best wish of each unit that the limits allow.

    No unit joins a partition that is too small: merging could not place that partition, so it will
    be pooled.
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

    Partitions that are already too small always may. All arrays are ``(p,)``.
    """
    was_small = limits.small(at.nodes, at.tokens)[part]
    nodes, tokens = at.nodes[part] - nodes, at.tokens[part] - tokens
    stays = (nodes > 0) & ~limits.small(nodes, tokens) & limits.stands(nodes, tokens)
    allowed: BoolArray = was_small | stays
    return allowed


def _drop_conflicts(near: Edges, moves: Moves, part: IntArray) -> Moves:
    """Return the moves that do not interfere with each other; ``part`` is ``(u,)``.

    Neighbors that move to the same partition help each other. If a unit moves to the partition that
    its neighbor leaves, only the unit with the larger gain moves.
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


def _keep_fitting(moves: Moves, at: Standing, units: Units, limits: Limits) -> Moves:
    """Return moves that keep the limits, all together and in any subset.

    ``moves`` and the result are in order of falling gain.
    """
    nodes, tokens = _cumulate_sizes(moves, moves.target, units)
    room = limits.fits(at.nodes[moves.target] + nodes, at.tokens[moves.target] + tokens)
    moves = moves.only(room)
    own = at.of[moves.unit]
    return moves.only(_may_shrink(own, *_cumulate_sizes(moves, own, units), at, limits))


def _cumulate_sizes(moves: Moves, part: IntArray, units: Units) -> tuple[IntArray, IntArray]:
    """Return cumulative nodes and tokens of the moves with the same ``part``.

    All arrays are ``(p,)``.
    """
    order = np.argsort(part, kind="stable")
    nodes, tokens = np.empty_like(part), np.empty_like(part)
    nodes[order] = run_sums(units.nodes[moves.unit[order]], part[order])
    tokens[order] = run_sums(units.tokens[moves.unit[order]], part[order])
    return nodes, tokens


def _keep_gaining(near: Edges, moves: Moves, at: Standing, units: Units) -> tuple[Moves, float]:
    """Return the moves that gain together, and their gain.

    Many moves to one partition may lose together, because each enlarges it. Then the better half of
    the moves is tried, and so on.
    """
    moving = np.zeros(at.of.size, dtype=np.bool_)
    moving[moves.unit] = True
    near = touching(near, moving)
    before = near.weight[at.of[near.source] == at.of[near.target]].sum()
    while moves.unit.size:
        part = _apply_moves(at.of, moves)
        inside = near.weight[part[near.source] == part[near.target]].sum() - before
        strength, count = units.strength[moves.unit], at.nodes.size
        change = totals(moves.target, strength, count)
        change -= totals(at.of[moves.unit], strength, count)
        chance = change @ (2 * at.strength + change) / (4 * units.total)
        if inside - chance > TIE * strength.sum():
            return moves, float(inside - chance)
        moves = moves.only(slice(moves.unit.size // 2))
    return moves, 0.0


def _apply_moves(part: IntArray, moves: Moves) -> IntArray:
    """Return the partitions ``(u,)`` after the moves."""
    part = part.copy()
    part[moves.unit] = moves.target
    return part


def _flag_awake(near: Edges, moves: Moves, wishes: Moves) -> BoolArray:
    """Return the units ``(u,)`` to look at in the next round.

    These are the units that moved, their neighbors, and all units with a wish.
    """
    moved = np.zeros(near.node_count, dtype=np.bool_)
    moved[moves.unit] = True
    beside = moved[near.source] | moved[near.target]
    awake = moved
    awake[wishes.unit] = True
    awake[near.source[beside]] = True
    awake[near.target[beside]] = True
    return awake
