"""Generates a graph with planted communities, of any size, determined by its seed.

Follows the benchmark of Lancichinetti, Fortunato and Radicchi (2008): sizes of communities and
degrees follow power laws, and a fixed share of the edges leaves its community. Degrees are met on
average only, as in the model of Chung and Lu (2002), so that arrays do all the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pgs_neo4j.errors import UsageError
from tests.bench.graphs import BenchGraph, FloatArray, IntArray

MIXING = 0.3
"""Share of the edges that leave their community."""

SIZE_EXPONENT, SMALLEST, LARGEST = 1.5, 50, 1500
DEGREE_EXPONENT, BUSIEST = 2.5, 30.0
"""Power laws of community size and of degree; the busiest node has 30 times the least."""

ROUNDS = 50
"""How often more edges are drawn where some were drawn twice."""

Draw = Callable[[int], tuple[IntArray, IntArray]]


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Nodes by place, community after community: ``share`` (n + 1,) adds up their degrees."""

    community: IntArray
    start: IntArray
    share: FloatArray

    def nodes(self, at: FloatArray) -> IntArray:
        """The places that hold these parts of the sum."""
        drawn = np.searchsorted(self.share, at, side="right") - 1
        return np.minimum(drawn, self.community.size - 1)


def planted(node_count: int, edge_count: int, seed: int = 42) -> BenchGraph:
    """A graph of ``node_count`` nodes and about ``edge_count`` edges, none twice, no loops.

    Raises UsageError when there are too few nodes for communities, or more edges than fit.
    """
    most = node_count * SMALLEST // 4
    if node_count < 2 * SMALLEST or not node_count <= edge_count <= most:
        raise UsageError(
            f"--files takes at least {2 * SMALLEST} nodes and between 1 and {SMALLEST // 4} "
            f"edges for each; {node_count} nodes and {edge_count} edges are not that"
        )
    rng = np.random.default_rng(seed)
    plan = _plan(node_count, rng)
    outside = round(MIXING * edge_count)
    low, high = np.divmod(
        np.concatenate(
            [
                _distinct(_inside(plan, rng), edge_count - outside, node_count),
                _distinct(_across(plan, rng), outside, node_count),
            ]
        ),
        node_count,
    )
    # Neither the number of a node nor the order of the edges may tell the community.
    name = rng.permutation(node_count)
    order = rng.permutation(low.size)
    truth = np.empty(node_count, dtype=np.int64)
    truth[name] = plan.community
    return BenchGraph(
        f"planted_{node_count}_{edge_count}",
        node_count,
        name[low[order]],
        name[high[order]],
        rng.uniform(0.5, 1.5, low.size).round(3),
        truth,
    )


def power_law(
    rng: np.random.Generator, count: int, exponent: float, low: float, high: float
) -> FloatArray:
    """Numbers ``(count,)`` between ``low`` and ``high`` of density x ** -exponent."""
    power = 1.0 - exponent
    ends = low**power, high**power
    drawn: FloatArray = (ends[0] + rng.random(count) * (ends[1] - ends[0])) ** (1.0 / power)
    return drawn


def _plan(node_count: int, rng: np.random.Generator) -> _Plan:
    largest = max(SMALLEST, min(LARGEST, node_count // 8))
    drawn = power_law(rng, node_count // SMALLEST + 1, SIZE_EXPONENT, SMALLEST, largest)
    ends = np.cumsum(drawn.astype(np.int64))
    # The last community takes what is left, and what is left over for less than one.
    ends = np.append(ends[ends <= node_count - SMALLEST], node_count)
    start = np.concatenate([[0], ends])
    degree = power_law(rng, node_count, DEGREE_EXPONENT, 1.0, BUSIEST)
    return _Plan(
        community=np.repeat(np.arange(ends.size), np.diff(start)),
        start=start,
        share=np.concatenate([[0.0], np.cumsum(degree)]),
    )


def _inside(plan: _Plan, rng: np.random.Generator) -> Draw:
    def draw(count: int) -> tuple[IntArray, IntArray]:
        source = plan.nodes(rng.random(count) * plan.share[-1])
        first = plan.start[plan.community[source]]
        after = plan.start[plan.community[source] + 1]
        low, high = plan.share[first], plan.share[after]
        target = plan.nodes(low + rng.random(count) * (high - low))
        return source, np.clip(target, first, after - 1)

    return draw


def _across(plan: _Plan, rng: np.random.Generator) -> Draw:
    def draw(count: int) -> tuple[IntArray, IntArray]:
        source = plan.nodes(rng.random(count) * plan.share[-1])
        target = plan.nodes(rng.random(count) * plan.share[-1])
        leaves = plan.community[source] != plan.community[target]
        return source[leaves], target[leaves]

    return draw


def _distinct(draw: Draw, wanted: int, node_count: int) -> IntArray:
    """Pairs as low * n + high, in the order drawn; fewer than wanted where there are no more."""
    drawn = np.empty(0, dtype=np.int64)
    for _ in range(ROUNDS):
        if drawn.size >= wanted:
            break
        source, target = draw(int(1.2 * (wanted - drawn.size)) + 16)
        proper = source != target
        low, high = np.minimum(source, target)[proper], np.maximum(source, target)[proper]
        drawn = np.concatenate([drawn, low * node_count + high])
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    return drawn[:wanted]
