"""What --json prints, key by key."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from pgs_neo4j.catalog import StoredGraph
from pgs_neo4j.cli.pages import as_json
from pgs_neo4j.model import (
    Adjacent,
    Drift,
    Generation,
    GraphMapping,
    Partition,
)
from pgs_neo4j.partitioning.result import Partitioning
from pgs_neo4j.runs.session import SessionInfo
from pgs_neo4j.text.json_data import json_text, plain_data


def generation(**changed: object) -> Generation:
    given = {
        "id": "g1", "graph": "papers", "created_at": "2026-01-01T00:00:00Z",
        "algorithm": "leiden-louvain", "fingerprint": "f", "node_count": 10,
        "relationship_count": 9, "partition_count": 2, "modularity": 0.5, "sizes": (6, 4),
        "pooled_nodes": 4, "embedder": None, "dimensions": None, "issues": {"self_loops": 1},
    }  # fmt: skip
    return Generation(**(given | changed))  # type: ignore[arg-type]


def test_partitioning_carries_the_keys_the_issue_lists() -> None:
    made = Partitioning(generation(), (), reused=True, seconds=1.5, steps={"scan": 1.0})
    document = as_json.partitioning(made)
    assert {
        "graph", "generation", "node_count", "relationship_count", "partition_count",
        "modularity", "sizes", "largest_fraction", "pooled_nodes", "reused", "seconds",
        "issues", "steps",
    } <= set(document)  # fmt: skip
    assert document["generation"] == "g1"
    assert document["largest_fraction"] == 0.6
    assert document["sizes"] == [6, 4]


def test_partitioning_tells_where_it_came_from_and_how_far_the_graph_had_moved() -> None:
    known = generation(settings="s", origin="refreshed", raw_modularity=0.6, split=2, levels=(3, 1))
    moved = Drift(committed=True, nodes=10, relationships=9, texts_changed=1)
    document = as_json.partitioning(Partitioning(known, (), False, 1.5, {"scan": 1.0}, moved))
    assert (document["origin"], document["raw_modularity"]) == ("refreshed", 0.6)
    assert (document["split"], document["merged"], document["pools"]) == (2, 0, 0)
    assert (document["conductance"], document["levels"]) == (0.0, [3, 1])
    assert document["steps"] == {"scan": 1.0}
    assert document["drift"] == {
        "committed": True, "nodes": 10, "relationships": 9, "nodes_added": 0, "nodes_removed": 0,
        "texts_changed": 1, "facts_changed": 0, "relationships_changed": 0,
        "settings_changed": False, "grown": 0.0, "changed": True, "fraction": 0.1,
    }  # fmt: skip


def test_what_is_not_known_is_null() -> None:
    document = as_json.partitioning(Partitioning(generation(), (), reused=True, seconds=0.0))
    assert document["drift"] is None
    assert document["raw_modularity"] is None
    assert document["levels"] is None
    uncounted = as_json.drift(Drift(committed=False))
    assert uncounted is not None
    assert (uncounted["nodes"], uncounted["relationships"]) == (None, None)
    assert (uncounted["nodes_added"], uncounted["changed"]) == (0, False)


def test_a_number_json_has_no_word_for_becomes_null() -> None:
    document = as_json.partitioning(
        Partitioning(generation(modularity=math.nan), (), reused=False, seconds=0.0)
    )
    assert json.loads(json_text(document))["modularity"] is None


def test_partition_keeps_its_centroid_to_itself() -> None:
    part = Partition(
        id=3, size=2, tokens=5, adjacent=(Adjacent(1, 4, 2.0),), centroid=np.ones(3, np.float32)
    )
    document = json.loads(json_text(as_json.partition(part)))
    assert document["adjacent"] == [{"id": 1, "edges": 4, "weight": 2.0}]
    assert "centroid" not in document


def test_session_without_coverage_says_null() -> None:
    info = SessionInfo(id="s", graph="g", created_at="c", updated_at="u", runs=0)
    assert as_json.session(info)["coverage"] is None


def test_graph_shows_its_mapping() -> None:
    found = as_json.graph(StoredGraph("g", GraphMapping(labels=("A", "B"))))
    assert found["mapping"]["labels"] == ["A", "B"]


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (np.int64(3), 3), (np.float32(math.inf), None), (np.arange(2), [0, 1]),
        (Path("a") / "b", "a/b"), ({1: (True, None)}, {"1": [True, None]}),
    ],
)  # fmt: skip
def test_plain_data(value: object, data: object) -> None:
    assert plain_data(value) == data


def test_json_text_is_harmless_on_a_terminal_and_loses_nothing(hostile: str) -> None:
    title = hostile + "\ud800\u061c\ufeff\u2028"
    text = json_text({"title": title})
    assert not [c for c in text if ord(c) < 32 and c != "\n"]
    assert not [c for c in text if 0x7F <= ord(c) < 0xA0 or c in "\u202e\u061c\ufeff\u2028"]
    assert json.loads(text)["title"] == title
    text.encode("utf-8")
