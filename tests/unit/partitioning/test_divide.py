"""From communities to partitions within limits, and which of them are shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.gds import Communities
from pgs_neo4j.graph.csr import undirected
from pgs_neo4j.graph.limits import Limited
from pgs_neo4j.model import Drift, Node, Relationship
from pgs_neo4j.partitioning.divide import (
    divide_communities,
    limits_of,
    place_communities,
    prompt_tokens,
    share_unchanged,
)
from pgs_neo4j.partitioning.drift import Comparison
from pgs_neo4j.partitioning.predecessor import Predecessor
from pgs_neo4j.sweeping.pack import pack
from pgs_neo4j.text.tokens import estimate
from tests.unit.partitioning.conftest import (
    build_order,
    build_tools,
    generation_of_sizes,
    ints,
    partition,
    view_of,
)


def communities(ids: list[int], labels: list[int]) -> Communities:
    return Communities(ints(*ids), ints(*labels), 0.5)


def limited(labels: list[int], *pools: int) -> Limited:
    pool = np.zeros(max(labels) + 1, dtype=np.bool_)
    pool[list(pools)] = True
    return Limited(ints(*labels), pool, 0, 0, ints(*labels))


def previous_of(labels: list[int], *pools: int, touched: tuple[int, ...] = ()) -> Predecessor:
    sizes = np.bincount(np.asarray(labels)[np.asarray(labels) >= 0])
    parts = tuple(
        partition(number, int(size), pool=number - 1 in pools)
        for number, size in enumerate(sizes, start=1)
    )
    comparison = Comparison(Drift(committed=True), ints(*labels), touched)
    return Predecessor(generation_of_sizes(*sizes.tolist()), parts, comparison)


def test_a_community_goes_to_the_place_of_its_node() -> None:
    placed = place_communities(ints(2, 5, 9), communities([2, 5, 9], [7, 7, 3]))
    assert placed.tolist() == [7, 7, 3]


def test_a_node_gone_before_the_projection_gets_a_community_of_its_own() -> None:
    placed = place_communities(ints(2, 5, 9), communities([2, 9], [4, 4]))
    assert placed[0] == placed[2] == 4
    assert placed[1] != 4
    assert len(set(place_communities(ints(2, 5, 9), communities([], [])).tolist())) == 3


def test_a_node_that_came_after_the_scan_is_left_to_the_next_generation() -> None:
    placed = place_communities(ints(2, 5), communities([1, 2, 5, 11], [0, 1, 1, 0]))
    assert placed.tolist() == [1, 1]


def test_the_maximum_of_nodes_caps_the_minimum() -> None:
    limits = limits_of(PGSConfig(min_community_size=30, target_partition_max=10))
    assert (limits.min_nodes, limits.max_nodes) == (10, 10)
    limits = limits_of(PGSConfig(min_community_size=3, target_partition_max=10))
    assert (limits.min_nodes, limits.max_nodes) == (3, 10)


def test_equal_partitions_keep_their_ids_and_are_shared() -> None:
    division = share_unchanged(limited([1, 1, 0, 0, 0]), previous_of([0, 0, 1, 1, 1]))
    assert division.limited.labels.tolist() == [0, 0, 1, 1, 1]
    assert division.shared == {1, 2}


def test_a_partition_that_gained_a_node_is_not_shared() -> None:
    division = share_unchanged(limited([0, 0, 0, 1, 1]), previous_of([0, 0, -1, 1, 1]))
    assert division.shared == {2}
    assert division.limited.labels.tolist() == [0, 0, 0, 1, 1]


def test_a_touched_partition_is_written_again() -> None:
    previous = previous_of([0, 0, 1, 1], touched=(2,))
    assert share_unchanged(limited([0, 0, 1, 1]), previous).shared == {1}


def test_a_partition_that_became_a_pool_is_written_again() -> None:
    previous = previous_of([0, 0, 1, 1], 0)
    assert share_unchanged(limited([0, 0, 1, 1], 0), previous).shared == {1, 2}
    assert share_unchanged(limited([0, 0, 1, 1]), previous).shared == {2}
    assert share_unchanged(limited([0, 0, 1, 1], 0, 1), previous).shared == {1}


def test_an_id_beyond_the_new_count_cannot_be_kept() -> None:
    # Partition 3 stays whole, and there are only two partitions now.
    previous = previous_of([0, 1, 2, 2])
    division = share_unchanged(limited([0, 0, 1, 1]), previous)
    assert division.shared == frozenset()
    assert sorted(set(division.limited.labels.tolist())) == [0, 1]


async def test_a_single_pool_needs_no_order_of_nodes() -> None:
    view = view_of(list(range(10)))
    order = build_order(PGSConfig(min_community_size=2, target_partition_max=20))
    tools = build_tools()
    edges = undirected(10, view.source, view.target)
    division = await divide_communities(order, tools, view, edges, np.arange(10), None)
    assert division.limited.pool.tolist() == [True]
    assert division.shared == frozenset()
    db: Any = tools.db
    assert db.sent == []


async def test_several_pools_are_divided_by_likeness() -> None:
    texts = ["apples and pears", "iron and steel"] * 20

    def features(params: dict[str, Any]) -> list[dict[str, Any]]:
        ids = params["ids"]
        return [{"ids": ids, "vectors": [[]] * len(ids), "texts": [[texts[i]] for i in ids]}]

    view = view_of(list(range(40)))
    order = build_order(PGSConfig(min_community_size=2, target_partition_max=25))
    tools = build_tools(read_features=features)
    edges = undirected(40, view.source, view.target)
    division = await divide_communities(order, tools, view, edges, np.arange(40), None)
    labels = division.limited.labels
    assert division.limited.pool.tolist() == [True, True]
    assert len(set(labels[::2].tolist())) == len(set(labels[1::2].tolist())) == 1


@pytest.mark.parametrize("changed", [True, False])
async def test_partitions_stay_as_long_as_that_is_about_as_good(changed: bool) -> None:
    # Two cliques of four, joined once; earlier partitions are the cliques.
    pairs = [(a + f, b + f) for f in (0, 4) for a in range(4) for b in range(a)] + [(3, 4)]
    view = view_of(list(range(8)), pairs)
    edges = undirected(8, view.source, view.target)
    order = build_order(PGSConfig(min_community_size=2, target_partition_max=8))
    previous = previous_of([0, 0, 0, 0, 1, 1, 1, 1] if not changed else [0, 1, 0, 1, 0, 1, 0, 1])
    cliques = np.repeat([0, 1], 4)
    division = await divide_communities(order, build_tools(), view, edges, cliques, previous)
    assert division.limited.labels.tolist() in ([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)
    assert division.shared == (frozenset() if changed else {1, 2})


@pytest.mark.parametrize("length", [20, 100, 150, 200, 300, 600, 2000, 20_000])
@pytest.mark.parametrize("title", [30, 100])
def test_a_partition_of_the_default_limit_is_one_pass(length: int, title: int) -> None:
    config, text = PGSConfig(), ("word " * (length // 5 + 1))[:length]
    (tokens,) = prompt_tokens(np.array([estimate(text)])).tolist()
    count = min(config.target_partition_max, config.max_partition_tokens // tokens)
    nodes = [
        Node(rank=i, element_id="e", key="k", title="T" * title, text=text, labels=("Comment",))
        for i in range(count)
    ]
    links = [
        Relationship(i, i * step % count, "REPLIES_TO")
        for step in (7, 11, 13)
        for i in range(count)
    ]
    size = config.max_pass_characters
    passes = pack(nodes, links, max_characters=size, max_tokens=None, reserved=15_000)
    assert len(passes) == 1
    assert passes[0].omitted == 0


def test_short_texts_count_for_more_and_none_for_more_than_double() -> None:
    texts = np.array([0, 1, 10, 29, 57, 86, 123, 124, 10_000])
    assert prompt_tokens(texts).tolist() == [0, 2, 20, 56, 76, 97, 124, 124, 10_000]
