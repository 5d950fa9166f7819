"""Communities that are too large are cut where they were cut before."""

import numpy as np

from pgs_neo4j.graph.limits import Limits
from pgs_neo4j.graph.steady import steadied

LIMITS = Limits(min_nodes=2, max_nodes=10, max_tokens=1000)


def parts(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def test_what_fits_stays_whole_wherever_it_was_before():
    labels, before = np.repeat([3, 8], 10), np.arange(20) % 5
    found = steadied(labels, before, np.zeros(20, dtype=np.int64), LIMITS)
    assert parts(found) == {frozenset(range(10)), frozenset(range(10, 20))}


def test_what_is_too_large_is_cut_along_the_partitions_before():
    before = np.repeat([4, 2, 4], [8, 8, 4])
    found = steadied(np.zeros(20, dtype=np.int64), before, np.ones(20, dtype=np.int64), LIMITS)
    assert parts(found) == {frozenset([*range(8), *range(16, 20)]), frozenset(range(8, 16))}


def test_too_much_text_counts_as_too_large():
    tokens = np.full(8, 200)
    found = steadied(np.zeros(8, dtype=np.int64), np.repeat([0, 1], 4), tokens, LIMITS)
    assert parts(found) == {frozenset(range(4)), frozenset(range(4, 8))}


def test_who_had_no_partition_stands_alone():
    before = np.array([0] * 6 + [-1] * 2 + [1] * 6)
    found = steadied(np.zeros(14, dtype=np.int64), before, np.zeros(14, dtype=np.int64), LIMITS)
    expected = {frozenset(range(6)), frozenset([6]), frozenset([7]), frozenset(range(8, 14))}
    assert parts(found) == expected


def test_nothing_at_all():
    none = np.zeros(0, dtype=np.int64)
    assert steadied(none, none, none, LIMITS).size == 0
