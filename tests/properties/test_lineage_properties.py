"""Properties of all generations: names pass on optimally, counts are near."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pgs_neo4j.graph.csr import Edges, dense, undirected
from pgs_neo4j.graph.hierarchy import ROOTS, SHRINK, hierarchy
from pgs_neo4j.graph.lineage import inherited
from pgs_neo4j.graph.sketch import difference, sketch
from tests.thorough import tries

OVERLAPS = arrays.arrays(
    np.int64,
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    elements=st.sampled_from([0, 0, 0, 1, 2, 3, 4, 6, 12]),
)
HASHES = st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**64 - 1)), max_size=60)


@st.composite
def generations(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Overlaps of each old with each new partition, and the sizes of both."""
    table = draw(OVERLAPS)
    gone = draw(arrays.arrays(np.int64, table.shape[0], elements=st.sampled_from([0, 0, 1, 5])))
    come = draw(arrays.arrays(np.int64, table.shape[1], elements=st.sampled_from([0, 0, 1, 5])))
    return table, table.sum(axis=1) + gone, table.sum(axis=0) + come


def labels(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    old, new = np.divmod(np.arange(table.size), table.shape[1])
    return np.repeat(old, table.reshape(-1)), np.repeat(new, table.reshape(-1))


def best_total(table: np.ndarray, allowed: np.ndarray) -> int:
    """The largest total overlap of any assignment, by trying all of them."""
    if not table.size:
        return 0
    best = best_total(table[1:], allowed[1:])
    for new in np.flatnonzero(allowed[0]):
        rest = np.delete(table[1:], new, axis=1), np.delete(allowed[1:], new, axis=1)
        best = max(best, int(table[0, new]) + best_total(*rest))
    return best


def named(table: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Which overlap each row counts by: the first that is at least half of it."""
    half = (table > 0) & (2 * table >= sizes[:, None])
    first: np.ndarray = half & (np.cumsum(half, axis=1) == 1)
    return first


@given(generations(), st.integers(0, 2**32))
@settings(max_examples=tries(80, 200), deadline=None)
def test_the_total_overlap_is_the_largest_of_all_assignments_in_any_order_of_nodes(
    case: tuple[np.ndarray, np.ndarray, np.ndarray], seed: int
) -> None:
    table, old_sizes, new_sizes = case
    old, new = labels(table)
    found = inherited(old, new, old_sizes, new_sizes)
    order = np.random.default_rng(seed).permutation(old.size)
    assert np.array_equal(found, inherited(old[order], new[order], old_sizes, new_sizes))
    heirs = np.flatnonzero(found >= 0)
    allowed = named(table, old_sizes) | named(table.T, new_sizes).T
    assert found.shape == new_sizes.shape
    assert np.unique(found[heirs]).size == heirs.size
    assert allowed[found[heirs], heirs].all()
    assert table[found[heirs], heirs].sum() == best_total(table, allowed)


@st.composite
def partitioned(draw: st.DrawFn) -> tuple[Edges, np.ndarray, np.ndarray]:
    """A graph, its partitions ``0 .. k-1``, and communities under any numbers."""
    n = draw(st.integers(1, 120))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    source, target = random.integers(0, n, (2, draw(st.integers(0, 400))))
    if draw(st.booleans()):
        target = np.minimum(source + random.integers(0, 4, source.size), n - 1)
    weight = random.choice([0.0, 1.0, 1.0, 1e-9, 3e5], source.size)
    parts = random.integers(0, draw(st.integers(1, n)), n)
    _, parts = np.unique(parts, return_inverse=True)
    edges = undirected(n, source, target, weight)
    return edges, parts, random.integers(0, n, n) // draw(st.integers(1, 9)) * 10**9


@given(partitioned(), st.integers(0, 2**32))
@settings(max_examples=tries(40, 100), deadline=None)
def test_levels_shrink_and_depend_on_no_order(
    case: tuple[Edges, np.ndarray, np.ndarray], seed: int
) -> None:
    edges, parts, community = case
    levels = hierarchy(edges, parts, community)
    counts = [int(parts.max()) + 1, *(int(level.max()) + 1 for level in levels)]
    assert [level.size for level in levels] == counts[:-1]
    assert all(1 < above <= SHRINK * below for below, above in pairwise(counts))
    assert all(count > ROOTS for count in counts[:-1])
    assert all(np.array_equal(level, dense(level)) for level in levels)
    order = np.random.default_rng(seed).permutation(edges.source.size)
    shuffled = undirected(
        edges.node_count, edges.target[order], edges.source[order], edges.weight[order]
    )
    again = hierarchy(shuffled, parts, community + 17)
    assert [level.tolist() for level in again] == [level.tolist() for level in levels]


@given(HASHES, HASHES, st.randoms(use_true_random=False))
@settings(max_examples=tries(40, 100), deadline=None)
def test_sketches_are_equal_exactly_where_the_hashes_are(
    before: list[int], after: list[int], random: object
) -> None:
    first, second = (sketch(np.array(some, dtype=np.uint64)) for some in (before, after))
    shuffled = list(before)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert np.array_equal(sketch(np.array(shuffled, dtype=np.uint64)), first)
    apart = sum(before.count(some) != after.count(some) for some in {*before, *after})
    assert (difference(first, second) == 0) == (apart == 0)
    assert abs(difference(first, second) - apart) <= max(4, apart // 5)
    assert difference(first, second) == difference(second, first)
