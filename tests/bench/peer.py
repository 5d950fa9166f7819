"""Runs igraph's Leiden on the same arrays, and the engine's limits on its result."""

from __future__ import annotations

import importlib.util
import random
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from pgs_neo4j.graph.csr import Edges
from pgs_neo4j.graph.limits import Limits, apply_limits
from pgs_neo4j.graph.quality import modularity
from tests.bench.graphs import BenchGraph, IntArray
from tests.bench.measure import Figures, figures

ITERATIONS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """igraph's Leiden in seconds and modularity, and the same after ``apply_limits``."""

    seconds: float
    modularity: float
    communities: int
    limits_s: float
    limited: Figures


def measured(graph: BenchGraph, edges: Edges, limits: Limits, seed: int) -> Peer | None:
    """igraph's figures; None when it is not installed. Arrays are in hand before time runs."""
    if importlib.util.find_spec("igraph") is None:
        return None
    seconds, labels = _leiden(graph, seed)
    began = perf_counter()
    tokens = np.zeros(graph.node_count, dtype=np.int64)
    limited = apply_limits(edges, labels, tokens, limits)
    limits_s = perf_counter() - began
    return Peer(
        seconds=seconds,
        modularity=modularity(edges, labels),
        communities=int(labels.max(initial=-1)) + 1,
        limits_s=limits_s,
        limited=figures(edges, limited.labels, limited.pool, graph.truth, limits),
    )


def communities(graph: BenchGraph, seed: int) -> IntArray | None:
    """igraph's communities ``(n,)``; None when it is not installed."""
    if importlib.util.find_spec("igraph") is None:
        return None
    return _leiden(graph, seed)[1]


def _leiden(graph: BenchGraph, seed: int) -> tuple[float, IntArray]:
    import igraph

    pairs = np.column_stack((graph.source, graph.target))
    weighted_graph = igraph.Graph(n=graph.node_count, edges=pairs)
    weights = graph.weight.tolist()
    random.seed(seed)  # igraph draws from Python's own generator
    began = perf_counter()
    communities = weighted_graph.community_leiden(
        objective_function="modularity", weights=weights, n_iterations=ITERATIONS
    )
    seconds = perf_counter() - began
    return seconds, np.asarray(communities.membership, dtype=np.int64)
