"""From communities to partitions within limits, and which of them are shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.gds import Communities
from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.bundles import MENTIONED
from pgs_neo4j.graph.csr import undirected
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.graph.limits import Limited
from pgs_neo4j.model import Drift, GraphMapping, Node, Relationship
from pgs_neo4j.pgs.partitioning.divide import (
    Bundled,
    bundle_view,
    divide_communities,
    limits_of,
    place_communities,
    prompt_tokens,
    share_unchanged,
)
from pgs_neo4j.pgs.partitioning.drift import Comparison, Predecessor
from pgs_neo4j.pgs.partitioning.view import View
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


MAPPING = GraphMapping(chunk_labels=("Chunk",), mention_types=("FROM_CHUNK",))
LIMITS = Limits(min_nodes=1, max_nodes=100, max_tokens=1000)


def passage_view(passages: int, nodes: int, *links: tuple[str, int, int]) -> View:
    none = np.empty(0, dtype=np.int64)
    return View(
        ids=np.arange(nodes) + 100,
        sizes=np.ones(nodes, dtype=np.int64),
        node_weight=np.ones(nodes),
        tokens=np.ones(nodes, dtype=np.int64),
        text_hash=np.zeros(nodes, dtype=np.int64),
        facts=np.zeros(nodes, dtype=np.int64),
        source=np.array([source for _, source, _ in links], dtype=np.int64),
        target=np.array([target for _, _, target in links], dtype=np.int64),
        weight=np.ones(len(links)),
        dimensions={},
        sketch=none,
        content_hash="",
        type=np.array([text_hash(name) for name, _, _ in links], dtype=np.int64),
        passage=np.arange(nodes) < passages,
    )


def bundled(view: View) -> Bundled | None:
    return bundle_view(view, MAPPING, view.weight, view.tokens, LIMITS)


def test_a_graph_without_passages_is_divided_by_its_own_weights() -> None:
    assert bundled(passage_view(0, 3, ("NEXT_CHUNK", 0, 1), ("PART_OF", 1, 2))) is None


def test_passages_that_nothing_orders_are_no_documents() -> None:
    assert bundled(passage_view(2, 3, ("FROM_CHUNK", 2, 0), ("FROM_CHUNK", 2, 1))) is None


@pytest.mark.parametrize("name", ["PART_OF", "FROM_DOCUMENT", "HAS_CHUNK"])
def test_a_document_of_another_tool_is_one_bundle_with_its_passages(name: str) -> None:
    links = [(name, 3, 0), (name, 1, 3), (name, 4, 2), ("FROM_CHUNK", 5, 0), ("FROM_CHUNK", 5, 2)]
    made = bundled(passage_view(3, 6, *links))
    assert made is not None
    assert made.bundles.of.tolist() == [0, 0, 1, 0, 1, 2]
    assert made.tokens.tolist() == [3, 2, 1]
    # Both documents mention the entity 5, so they are alike, and get most of the weight.
    mentions = 2 * (1 - np.log(2) / np.log(3))
    ends = zip(made.edges.source.tolist(), made.edges.target.tolist(), strict=True)
    weights = dict(zip(ends, made.edges.weight.tolist(), strict=True))
    left = MENTIONED * mentions / 2
    expected = {(0, 1): (1 - MENTIONED) * mentions, (0, 2): left, (1, 2): left}
    assert weights == pytest.approx(expected)


def test_a_passage_of_two_documents_binds_neither() -> None:
    links = [("PART_OF", 2, 0), ("PART_OF", 3, 0), ("NEXT_CHUNK", 0, 1)]
    made = bundled(passage_view(2, 4, *links))
    assert made is not None
    assert made.bundles.of.tolist() == [0, 0, 1, 2]


def test_likeness_of_passages_makes_no_document() -> None:
    links = [("SIMILAR", 0, 1), ("SIMILAR", 0, 2), ("NEXT_CHUNK", 2, 3)]
    made = bundled(passage_view(4, 4, *links))
    assert made is not None
    assert made.bundles.of.tolist() == [0, 1, 2, 2]


def test_a_mention_is_no_part_even_if_its_type_is_called_so() -> None:
    mapping = GraphMapping(chunk_labels=("Chunk",), mention_types=("PART_OF",))
    view = passage_view(2, 3, ("PART_OF", 2, 0), ("PART_OF", 2, 1))
    assert bundle_view(view, mapping, view.weight, view.tokens, LIMITS) is None
