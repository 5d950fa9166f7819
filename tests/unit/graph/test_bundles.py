"""Documents as bundles: what belongs to one, how it is cut, and what mentions weigh."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.bundles import (
    CONTINUED,
    MENTIONED,
    bundle_documents,
    entity_rarity,
    find_documents,
    is_order,
    liken_bundles,
    share_together,
    weigh_relationships,
)
from pgs_neo4j.graph.csr import BoolArray, IntArray

ROOMY = Limits(min_nodes=1, max_nodes=100, max_tokens=1000)


def ends(*pairs: tuple[int, int]) -> tuple[IntArray, IntArray]:
    both = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def flags(*values: int) -> BoolArray:
    return np.asarray(values, dtype=np.bool_)


def chain(*nodes: int) -> list[tuple[int, int]]:
    return list(pairwise(nodes))


def test_passages_in_a_row_are_in_order_and_alike_ones_are_not() -> None:
    passage = np.ones(4, dtype=np.bool_)
    assert is_order(passage, ends(*chain(0, 1, 2, 3)))
    assert is_order(passage, ends((0, 1), (0, 1), (1, 2), (2, 2)))  # repeated, and to itself
    assert not is_order(passage, ends((0, 1), (0, 2), (1, 3)))  # branches
    assert not is_order(passage, ends((0, 2), (1, 2)))  # meets
    assert not is_order(flags(1, 1, 0, 1), ends(*chain(0, 1, 2)))  # one is no passage
    assert not is_order(passage, ends((1, 1)))


def test_a_document_is_what_order_and_parts_connect() -> None:
    # 0, 1, 2 in order; 5 has the parts 3 and 4; 6 is alone; 7 is an entity of 0 and 3.
    pairs = ends((0, 1), (1, 2), (5, 3), (5, 4), (7, 0), (7, 3))
    order, part = flags(1, 1, 0, 0, 0, 0), flags(0, 0, 1, 1, 0, 0)
    document = find_documents(np.ones(8, dtype=np.bool_), pairs, order, part)
    assert document.tolist() == [0, 0, 0, 1, 1, 1, -1, -1]


def test_a_document_that_fits_is_one_bundle() -> None:
    pairs = ends(*chain(0, 1, 2), *chain(3, 4), (5, 0), (5, 3))
    order = flags(1, 1, 1, 0, 0)
    document = find_documents(flags(1, 1, 1, 1, 1, 0), pairs, order, ~order & False)
    bundles = bundle_documents(document, pairs, order, np.full(6, 10), ROOMY)
    assert bundles.of.tolist() == [0, 0, 0, 1, 1, 2]
    assert bundles.first.tolist() == [0, 3, 5]
    assert bundles.nodes.tolist() == [3, 2, 1]
    assert bundles.sum(np.full(6, 10)).tolist() == [30, 20, 10]


def test_a_document_over_the_limit_is_cut_into_consecutive_runs() -> None:
    # In order of reading: 4, 2, 0, 3, 1, 5.
    reading = [4, 2, 0, 3, 1, 5]
    pairs = ends(*chain(*reading))
    order = np.ones(5, dtype=np.bool_)
    document = find_documents(np.ones(6, dtype=np.bool_), pairs, order, ~order)
    bundles = bundle_documents(document, pairs, order, np.full(6, 300), ROOMY)
    runs = bundles.of[reading].tolist()
    assert runs == sorted(runs, key=runs.index)  # each bundle is one run
    assert bundles.sum(np.full(6, 300)).max() <= 1000
    assert 2 <= len(set(runs)) <= 3


def test_a_passage_over_the_limit_is_alone_between_two_runs() -> None:
    pairs, order = ends(*chain(0, 1, 2, 3, 4)), np.ones(4, dtype=np.bool_)
    document = find_documents(np.ones(5, dtype=np.bool_), pairs, order, ~order)
    tokens = np.array([10, 10, 5000, 10, 10])
    bundles = bundle_documents(document, pairs, order, tokens, ROOMY)
    assert bundles.of.tolist() == [0, 0, 1, 2, 2]


def test_passages_in_a_ring_are_one_document() -> None:
    pairs, order = ends((0, 1), (1, 2), (2, 0)), np.ones(3, dtype=np.bool_)
    document = find_documents(np.ones(3, dtype=np.bool_), pairs, order, ~order)
    bundles = bundle_documents(document, pairs, order, np.ones(3, dtype=np.int64), ROOMY)
    assert bundles.of.tolist() == [0, 0, 0]


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=6),
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
    st.integers(100, 1500),
)
def test_bundles_keep_the_limits_and_the_order(
    sizes: list[int], seed: int, most_nodes: int, most_tokens: int
) -> None:
    chance = np.random.default_rng(seed)
    count = sum(sizes)
    names = chance.permutation(count)
    documents = np.split(names, np.cumsum(sizes)[:-1])
    pairs = ends(*(pair for one in documents for pair in chain(*one.tolist())))
    order = np.ones(pairs[0].size, dtype=np.bool_)
    tokens = chance.integers(0, 600, count)
    limits = Limits(min_nodes=1, max_nodes=most_nodes, max_tokens=most_tokens)
    document = find_documents(np.ones(count, dtype=np.bool_), pairs, order, ~order)
    bundles = bundle_documents(document, pairs, order, tokens, limits)
    assert limits.fits(bundles.nodes, bundles.sum(tokens)).all()
    assert bundles.nodes.sum() == count
    assert (bundles.of[bundles.first] == np.arange(bundles.first.size)).all()
    for one in documents:
        runs = bundles.of[one].tolist()
        assert len(set(runs)) == 1 + sum(a != b for a, b in chain(*runs))


def test_most_is_the_label_of_most_nodes() -> None:
    pairs, order = ends(*chain(0, 1, 2), *chain(3, 4)), np.ones(3, dtype=np.bool_)
    document = find_documents(np.ones(6, dtype=np.bool_), pairs, order, ~order)
    bundles = bundle_documents(document, pairs, order, np.ones(6, dtype=np.int64), ROOMY)
    assert bundles.most(np.array([7, 2, 2, 5, 4, -1])).tolist() == [2, 4, -1]
    assert bundles.most(np.array([-1, -1, 3, -1, -1, -1])).tolist() == [3, -1, -1]


def test_a_mention_counts_by_the_rarity_of_its_entity() -> None:
    # Four documents of two passages; entity 8 is in one, 9 in two, 10 in all.
    order_pairs = [pair for at in range(0, 8, 2) for pair in chain(at, at + 1)]
    mentions = [(8, 0), (8, 1), (9, 0), (9, 2), (10, 0), (10, 2), (10, 4), (10, 6)]
    others = [(8, 9), (9, 10)]
    pairs = ends(*order_pairs, *mentions, *others)
    kind = np.repeat([0, 1, 2], [4, 8, 2])
    passage = np.arange(11) < 8
    order, mention = kind == 0, kind == 1
    document = find_documents(passage, pairs, order, kind == 3)
    bundles = bundle_documents(document, pairs, order, np.ones(11, dtype=np.int64), ROOMY)
    rarity = entity_rarity(bundles, pairs, mention, passage)
    assert rarity[:8].tolist() == [1.0] * 8
    two, four = 1 - np.log(2) / np.log(5), 1 - np.log(4) / np.log(5)
    assert rarity[8:].tolist() == pytest.approx([1.0, two, four])
    weight = weigh_relationships(
        bundles,
        pairs,
        np.full(14, 2.0),
        order=order,
        part=kind == 3,
        mention=mention,
        passage=passage,
    )
    assert weight[:4].tolist() == [CONTINUED] * 4
    assert weight[4:12].tolist() == pytest.approx([2.0] * 2 + [2 * two] * 2 + [2 * four] * 4)
    assert weight[12:].tolist() == pytest.approx([2 * two, 2 * four])  # by the commoner end


def test_the_direction_of_a_mention_does_not_matter() -> None:
    passage = flags(1, 1, 0)
    pairs = ends((2, 0), (2, 1))
    none = np.zeros(2, dtype=np.bool_)
    document = find_documents(passage, pairs, none, none)
    bundles = bundle_documents(document, pairs, none, np.ones(3, dtype=np.int64), ROOMY)
    there = entity_rarity(bundles, pairs, ~none, passage)
    back = entity_rarity(bundles, pairs[::-1], ~none, passage)
    assert there.tolist() == back.tolist()
    assert there.tolist() == pytest.approx([1.0, 1.0, 1 - np.log(2) / np.log(3)])


def test_what_all_documents_mention_is_still_tied_to_them() -> None:
    passage = np.arange(101) < 100
    pairs = np.full(100, 100), np.arange(100)
    none = np.zeros(100, dtype=np.bool_)
    document = find_documents(passage, pairs, none, none)
    bundles = bundle_documents(document, pairs, none, np.ones(101, dtype=np.int64), ROOMY)
    rarity = entity_rarity(bundles, pairs, ~none, passage)
    assert 0.0 < rarity[100] < 0.01


def test_what_is_together_are_passages_and_not_the_nodes_of_their_documents() -> None:
    document = np.array([0, 0, 0, -1])
    passage = np.array([True, True, False, True])
    labels = np.array([0, 1, 1, 0])
    assert share_together(document, passage, labels) == 0.5


def test_likeness_of_documents_takes_most_of_the_weight_of_mentions() -> None:
    # Documents 0-1, 2-3, 4-5 mention entities 6, 7, 8; the first two share 6, and 8 stands alone.
    mentions = [(6, 0), (6, 2), (7, 4), (8, 5)]
    pairs = ends((0, 1), (2, 3), (4, 5), *mentions, (6, 7))
    kind = np.repeat([0, 1, 2], [3, 4, 1])
    passage, order, mention = np.arange(9) < 6, kind == 0, kind == 1
    document = find_documents(passage, pairs, order, kind == 3)
    bundles = bundle_documents(document, pairs, order, np.ones(9, dtype=np.int64), ROOMY)
    weight = np.arange(8) + 1.0
    left, alike = liken_bundles(bundles, pairs, weight, mention=mention, passage=passage)
    assert left[mention].tolist() == pytest.approx((MENTIONED * weight[mention]).tolist())
    assert left[~mention].tolist() == weight[~mention].tolist()
    assert {*zip(alike.source.tolist(), alike.target.tolist(), strict=True)} == {(0, 2), (2, 0)}
    assert left.sum() + alike.total == pytest.approx(weight.sum())


def test_mentions_keep_their_weight_where_no_documents_are_alike() -> None:
    pairs = ends((0, 1), (2, 3), (4, 0), (5, 2))
    order = flags(1, 1, 0, 0)
    passage = np.arange(6) < 4
    document = find_documents(passage, pairs, order, ~order & False)
    bundles = bundle_documents(document, pairs, order, np.ones(6, dtype=np.int64), ROOMY)
    weight = np.ones(4)
    left, alike = liken_bundles(bundles, pairs, weight, mention=~order, passage=passage)
    assert left.tolist() == weight.tolist()
    assert (alike.node_count, alike.source.size) == (6, 0)
