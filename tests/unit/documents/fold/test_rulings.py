"""Rulings: which names people joined and parted, and what taking one back leaves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.rulings import (
    Ruled,
    Ruling,
    affected_names,
    changed_rulings,
    merge_names,
    merged_into,
    merges_of,
    part_name,
    root_of,
    rulings_in_force,
    take_back_merge,
)

A, B, C, D = ((letter, "Person") for letter in "ABCD")
NAMES = (A, B, C, D)


def merged(*pairs: tuple[Named, Named]) -> Ruled:
    ruled: Ruled = {}
    for named, into in pairs:
        ruled = merge_names(ruled, named, into)
    return ruled


@pytest.mark.parametrize(
    ("pairs", "in_force"),
    [
        ([], {}),
        ([(A, B)], {A: B}),
        ([(A, B), (B, C)], {A: C, B: C}),  # what was merged before comes along
        ([(B, C), (A, B)], {A: C, B: C}),
        ([(A, B), (A, C)], {A: C, B: C}),  # the whole entity comes
        ([(A, B), (B, C), (C, A)], {A: C, B: C}),  # no circle
        ([(A, A)], {}),
    ],
)
def test_a_merge_puts_a_whole_entity_with_another(
    pairs: list[tuple[Named, Named]], in_force: dict[Named, Named]
) -> None:
    ruled = merged(*pairs)
    assert rulings_in_force(ruled) == in_force
    assert root_of(ruled, A) == [*merges_of(ruled, A)][-1] == in_force.get(A, A)


def test_taking_back_a_merge_leaves_what_came_along_together() -> None:
    before = merged((A, B))
    assert take_back_merge(merge_names(before, B, C), A) == before
    assert take_back_merge(before, A) == {}
    ruled = merged((A, B), (D, C), (B, C))  # only the latest one is taken back
    assert rulings_in_force(take_back_merge(ruled, A)) == {A: B, D: C}
    for nothing in ({}, part_name({}, A), merged((B, A))):
        assert take_back_merge(nothing, A) == nothing


def test_a_name_that_stood_apart_does_so_again() -> None:
    apart = part_name({}, A)
    assert rulings_in_force(apart) == {A: A}
    joined = merge_names(apart, A, B)
    assert rulings_in_force(joined) == {A: B}
    assert take_back_merge(joined, A) == apart
    waiting = part_name(merged((A, B)), A)  # until the merge ends
    assert rulings_in_force(waiting) == {A: B}
    assert rulings_in_force(take_back_merge(waiting, A)) == {A: A}


def test_direct_merges_are_told() -> None:
    ruled = merged((A, B), (B, D), (C, D))
    assert [*merges_of(ruled, A)] == [A, B, D]
    assert merged_into(ruled, D) == [B, C]
    assert merged_into(ruled, A) == []


def test_both_ends_of_what_changed_are_concerned() -> None:
    former = merged((A, B))
    assert affected_names({}, former) == {A, B}
    assert affected_names(former, merge_names(former, B, C)) == {A, B, C}
    assert affected_names(former, former) == set()
    assert affected_names({}, part_name({}, D)) == {D}


def test_only_changed_rulings_are_stored() -> None:
    former = part_name(merged((A, B)), D)
    assert changed_rulings(former, merge_names(former, B, C)) == ({B: Ruling(C)}, [])
    assert changed_rulings(former, take_back_merge(former, A)) == ({}, [A])
    assert changed_rulings(former, merge_names(former, D, C)) == ({D: Ruling(C, apart=True)}, [])


def test_a_circle_that_others_stored_ends() -> None:
    ruled = {A: Ruling(B), B: Ruling(A)}
    assert [*merges_of(ruled, A)] == [A, B]
    assert rulings_in_force(ruled) == {A: B, B: A}


STEPS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=8)


@given(STEPS, st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_any_merge_can_be_taken_back(
    steps: list[tuple[Named, Named]], named: Named, into: Named
) -> None:
    before: Ruled = {}
    for one, other in steps:
        before = part_name(before, one) if one == other else merge_names(before, one, other)
    after = merge_names(before, named, into)
    assert root_of(after, named) == root_of(after, into)
    if after != before:
        assert take_back_merge(after, named) == before
