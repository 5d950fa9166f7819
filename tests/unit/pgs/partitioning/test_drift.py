"""What moved between a generation and a scan, and what follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.model import Drift, Origin
from pgs_neo4j.pgs.partitioning.drift import (
    Comparison,
    Predecessor,
    choose_origin,
    compare_arrays,
    confirm_generation,
    count_changes,
    is_valid,
    unchanged_drift,
)
from pgs_neo4j.pgs.partitioning.membership import Membership, rank_members
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.partitioning.conftest import generation_of_sizes, ints, partition, view_of

CURRENT = generation_of_sizes(2, 2, relationship_count=2, settings="s", token="t", grown=0.1)
PAIRS = [(0, 1), (2, 3)]
# Nodes 1, 4 in partition 1 and 6, 9 in partition 2, in no order.
MEMBERS = Membership(
    ints(9, 1, 6, 4), ints(2, 1, 2, 1), ints(0, 0, 1, 1), ints(90, 10, 60, 40), ints(0, 0, 0, 0)
)
SAME = view_of([1, 4, 6, 9], PAIRS)


def compare(view: Any = SAME, members: Membership = MEMBERS, settings: str = "s") -> Any:
    return compare_arrays(CURRENT, members, SAME.sketch, view, settings)


def test_an_equal_scan_has_not_drifted() -> None:
    comparison = compare()
    assert not comparison.drift.changed
    assert comparison.drift.grown == 0.1
    other = compare(settings="other").drift
    assert (other.settings_changed, other.changed, other.fraction) == (True, True, 0.0)
    assert comparison.labels.tolist() == [0, 0, 1, 1]
    assert comparison.touched == ()


def test_changed_texts_and_facts_touch_their_partitions() -> None:
    view = view_of([1, 4, 6, 9], PAIRS, text_hash=ints(10, 41, 60, 90), facts=ints(0, 5, 0, 5))
    comparison = compare(view)
    # A node whose text changed is not counted again for its weight.
    assert (comparison.drift.texts_changed, comparison.drift.facts_changed) == (1, 1)
    assert comparison.touched == (1, 2)
    assert not comparison.drift.structure_changed
    assert comparison.drift.fraction == 0.5


def test_members_deleted_since_count_as_removed() -> None:
    comparison = compare(members=MEMBERS.of(ints(0, 1, 2)))
    assert comparison.drift.nodes_removed == 1
    assert comparison.drift.nodes_added == 1
    assert comparison.labels.tolist() == [0, -1, 1, 1]


def test_what_moved_is_counted_by_partition() -> None:
    view = view_of([1, 4, 6, 7], PAIRS, text_hash=ints(10, 41, 60, 70), facts=ints(0, 5, 0, 0))
    drift = count_changes(CURRENT, MEMBERS, view)
    assert (drift.generation, drift.added) == (CURRENT.id, 1)
    told = [(one.partition, one.nodes, one.removed, one.changed) for one in drift.partitions]
    assert told == [(1, 2, 0, 1), (2, 2, 1, 0)]
    assert [one.fraction for one in drift.partitions] == [0.5, 0.5]
    deleted = count_changes(CURRENT, MEMBERS.of(ints(0, 2)), SAME)
    assert [one.removed for one in deleted.partitions] == [2, 0]
    assert deleted.added == 2


@pytest.mark.parametrize(
    ("pairs", "changed"),
    [
        (PAIRS, 0),
        ([*PAIRS, (0, 2)], 1),
        ([(0, 1)], 1),
        ([(0, 1), (0, 3)], 1),
        ([(0, 2), (0, 3)], 2),
        ([], 2),
    ],
)
def test_a_relationship_that_moved_counts_once(pairs: list[tuple[int, int]], changed: int) -> None:
    drift = compare(view_of([1, 4, 6, 9], pairs)).drift
    assert drift.relationships_changed == changed
    assert drift.relationships == len(pairs)


def test_a_sketch_of_another_shape_says_that_all_may_differ() -> None:
    view = view_of([1, 4, 6, 9], PAIRS)
    comparison = compare_arrays(CURRENT, MEMBERS, ints(), view, "s")
    assert comparison.drift.relationships_changed == 2
    empty = compare_arrays(CURRENT, MEMBERS, ints(), view_of([1, 4, 6, 9]), "s")
    assert empty.drift.relationships_changed == 1


@pytest.mark.parametrize(
    ("drift", "origin"),
    [
        (Drift(committed=True), None),
        (Drift(committed=True, settings_changed=True), "cold"),
        (Drift(committed=True, settings_changed=True, texts_changed=1, nodes=100), "cold"),
        (Drift(committed=True, texts_changed=50, nodes=100), "refreshed"),
        (Drift(committed=True, facts_changed=100, nodes=100), "refreshed"),
        (Drift(committed=True, nodes_added=2, nodes=100), "seeded"),
        (Drift(committed=True, relationships_changed=2, relationships=100), "seeded"),
        (Drift(committed=True, nodes_added=2, nodes=100, grown=0.2), "cold"),
        (Drift(committed=True, nodes_added=30, nodes=100), "cold"),
    ],
)
def test_the_next_generation_comes_about_by_what_moved(drift: Drift, origin: Origin | None) -> None:
    assert choose_origin(drift, PGSConfig(algorithm="louvain", seed_drift=0.2)) == origin


def test_leiden_cannot_grow_from_partitions() -> None:
    drift = Drift(committed=True, nodes_added=1, nodes=100)
    assert choose_origin(drift, PGSConfig(algorithm="leiden")) == "cold"
    assert choose_origin(drift, PGSConfig(algorithm="leiden-louvain")) == "seeded"


@pytest.mark.parametrize(
    ("settings", "token", "valid"),
    [("s", "t", True), ("s", "u", False), ("s", None, False), ("other", "t", False)],
)
def test_a_generation_is_valid_at_its_own_token_and_settings(
    settings: str, token: str | None, valid: bool
) -> None:
    assert is_valid(CURRENT, settings, token) is valid
    assert not is_valid(None, settings, token)
    assert not is_valid(replace(CURRENT, token=None), settings, None)


@pytest.mark.parametrize(
    ("fingerprint", "members", "confirmed"), [("f", 4, True), ("f", 3, False), ("x", 4, False)]
)
async def test_only_a_confirmed_generation_takes_the_new_token(
    fingerprint: str, members: int, confirmed: bool
) -> None:
    db: Any = FakeDatabase(read_member_count=[{"members": members}])
    assert await confirm_generation(db, CURRENT, fingerprint, "u") is confirmed
    verified = [{"generation": "g1", "token": "u"}] if confirmed else []
    assert db.params("set_verified") == verified


@pytest.mark.parametrize("committed", [True, False])
def test_no_drift_carries_the_figures_of_the_generation(committed: bool) -> None:
    drift = unchanged_drift(CURRENT, committed=committed)
    assert drift == Drift(committed=committed, nodes=4, relationships=2, grown=0.1)
    assert not drift.changed


IDS = st.lists(st.integers(0, 60), max_size=40, unique=True).map(sorted)


@given(stored=IDS, scanned=IDS.filter(len), seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_comparing_counts_exactly_what_came_went_and_changed(
    stored: list[int], scanned: list[int], seed: int
) -> None:
    random = np.random.default_rng(seed)
    labels = np.unique(random.integers(0, 4, len(stored)), return_inverse=True)[1].reshape(-1)
    members = rank_members(view_of(stored), labels).of(random.permutation(len(stored)))
    changed = random.random(len(scanned)) < 0.3
    new = view_of(scanned, text_hash=np.asarray(scanned) * 10 + changed)
    current = generation_of_sizes(*np.bincount(labels).tolist() if stored else ())
    comparison = compare_arrays(current, members, new.sketch, new, "")
    was = dict(zip(stored, labels.tolist(), strict=True))
    drift = comparison.drift
    assert drift.nodes_added == len(set(scanned) - set(stored))
    assert drift.nodes_removed == len(set(stored) - set(scanned))
    assert comparison.labels.tolist() == [was.get(node, -1) for node in scanned]
    touched = {was[node] + 1 for node, c in zip(scanned, changed, strict=True) if c and node in was}
    assert comparison.touched == tuple(sorted(touched))
    assert drift.relationships_changed == 0


PARTS = (partition(1, 2), partition(2, 3, pool=True), partition(3, 1))


def test_nothing_binds_the_nodes_of_a_pool() -> None:
    comparison = Comparison(Drift(committed=True), ints(0, 1, -1, 2, 1, 0))
    previous = Predecessor(generation_of_sizes(2, 3, 1), PARTS, comparison)
    assert previous.bound.tolist() == [0, -1, -1, 2, -1, 0]


def test_without_partitions_nothing_is_bound() -> None:
    comparison = Comparison(Drift(committed=True), ints(-1, -1))
    assert Predecessor(generation_of_sizes(), (), comparison).bound.tolist() == [-1, -1]
