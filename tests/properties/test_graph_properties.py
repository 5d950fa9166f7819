"""Properties of every graph: partitions cover, limits hold, order does not matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.graph.adjacency import adjacency
from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import Edges, dense, undirected
from pgs_neo4j.graph.limits import apply_limits
from pgs_neo4j.graph.merge import join_siblings, merge
from pgs_neo4j.graph.packing import fill_bins, weight_inside
from pgs_neo4j.graph.quality import modularity
from pgs_neo4j.graph.recluster import recluster
from pgs_neo4j.graph.refine import refine
from pgs_neo4j.graph.split import halve, split
from pgs_neo4j.graph.steady import steady
from tests.thorough import tries


@dataclass(frozen=True)
class Case:
    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    labels: np.ndarray
    tokens: np.ndarray
    limits: Limits

    @property
    def edges(self) -> Edges:
        return undirected(self.labels.size, self.source, self.target, self.weight)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 70))
    node = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=200))
    weight = st.one_of(st.just(1.0), st.just(0.0), st.floats(0, 1e6))
    seed = np.random.default_rng(draw(st.integers(0, 2**32)))
    minimum = draw(st.integers(1, 8))
    return Case(
        source=np.array([pair[0] for pair in pairs], dtype=np.int64),
        target=np.array([pair[1] for pair in pairs], dtype=np.int64),
        weight=np.array(draw(st.lists(weight, min_size=len(pairs), max_size=len(pairs)))),
        labels=seed.integers(0, draw(st.integers(1, n)), n),
        tokens=seed.integers(0, draw(st.sampled_from([1, 2, 20, 200])), n),
        limits=Limits(
            min_nodes=minimum,
            max_nodes=minimum + draw(st.integers(0, 20)),
            max_tokens=draw(st.one_of(st.none(), st.integers(1, 400))),
        ),
    )


def sizes(labels: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.bincount(labels), np.bincount(labels, tokens).astype(np.int64)


def torn_only_where_it_must(case: Case, labels: np.ndarray) -> bool:
    """Whether parts fit, or are light communities of the graph's own, within one detected."""
    nodes, tokens = sizes(labels, case.tokens)
    wide = ~case.limits.fits(nodes, tokens)
    within_one = all(np.unique(case.labels[labels == part]).size == 1 for part in wide.nonzero()[0])
    return within_one and bool(case.limits.stands(nodes, tokens).all())


def refines(fine: np.ndarray, coarse: np.ndarray) -> bool:
    pairs = np.unique(np.stack((fine, coarse)), axis=1)
    return bool(pairs.shape[1] == fine.max() + 1)


@given(cases())
@settings(max_examples=tries(60, 150), deadline=None)
def test_partitions_cover_all_nodes_within_bounds(case: Case) -> None:
    result = apply_limits(case.edges, case.labels, case.tokens, case.limits)
    nodes, tokens = sizes(result.labels, case.tokens)
    assert result.labels.shape == case.labels.shape
    assert nodes.min() >= 1
    assert nodes.size == result.partition_count
    assert torn_only_where_it_must(case, result.labels)
    assert case.limits.fits(nodes, tokens)[result.pool].all()
    if case.labels.size >= case.limits.min_nodes:
        assert not (case.limits.small(nodes, tokens) & ~result.pool).any()
    assert (np.diff(nodes) <= 0).all()


@given(cases(), st.integers(1, 70), st.integers(1, 400))
@settings(max_examples=tries(60, 150), deadline=None)
def test_the_minimum_of_nodes_yields_to_the_maximum_of_tokens(
    case: Case, minimum: int, most: int
) -> None:
    limits = Limits(min_nodes=minimum, max_nodes=70, max_tokens=most)
    first = apply_limits(case.edges, case.labels, case.tokens, limits)
    before = np.where(case.tokens % 2, first.labels, -1)
    again = steady(case.edges, case.labels, before, before, case.tokens, limits)
    for limited in (first, again):
        nodes, tokens = sizes(limited.labels, case.tokens)
        assert (tokens[nodes > 1] <= most).all()


@given(cases(), st.integers(1, 9), st.integers(0, 2**32))
@settings(max_examples=tries(60, 150), deadline=None)
def test_bins_hold_every_node_once_within_their_room(case: Case, count: int, seed: int) -> None:
    start = dense(np.random.default_rng(seed).integers(0, count, case.labels.size))
    size = np.stack((case.tokens, np.ones_like(case.tokens)), axis=1)
    taken = np.stack([np.bincount(start, column) for column in size.T], axis=1)
    room = np.maximum(taken.max(axis=0), 1).astype(np.int64)
    bins = fill_bins(case.edges, size, room, start)
    assert bins.tolist() == dense(bins).tolist()
    assert bins.max() <= start.max()
    for column, most in zip(size.T, room, strict=True):
        assert np.bincount(bins, column).max() <= most
    assert weight_inside(case.edges, bins) >= weight_inside(case.edges, start)
    order = np.random.default_rng(seed).permutation(case.source.size)
    turned = undirected(start.size, case.target[order], case.source[order], case.weight[order])
    assert fill_bins(turned, size, room, start).tolist() == bins.tolist()


@given(cases(), st.randoms(use_true_random=False))
@settings(max_examples=tries(40, 100), deadline=None)
def test_neither_row_order_nor_names_of_communities_matter(case: Case, random: object) -> None:
    seed = np.random.default_rng(random.randrange(2**32))  # type: ignore[attr-defined]
    order = seed.permutation(case.source.size)
    swap = seed.random(case.source.size) < 0.5
    shuffled = undirected(
        case.labels.size,
        np.where(swap, case.target, case.source)[order],
        np.where(swap, case.source, case.target)[order],
        case.weight[order],
    )
    names = seed.permutation(case.labels.max() + 1) * 10**9
    first = apply_limits(case.edges, case.labels, case.tokens, case.limits)
    again = apply_limits(shuffled, names[case.labels], case.tokens, case.limits)
    assert first.labels.tolist() == again.labels.tolist()
    assert first.pool.tolist() == again.pool.tolist()
    assert modularity(case.edges, first.labels) == modularity(shuffled, again.labels)
    near = adjacency(case.edges, first.labels)
    assert near.of(0) == adjacency(shuffled, again.labels).of(0)
    assert case.edges.total == shuffled.total


@given(cases())
@settings(max_examples=tries(40, 100), deadline=None)
def test_split_refines_and_merge_coarsens(case: Case) -> None:
    parts = split(case.edges, case.labels, case.tokens, case.limits)
    assert refines(parts, dense(case.labels))
    assert torn_only_where_it_must(case, parts)
    for step in (merge, join_siblings):
        joined = step(case.edges, parts, case.tokens, case.limits)
        assert refines(parts, joined)
        assert torn_only_where_it_must(case, joined)
        parts = joined


@given(cases())
@settings(max_examples=tries(40, 100), deadline=None)
def test_recluster_and_halve_stay_inside_their_groups(case: Case) -> None:
    group = dense(case.labels)
    inside = group[case.source] == group[case.target]
    edges = undirected(group.size, case.source[inside], case.target[inside], case.weight[inside])
    assert refines(recluster(edges, group), group)
    side = halve(edges, group, 1.0 + case.tokens)
    for label in range(int(group.max()) + 1):
        assert np.unique(side[group == label]).size == min(2, np.count_nonzero(group == label))


@given(cases(), st.booleans())
@settings(max_examples=tries(50, 125), deadline=None)
def test_refining_gains_and_keeps_the_limits(case: Case, again: bool) -> None:
    edges, community = case.edges, dense(case.labels)
    parts = split(edges, community, case.tokens, case.limits)
    parts = merge(edges, parts, case.tokens, case.limits)
    after = refine(edges, parts, community, case.tokens, case.limits)
    # a gain may be smaller than the rounding of the two measures
    assert modularity(edges, after) >= modularity(edges, parts) - 1e-12
    nodes, tokens = sizes(after, case.tokens)
    assert case.limits.stands(nodes, tokens).all()
    small_before = case.limits.small(*sizes(parts, case.tokens))
    small_after = case.limits.small(nodes, tokens)
    # a partition is small only if it was, and holds nothing that it did not hold
    for label in small_after.nonzero()[0]:
        assert small_before[np.unique(parts[after == label])].all()
    if again:
        once_more = refine(edges, after, community, case.tokens, case.limits)
        assert modularity(edges, once_more) >= modularity(edges, after) - 1e-12
