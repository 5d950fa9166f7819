"""Changes a share of the relationships of a graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tests.bench.graphs import BenchGraph, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """The relationships that go and those that come, and the graph after it."""

    removed: BenchGraph
    added: BenchGraph
    after: BenchGraph


def drawn(graph: BenchGraph, share: float, seed: int) -> Change:
    """Remove that share of the relationships by lot, and add as many between any two nodes.

    Of parallel relationships one may go at most. A new one weighs what some old one does.
    """
    rng = np.random.default_rng(seed)
    pairs = graph.source * graph.node_count + graph.target
    single = np.unique(pairs, return_index=True)[1]
    count = min(max(round(share * graph.edge_count), 1), single.size)
    gone = np.sort(rng.choice(single, count, replace=False))
    removed = _chosen(graph, gone)
    source = rng.integers(0, graph.node_count, count)
    step = rng.integers(1, graph.node_count, count)
    added = replace(
        graph,
        source=source,
        target=(source + step) % graph.node_count,
        weight=rng.choice(graph.weight, count),
    )
    remaining = _chosen(graph, np.delete(np.arange(graph.edge_count), gone))
    after = replace(
        graph,
        source=np.concatenate([remaining.source, added.source]),
        target=np.concatenate([remaining.target, added.target]),
        weight=np.concatenate([remaining.weight, added.weight]),
    )
    return Change(removed, added, after)


def _chosen(graph: BenchGraph, at: IntArray) -> BenchGraph:
    return replace(graph, source=graph.source[at], target=graph.target[at], weight=graph.weight[at])
