"""A scan as a whole: its fingerprint, its issues, and its usable weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.errors import EmptyGraphError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.view import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    UNCLEAN,
    View,
    refuse_empty,
    scan,
    usable_weights,
)
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.partitioning.conftest import view_of

MAPPING = GraphMapping(text=("title",), weight="w", relationship_weight="rw", embedding="v")
NAN = float("nan")


def database(
    vanished: tuple[int, ...] = (),
    texts: dict[int, str] | None = None,
    edges: list[tuple[int, int, float]] | None = None,
    weights: dict[int, float] | None = None,
    vectors: dict[int, int] | None = None,
) -> Any:
    """Nodes 1, 2, 4 with edges 1-2 and 2-4, unless told otherwise."""
    texts = texts or {1: "one", 2: "two", 4: "four"}
    links = [(1, 2, 1.0), (2, 4, 2.0)] if edges is None else edges

    def nodes(params: dict[str, Any]) -> list[dict[str, Any]]:
        ids = [i for i in params["ids"] if i not in vanished]
        lengths = [(vectors or {}).get(i, 0) for i in ids]
        return [
            {
                "ids": ids,
                "texts": [[texts[i]] for i in ids],
                "weights": [(weights or {}).get(i, NAN) for i in ids],
                "dimensions": lengths,
                "probes": [[0.5] * 4 if length else [] for length in lengths],
            }
        ]

    return FakeDatabase(
        read_node_sizes=[{"ids": list(texts), "sizes": [len(t) for t in texts.values()]}],
        read_nodes=nodes,
        read_relationships=[
            {
                "type": "CITES",
                "sources": [a for a, _, _ in links],
                "targets": [b for _, b, _ in links],
                "weights": [w for _, _, w in links],
            }
        ],
    )


async def scanned(mapping: GraphMapping = MAPPING, **parts: Any) -> View:
    return await scan(database(**parts), mapping, lambda event: None)


async def test_order_does_not_change_the_fingerprint_and_settings_do() -> None:
    turned = await scanned(texts={4: "four", 1: "one", 2: "two"}, edges=[(2, 4, 2.0), (1, 2, 1.0)])
    view = await scanned()
    assert turned.fingerprint("s") == view.fingerprint("s")
    assert np.array_equal(turned.sketch, view.sketch)
    assert view.fingerprint("s") != view.fingerprint("other")


async def test_a_node_that_vanished_takes_its_relationships_along() -> None:
    view = await scanned(vanished=(1,))
    assert view.ids.tolist() == [2, 4]
    assert (view.sizes.tolist(), view.weight.tolist()) == ([3, 4], [2.0])
    assert len(view.tokens) == len(view.node_weight) == 2
    assert (view.source.tolist(), view.target.tolist()) == ([0], [1])
    alone = await scanned(texts={2: "two", 4: "four"}, edges=[(2, 4, 2.0)])
    assert view.fingerprint("s") == alone.fingerprint("s")


async def test_issues_are_counted_and_zeros_left_out() -> None:
    view = await scanned(
        texts={1: "one", 2: "", 4: "four", 7: "seven"},
        edges=[(1, 2, -1.0), (2, 1, NAN), (4, 4, 0.0), (1, 2, 1e13)],
        weights={1: -2.0, 2: 1.0},
        vectors={1: 3, 2: 3, 4: 5},
    )
    assert view.issues == {
        "self_loops": 1,
        "parallel_relationships": 2,
        "isolated_nodes": 2,
        "nodes_without_text": 1,
        "nodes_without_weight": 2,
        "negative_node_weights": 1,
        "relationships_without_weight": 1,
        "negative_relationship_weights": 1,
        "zero_relationship_weights": 1,
        "huge_relationship_weights": 1,
        "nodes_without_embedding": 1,
        "embeddings_of_other_size": 1,
    }


async def test_what_is_not_mapped_is_no_issue() -> None:
    view = await scanned(GraphMapping(text=("title",)), edges=[(1, 2, NAN), (2, 4, -1.0)])
    assert view.issues == {}


@pytest.mark.parametrize("issue", UNCLEAN)
def test_an_unclean_view_is_not_left_to_gds(issue: str) -> None:
    assert not view_of([1], issues={issue: 1}).clean
    assert view_of([1], issues={"isolated_nodes": 1}).clean


@pytest.mark.parametrize(
    ("dimensions", "length"),
    [({0: 5}, None), ({}, None), ({0: 9, 3: 2}, 3), ({3: 2, 5: 7}, 5), ({3: 4, 5: 4}, 5)],
)
def test_the_length_most_vectors_have_counts(dimensions: dict[int, int], length: Any) -> None:
    assert view_of([1], dimensions=dimensions).embedding_dimensions == length


def test_weights_are_brought_within_the_limits() -> None:
    raw = np.array([2.0, -1.0, 0.0, NAN, np.inf, 1e200, 1e-200])
    weights, uniform = usable_weights(raw)
    assert weights.tolist() == [2.0, 0.0, 0.0, 1.0, 1.0, MAX_WEIGHT, MIN_WEIGHT]
    assert not uniform


@pytest.mark.parametrize("raw", [[], [0.0, 0.0], [-1.0, -2.0], [0.0]])
def test_without_a_positive_weight_all_count_alike(raw: list[float]) -> None:
    weights, uniform = usable_weights(np.asarray(raw))
    assert weights.tolist() == [1.0] * len(raw)
    assert uniform is bool(raw)


def test_an_empty_view_is_refused_with_what_to_check() -> None:
    with pytest.raises(EmptyGraphError, match=r"graph papers .* 'pgs graph show papers'"):
        refuse_empty("papers", view_of([]))
    refuse_empty("papers", view_of([1]))
