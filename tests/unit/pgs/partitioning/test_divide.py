"""From communities to partitions within limits, and which of them are shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.gds import Communities
from pgs_neo4j.graph.csr import undirected
from pgs_neo4j.graph.limits import Limited
from pgs_neo4j.model import Drift, Node, Relationship
from pgs_neo4j.pgs.partitioning.divide import (
    divide_communities,
    limits_of,
    place_communities,
    prompt_tokens,
    share_unchanged,
)
from pgs_neo4j.pgs.partitioning.drift import Comparison, Predecessor
from pgs_neo4j.pgs.sweeping.pack import pack
from pgs_neo4j.text.tokens import estimate
from tests.unit.pgs.partitioning.conftest import (
    build_order,
    build_tools,
    generation_of_sizes,
    ints,
    partition,
    view_of,
)


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


@pytest.mark.parametrize(
    ("ids", "labels", "placed"),
    [
        ([2, 5, 9], [7, 7, 3], [7, 7, 3]),
        # A node gone before the projection gets a community of its own.
        ([2, 9], [4, 4], [4, 6, 4]),
        ([], [], [1, 2, 3]),
        # One that came after the scan is left to the next generation.
        ([1, 2, 5, 9, 11], [0, 1, 1, 0, 0], [1, 1, 0]),
    ],
)
def test_a_community_goes_to_the_place_of_its_node(
    ids: list[int], labels: list[int], placed: list[int]
) -> None:
    found = place_communities(ints(2, 5, 9), Communities(ints(*ids), ints(*labels), 0.5))
    assert found.tolist() == placed


def test_the_maximum_of_nodes_caps_the_minimum() -> None:
    limits = limits_of(PGSConfig(min_community_size=30, target_partition_max=10))
    assert (limits.min_nodes, limits.max_nodes) == (10, 10)
    limits = limits_of(PGSConfig(min_community_size=3, target_partition_max=10))
    assert (limits.min_nodes, limits.max_nodes) == (3, 10)


@pytest.mark.parametrize(
    ("found", "previous", "shared"),
    [
        pytest.param(limited([1, 1, 0, 0, 0]), previous_of([0, 0, 1, 1, 1]), {1, 2}, id="equal"),
        pytest.param(limited([0, 0, 0, 1, 1]), previous_of([0, 0, -1, 1, 1]), {2}, id="one more"),
        pytest.param(
            limited([0, 0, 1, 1]), previous_of([0, 0, 1, 1], touched=(2,)), {1}, id="touched"
        ),
        pytest.param(limited([0, 0, 1, 1], 0), previous_of([0, 0, 1, 1], 0), {1, 2}, id="pool"),
        pytest.param(limited([0, 0, 1, 1]), previous_of([0, 0, 1, 1], 0), {2}, id="no pool now"),
        pytest.param(limited([0, 0, 1, 1], 0, 1), previous_of([0, 0, 1, 1], 0), {1}, id="a pool"),
        # Partition 3 stays whole, and there are only two partitions now.
        pytest.param(limited([0, 0, 1, 1]), previous_of([0, 1, 2, 2]), set(), id="beyond"),
    ],
)
def test_only_equal_partitions_keep_their_ids_and_are_shared(
    found: Limited, previous: Predecessor, shared: set[int]
) -> None:
    division = share_unchanged(found, previous)
    assert division.shared == shared
    labels, before = division.limited.labels, previous.labels
    assert set(labels.tolist()) == set(found.labels.tolist())
    for place in shared:
        assert ((labels == place - 1) == (before == place - 1)).all()


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


@pytest.mark.parametrize("length", [20, 100, 150, 200, 300, 600, 2000, 20_000])
def test_a_partition_of_the_default_limit_is_one_pass(length: int) -> None:
    config, text = PGSConfig(), ("word " * (length // 5 + 1))[:length]
    (tokens,) = prompt_tokens(np.array([estimate(text)])).tolist()
    count = min(config.target_partition_max, config.max_partition_tokens // tokens)
    nodes = [
        Node(rank=i, element_id="e", key="k", title="T" * 100, text=text, labels=("Comment",))
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
