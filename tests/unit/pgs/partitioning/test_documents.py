"""Documents of a view: which relationships make them, and what their bundles weigh."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.bundles import MENTIONED
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.divide import Bundled, bundle_view
from pgs_neo4j.pgs.partitioning.view import View

MAPPING = GraphMapping(chunk_labels=("Chunk",), mention_types=("FROM_CHUNK",))
LIMITS = Limits(min_nodes=1, max_nodes=100, max_tokens=1000)


def view_of(passages: int, nodes: int, *links: tuple[str, int, int]) -> View:
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
    assert bundled(view_of(0, 3, ("NEXT_CHUNK", 0, 1), ("PART_OF", 1, 2))) is None


def test_passages_that_nothing_orders_are_no_documents() -> None:
    assert bundled(view_of(2, 3, ("FROM_CHUNK", 2, 0), ("FROM_CHUNK", 2, 1))) is None


@pytest.mark.parametrize("name", ["PART_OF", "FROM_DOCUMENT", "HAS_CHUNK"])
def test_a_document_of_another_tool_is_one_bundle_with_its_passages(name: str) -> None:
    links = [(name, 3, 0), (name, 1, 3), (name, 4, 2), ("FROM_CHUNK", 5, 0), ("FROM_CHUNK", 5, 2)]
    made = bundled(view_of(3, 6, *links))
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
    made = bundled(view_of(2, 4, *links))
    assert made is not None
    assert made.bundles.of.tolist() == [0, 0, 1, 2]


def test_likeness_of_passages_makes_no_document() -> None:
    links = [("SIMILAR", 0, 1), ("SIMILAR", 0, 2), ("NEXT_CHUNK", 2, 3)]
    made = bundled(view_of(4, 4, *links))
    assert made is not None
    assert made.bundles.of.tolist() == [0, 1, 2, 2]


def test_a_mention_is_no_part_even_if_its_type_is_called_so() -> None:
    mapping = GraphMapping(chunk_labels=("Chunk",), mention_types=("PART_OF",))
    view = view_of(2, 3, ("PART_OF", 2, 0), ("PART_OF", 2, 1))
    assert bundle_view(view, mapping, view.weight, view.tokens, LIMITS) is None
