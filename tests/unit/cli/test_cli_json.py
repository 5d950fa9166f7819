"""What --json prints, key by key."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from pgs_neo4j.catalog import StoredGraph
from pgs_neo4j.cli.pages import as_json
from pgs_neo4j.model import Adjacent, Drift, GraphMapping, Partition
from pgs_neo4j.partitioning.result import Partitioning
from pgs_neo4j.runs.session import SessionInfo
from pgs_neo4j.text.json_data import json_text, plain_data
from tests.fakes.commands import generation


def test_partitioning_tells_all_figures_its_origin_and_how_far_the_graph_had_moved() -> None:
    moved = Drift(committed=True, nodes=10, relationships=9, texts_changed=1)
    made = Partitioning(generation(), (), True, 1.5, {"scan": 1.0}, moved)
    document = as_json.partitioning(made)
    assert {
        "graph", "node_count", "relationship_count", "partition_count", "modularity",
        "pooled_nodes", "reused", "seconds", "issues",
    } <= set(document)  # fmt: skip
    assert (document["generation"], document["largest_fraction"]) == ("g2", 0.45)
    assert document["sizes"] == [900, 600, 300, 150, 50]
    assert (document["origin"], document["raw_modularity"]) == ("seeded", 0.73)
    assert (document["split"], document["merged"], document["pools"]) == (2, 1_200, 1)
    assert (document["conductance"], document["levels"]) == (0.0525, [4, 1])
    assert document["steps"] == {"scan": 1.0}
    assert document["drift"] == {
        "committed": True, "nodes": 10, "relationships": 9, "nodes_added": 0, "nodes_removed": 0,
        "texts_changed": 1, "facts_changed": 0, "relationships_changed": 0,
        "settings_changed": False, "grown": 0.0, "changed": True, "fraction": 0.1,
    }  # fmt: skip


def test_what_is_not_known_or_has_no_word_in_json_is_null() -> None:
    odd = generation(modularity=math.nan)
    document = as_json.partitioning(Partitioning(odd, (), reused=True, seconds=0.0))
    assert document["drift"] is None
    assert json.loads(json_text(document))["modularity"] is None
    uncounted = as_json.drift(Drift(committed=False))
    assert uncounted is not None
    assert (uncounted["nodes"], uncounted["relationships"]) == (None, None)
    assert (uncounted["nodes_added"], uncounted["changed"]) == (0, False)
    info = SessionInfo(id="s", graph="g", created_at="c", updated_at="u", runs=0)
    assert as_json.session(info)["coverage"] is None


def test_partition_keeps_its_centroid_to_itself() -> None:
    part = Partition(
        id=3, size=2, tokens=5, adjacent=(Adjacent(1, 4, 2.0),), centroid=np.ones(3, np.float32)
    )
    document = json.loads(json_text(as_json.partition(part)))
    assert document["adjacent"] == [{"id": 1, "edges": 4, "weight": 2.0}]
    assert "centroid" not in document


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
