"""Properties of every generation: rows read back, comparisons count, shared ids hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.gds import Communities
from pgs_neo4j.graph.limits import Limited
from pgs_neo4j.model import Adjacent, Drift, Generation, Partition
from pgs_neo4j.partitioning.describe import units
from pgs_neo4j.partitioning.divide import place_communities, share_unchanged
from pgs_neo4j.partitioning.drift import Comparison, compare_arrays
from pgs_neo4j.partitioning.membership import join_members, rank_members
from pgs_neo4j.partitioning.predecessor import Predecessor
from pgs_neo4j.partitioning.rows import (
    generation_of,
    generation_properties,
    partition_of,
    partition_row,
    uid,
)
from pgs_neo4j.partitioning.scan.relationships import place_lookup
from pgs_neo4j.partitioning.scan.view import MAX_WEIGHT, MIN_WEIGHT, usable_weights
from tests.unit.partitioning.conftest import generation_of_sizes, view_of

WORDS = st.lists(st.text(max_size=12), max_size=5).map(tuple)
COUNT = st.integers(0, 2**40)
SHARE = st.floats(-1, 1)
ids = st.lists(st.integers(0, 60), max_size=40, unique=True).map(sorted)


@st.composite
def generations(draw: st.DrawFn) -> Generation:
    sizes = tuple(draw(st.lists(st.integers(1, 2000), max_size=6)))
    names = st.text(min_size=1, max_size=8)
    return generation_of_sizes(
        *sizes,
        fingerprint=draw(names),
        relationship_count=draw(COUNT),
        modularity=draw(SHARE),
        raw_modularity=draw(SHARE),
        conductance=draw(st.floats(0, 1)),
        embedder=draw(st.none() | names),
        dimensions=draw(st.none() | st.integers(1, 4096)),
        issues=draw(st.dictionaries(names, COUNT, max_size=4)),
        origin=draw(st.sampled_from(["cold", "seeded", "refreshed"])),
        split=draw(COUNT),
        merged=draw(COUNT),
        pools=draw(COUNT),
        levels=tuple(draw(st.lists(st.integers(1, 50), max_size=4))),
        seconds=draw(st.dictionaries(names, st.integers(0, 10**6).map(lambda ms: ms / 1000))),
        token=draw(st.none() | names),
        settings=draw(st.text(max_size=8)),
        common=draw(WORDS),
        grown=draw(st.floats(0, 3)),
    )


@given(generations())
@settings(max_examples=60, deadline=None)
def test_every_generation_is_read_back_equal(whole: Generation) -> None:
    stored: Any = {"id": whole.id, "created_at": whole.created_at} | generation_properties(whole)
    assert generation_of(whole.graph, stored) == whole


@given(
    words=WORDS,
    summary=st.text(max_size=40),
    links=st.lists(st.tuples(st.integers(1, 99), COUNT, st.floats(0, 1e9)), max_size=8),
    centroid=st.none() | st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=8),
    parent=st.none() | st.integers(1, 99),
)
@settings(max_examples=60, deadline=None)
def test_every_partition_is_read_back_equal(
    words: tuple[str, ...],
    summary: str,
    links: list[tuple[int, int, float]],
    centroid: list[float] | None,
    parent: int | None,
) -> None:
    vector = None if centroid is None else np.asarray(centroid, dtype=np.float32)
    part = Partition(
        id=3,
        uid=uid("g1", 3),
        lineage="g0:1",
        size=5,
        tokens=9,
        keywords=words,
        summary=summary,
        centroid=vector,
        parent=parent,
        adjacent=tuple(
            sorted(
                (Adjacent(*link) for link in links),
                key=lambda link: (-link.edges, -link.weight, link.id),
            )
        ),
    )
    row: Any = {"partition": partition_row(part), "adjacent": links[::-1], "parent": parent}
    read = partition_of(row)
    assert read.adjacent == part.adjacent
    assert (read.keywords, read.summary, read.parent) == (words, summary, parent)
    assert (read.centroid is None) == (vector is None)
    assert vector is None or (read.centroid is not None and (read.centroid == vector).all())


@given(stored=ids, scanned=ids, seed=st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_comparing_counts_exactly_what_came_went_and_changed(
    stored: list[int], scanned: list[int], seed: int
) -> None:
    random = np.random.default_rng(seed)
    old, new = view_of(stored), view_of(scanned)
    labels = random.integers(0, 4, len(stored))
    labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
    members = rank_members(old, labels)
    shuffled = members.of(random.permutation(len(stored)))
    changed = random.random(len(scanned)) < 0.3
    new = view_of(scanned, text_hash=np.where(changed, new.text_hash + 1, new.text_hash))
    current = generation_of_sizes(*np.bincount(labels).tolist() if stored else ())
    if not scanned:
        return  # an empty view is refused before it is compared
    comparison = compare_arrays(current, shuffled, new.sketch, new, "")
    was = dict(zip(stored, labels.tolist(), strict=True))
    drift = comparison.drift
    assert drift.nodes_added == len(set(scanned) - set(stored))
    assert drift.nodes_removed == len(set(stored) - set(scanned))
    assert comparison.labels.tolist() == [was.get(node, -1) for node in scanned]
    touched = {was[node] + 1 for node, c in zip(scanned, changed, strict=True) if c and node in was}
    assert comparison.touched == tuple(sorted(touched))
    assert drift.relationships_changed == 0


@given(nodes=ids, seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_ranks_are_a_permutation_of_each_partition(nodes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    weight = random.choice([1.0, 2.0, np.nan], len(nodes))
    labels = random.integers(0, 5, len(nodes))
    members = rank_members(view_of(nodes, node_weight=weight), labels)
    for label in set(labels.tolist()):
        inside = np.flatnonzero(labels == label)
        assert sorted(members.rank[inside].tolist()) == list(range(len(inside)))
        by_rank = weight[inside[np.argsort(members.rank[inside])]]
        known = by_rank[~np.isnan(by_rank)]
        assert (np.diff(known) <= 0).all()
    halves = [members.of(slice(0, 7)), members.of(slice(7, None))]
    assert join_members(halves).nodes.tolist() == nodes


@given(scanned=ids, projected=ids, seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_every_scanned_node_gets_a_community(
    scanned: list[int], projected: list[int], seed: int
) -> None:
    labels = np.random.default_rng(seed).integers(0, 5, len(projected))
    at = np.asarray(scanned, dtype=np.int64)
    if not scanned:
        return
    placed = place_communities(at, Communities(np.asarray(projected, dtype=np.int64), labels, 0.0))
    of = dict(zip(projected, labels.tolist(), strict=True))
    for node, label in zip(scanned, placed.tolist(), strict=True):
        assert label == of[node] if node in of else label > labels.max(initial=-1)
    alone = [label for node, label in zip(scanned, placed.tolist(), strict=True) if node not in of]
    assert len(set(alone)) == len(alone)


@given(count=st.integers(1, 30), seed=st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_a_shared_id_always_means_the_same_nodes(count: int, seed: int) -> None:
    random = np.random.default_rng(seed)

    def labels_of(groups: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.unique(random.integers(0, groups, count), return_inverse=True)[1].reshape(-1)

    before = labels_of(6)
    after = before.copy() if seed % 3 == 0 else labels_of(6)
    sizes = np.bincount(before)
    parts = tuple(
        Partition(id=n, size=int(size), tokens=0, pool=bool(random.random() < 0.3))
        for n, size in enumerate(sizes, start=1)
    )
    pool = random.random(int(after.max()) + 1) < 0.3
    touched = tuple(sorted({int(n) for n in random.integers(1, 8, 2)}))
    previous = Predecessor(
        generation_of_sizes(*sizes.tolist()),
        parts,
        Comparison(Drift(committed=True), before, touched),
    )
    division = share_unchanged(Limited(after, pool, 0, 0, after), previous)
    labels = division.limited.labels
    assert sorted(set(labels.tolist())) == list(range(len(pool)))
    assert (labels[:, None] == labels[None, :]).tolist() == (
        after[:, None] == after[None, :]
    ).tolist()
    for shared in division.shared:
        assert (labels == shared - 1).tolist() == (before == shared - 1).tolist()
        assert parts[shared - 1].pool == division.limited.pool[shared - 1]
        assert shared not in touched


@given(nodes=ids, wanted=st.lists(st.integers(0, 200), max_size=20), stride=st.integers(1, 5000))
@settings(max_examples=60, deadline=None)
def test_places_are_those_of_a_dictionary(nodes: list[int], wanted: list[int], stride: int) -> None:
    spread = np.asarray(nodes, dtype=np.int64) * stride
    asked = np.asarray(wanted, dtype=np.int64) * stride
    of = {int(node): place for place, node in enumerate(spread)}
    if not nodes:
        return
    assert place_lookup(spread)(asked).tolist() == [of.get(int(node), -1) for node in asked]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=30))
@settings(max_examples=80, deadline=None)
def test_usable_weights_bind_within_the_limits_or_not_at_all(raw: list[float]) -> None:
    weights, uniform = usable_weights(np.asarray(raw, dtype=np.float64))
    binding = weights[weights > 0]
    assert ((binding >= MIN_WEIGHT) & (binding <= MAX_WEIGHT)).all()
    assert (weights >= 0).all()
    assert not len(weights) or binding.size
    assert not uniform or set(weights.tolist()) <= {1.0}


@given(sizes=st.lists(st.integers(1, 50), min_size=1, max_size=20), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_every_level_holds_all_nodes_and_partitions(sizes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    parts = [Partition(id=n, size=size, tokens=0) for n, size in enumerate(sizes, start=1)]
    levels = []
    count = len(sizes)
    while count > 2:
        groups = random.integers(0, max(count // 2, 1), count)
        levels.append(np.unique(groups, return_inverse=True)[1].reshape(-1))
        count = int(levels[-1].max()) + 1
    linked, above = units.build(parts, levels)
    for level in range(1, len(levels) + 1):
        row = [unit for unit in above if unit.level == level]
        assert sum(unit.size for unit in row) == sum(sizes)
        assert sum(unit.partitions for unit in row) == len(sizes)
        assert [unit.id for unit in row] == list(range(1, len(row) + 1))
    assert all((part.parent is not None) == bool(levels) for part in linked)
