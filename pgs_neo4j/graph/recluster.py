"""Detects communities inside many groups at once: Louvain in whole-array steps.

The phases are those of Blondel et al. 2008 (move nodes, contract, repeat), followed by moves on the
way back from the coarsest to the finest graph (multi-level refinement, Rotta and Noack 2011). Each
group is a graph with its own total weight, so even a group that the resolution of the whole graph
could not divide shows its inner structure. A pseudo-random eighth of the nodes moves at a time,
instead of single nodes in sequence. If halves of the nodes took turns, moves would overshoot; with
eighths they do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pgs_neo4j.graph.csr import (
    BoolArray,
    Edges,
    FloatArray,
    IntArray,
    Rows,
    dense,
    entries,
    first_best,
    mixed,
    rows,
    strengths,
    sum_runs,
    summed_rows,
    totals,
)

TURNS = 8
"""Number of parts of the nodes. The parts move one after the other within a sweep over a level."""

MAX_SWEEPS = 20
"""Maximum number of sweeps over one level; later sweeps visit only nodes whose neighborhood
changed.
"""

SETTLED = 0.05
"""A level is left when a sweep moves no more than this share of its nodes."""

STALLED = 0.9
"""A level is left when a sweep moves more than this share of the nodes that the previous sweep
moved. The coarser levels and the way back then gain more in less time."""

RESOLUTION = 0.5
"""Resolution of the modularity inside a group. At 1 a group without structure falls into twenty
tiny parts. At 0.5 it stays together, and dense parts still separate (measured on LFR and SBM
graphs).
"""

TIE = 1e-9
"""Gains closer than this share of a node's strength count as equal, because of rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """One contracted graph.

    ``pull`` ``(n,)`` is a node's ``strength`` ``(n,)``, divided by the total of its group and
    multiplied by the resolution.
    """

    rows: Rows
    strength: FloatArray
    pull: FloatArray


@dataclass(slots=True, eq=False)
class Placement:
    """The community of each node of a level, with the figures of communities.

    All arrays are ``(n,)``. ``of`` is the community of a node; ``strength`` and ``members`` have
    one entry per community number.
    """

    of: IntArray
    strength: FloatArray
    members: IntArray

    def move(self, nodes: IntArray, target: IntArray, strength: FloatArray) -> None:
        """Move ``nodes`` ``(p,)`` with these strengths into ``target`` ``(p,)``."""
        count, source = self.of.size, self.of[nodes]
        self.strength += totals(target, strength, count)
        self.strength -= totals(source, strength, count)
        self.members += np.bincount(target, minlength=count)
        self.members -= np.bincount(source, minlength=count)
        self.of[nodes] = target


def recluster(
    edges: Edges,
    group: IntArray,
    resolution: float = RESOLUTION,
    strength: FloatArray | None = None,
) -> IntArray:
    """Return communities ``(n,)`` inside each group, numbered by their lowest node.

    ``group`` ``(n,)`` counts from 0, and ``edges`` must not cross groups. No community spans two
    groups; a node without weight stays alone. The same edges in any order give the same result. If
    the nodes are themselves contracted, ``strength`` ``(n,)`` includes their inner weight.
    """
    strength = strengths(edges) if strength is None else strength
    total = totals(group, strength)[group] if group.size else strength
    pull = np.divide(resolution * strength, total, out=np.zeros_like(strength), where=total > 0)
    levels, steps = [Level(rows(edges), strength, pull)], []
    while levels[-1].strength.size:
        community = dense(_settle_moves(levels[-1], np.arange(levels[-1].strength.size)))
        if int(community.max()) + 1 == community.size:
            break
        steps.append(community)
        levels.append(_contract_level(levels[-1], community))
    labels = np.arange(levels[-1].strength.size)
    for level, step in zip(levels[-2::-1], steps[::-1], strict=True):
        labels = dense(_settle_moves(level, labels[step]))
    return labels


def _settle_moves(level: Level, start: IntArray) -> IntArray:
    """Return the community ``(n,)`` of each node once moves from ``start`` settle."""
    n = start.size
    at = Placement(start.copy(), totals(start, level.strength, n), np.bincount(start, minlength=n))
    awake = level.rows.degree > 0
    most = math.inf
    for sweep in range(MAX_SWEEPS):
        moved = 0
        turn_of = mixed(np.arange(n), sweep) % TURNS
        for turn in range(TURNS):
            nodes = np.flatnonzero(awake & (turn_of == turn))
            awake[nodes] = False
            movers, target, affected = _best_moves(level, nodes, at)
            at.move(movers, target, level.strength[movers])
            awake[affected] = True
            moved += movers.size
        if moved <= SETTLED * n or moved > most:
            break
        most = STALLED * moved
    return at.of


def _best_moves(
    level: Level, nodes: IntArray, at: Placement
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the ``nodes`` that move, their targets, and neighbors that may follow.

    The gain of node u in community c is w(u, c) - k(u) * K(c) / 2m, with u itself left out of K. On
    a tie, a node stays if its own community is among the best; otherwise it moves to the lowest of
    these. Movers and targets are ``(p,)``.
    """
    n = at.of.size
    entry, owner = entries(level.rows.start, nodes)
    neighbor = level.rows.neighbor[entry]
    theirs = at.of[neighbor]
    key = owner * n + theirs
    # A stable sort is fast here, because rows are nearly in order.
    order = np.argsort(key, kind="stable")
    first, shared = sum_runs(key[order], level.rows.weight[entry][order])
    place, candidate = owner[order[first]], theirs[order[first]]
    own, strength, pull = at.of[nodes], level.strength[nodes], level.pull[nodes]
    home = candidate == own[place]
    stay = -pull * (at.strength[own] - strength)
    stay[place[home]] += shared[home]
    gain = shared - pull[place] * at.strength[candidate]
    gain[home | _flag_swaps(own, place, candidate, at.members)] = -np.inf
    best, top = first_best(gain, place, nodes.size)
    moves = top > stay + TIE * strength
    goal = np.where(moves, candidate[best], -1) if candidate.size else own
    affected = neighbor[moves[owner] & (theirs != goal[owner])]
    return nodes[moves], goal[moves], affected


def _flag_swaps(
    own: IntArray, place: IntArray, candidate: IntArray, members: IntArray
) -> BoolArray:
    """Flag ``(p,)`` moves of a lone node to a lone node with a higher number.

    Both nodes are due to move. If both moved at once, they would only swap their places.
    """
    in_turn = np.zeros(members.size, dtype=np.bool_)
    in_turn[own[members[own] == 1]] = True
    return in_turn[own[place]] & in_turn[candidate] & (candidate > own[place])


def _contract_level(level: Level, community: IntArray) -> Level:
    """Return the graph whose nodes are the communities ``(n,)`` of a level.

    Weight inside a community stays in its strength.
    """
    count = int(community.max()) + 1
    owner = np.repeat(community, level.rows.degree)
    neighbor = community[level.rows.neighbor]
    cross = np.flatnonzero(owner != neighbor)
    return Level(
        summed_rows(owner[cross], neighbor[cross], level.rows.weight[cross], count),
        totals(community, level.strength, count),
        totals(community, level.pull, count),
    )
