"""What --json prints of graphs, partitions, answers, and stored runs, key by key."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pgs_neo4j.cli.pages import as_json
from pgs_neo4j.engine.catalog import StoredGraph
from pgs_neo4j.export import to_json
from pgs_neo4j.model import (
    Adjacent,
    Answer,
    Citation,
    Drift,
    GraphMapping,
    Node,
    Partition,
    Usage,
)
from pgs_neo4j.pgs.answering.layered import SearchAnswer
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.runs.runs import StoredRun
from pgs_neo4j.pgs.runs.session import SessionInfo
from pgs_neo4j.text.json_data import json_text
from tests.fakes.commands import generation
from tests.unit.export.conftest import located, make_document


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
    assert document["documents_together"] is None
    assert document["steps"] == {"scan": 1.0}
    assert document["drift"] == {
        "committed": True, "nodes": 10, "relationships": 9, "nodes_added": 0, "nodes_removed": 0,
        "texts_changed": 1, "facts_changed": 0, "relationships_changed": 0,
        "settings_changed": False, "grown": 0.0, "algorithm": None, "changed": True,
        "fraction": 0.1,
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


def test_partition_keeps_its_centroid_to_itself_and_a_graph_shows_its_mapping() -> None:
    part = Partition(
        id=3, size=2, tokens=5, adjacent=(Adjacent(1, 4, 2.0),), centroid=np.ones(3, np.float32)
    )
    document = json.loads(json_text(as_json.partition(part)))
    assert document["adjacent"] == [{"id": 1, "edges": 4, "weight": 2.0}]
    assert "centroid" not in document
    found = as_json.graph(StoredGraph("g", GraphMapping(labels=("A", "B"))))
    assert found["mapping"]["labels"] == ["A", "B"]


Make = Callable[..., Answer]
KEYS = {
    "question", "graph", "session", "run", "mode", "model", "generation", "partial", "stopped",
    "answer", "complete", "reductions", "thesis", "connections", "absences", "convergences",
    "citations", "checks", "checked_absences", "flags", "converging_findings", "sweeps",
    "routing", "coverage", "own_coverage", "usage", "synthesis_usage", "cost", "seconds",
    "warnings", "in_doubt", "struck", "proven", "contexts",
}  # fmt: skip


def test_a_run_has_the_same_keys_and_values_wherever_it_is_printed(hostile: str) -> None:
    """The tests of the export say more about the values."""
    document = located(make_document(hostile), "4:x:9")
    exported = json.loads(to_json(document))
    text = json_text(as_json.answer(document.answer, document.areas))
    assert "4:x" not in text
    assert "element" not in text
    asked = json.loads(text)
    run = stored(status="partial", started_at=document.asked_at)
    shown = json.loads(json_text(as_json.run(run, document)))
    assert {name: exported[name] for name in KEYS} == {name: asked[name] for name in KEYS}
    assert {name: exported[name] for name in KEYS} == {name: shown[name] for name in KEYS}
    assert set(exported) == KEYS | {"asked_at", "areas", "sources"}
    assert set(asked) == KEYS | {"search"}
    of_run = {"status", "asked_at", "finished_at", "error", "outcome"}
    assert set(shown) == KEYS | of_run | {"areas", "sources"}
    assert (shown["status"], shown["asked_at"]) == ("partial", exported["asked_at"])
    assert (asked["search"], asked["graph"], asked["usage"]["cached"]) == (None, hostile, 2)
    read, _, failed = asked["sweeps"]
    told = ("partition", "status", "nodes_read", "keywords", "wave")
    assert [read[name] for name in told] == [1, "accepted", 40, [hostile, "toys"], 1]
    told = ("status", "nodes_read", "keywords", "errors", "report")
    assert [failed[name] for name in told] == [
        "failed", 0, [hostile, "toys"], [f"429 {hostile}"], None,
    ]  # fmt: skip
    report = read["report"]
    assert report["domain_state"] == f"It is about {hostile} [n2]."
    assert report["absences"] == [f"nothing on {hostile}"]
    absence = asked["checked_absences"][0]
    told = ("status", "terms", "searched", "method", "partitions")
    assert [absence[name] for name in told] == [
        "confirmed", [hostile, "term"], 160, "full text", [1, 2],
    ]  # fmt: skip
    assert [(met["kind"], met["partitions"]) for met in asked["converging_findings"]] == [
        ("neighbors", [1, 2]), ("words", [1, 2]),
    ]  # fmt: skip


def test_an_answer_carries_the_search_before_it(answer_of: Make) -> None:
    node = Node(rank=0, element_id="e", key="k", title="t", text="")
    found = SearchAnswer("near", (node,), (Citation(alias="n1", partition=0),), "index", Usage())
    document = as_json.answer(answer_of(), (), found)
    assert document["search"]["nodes"] == [{"alias": "n1", "node": "k", "title": "t"}]
    assert document["search"]["method"] == "index"


def stored(**properties: Any) -> StoredRun:
    given = {"status": "stopped", "question": "what?", "mode": "full", "error": "2 calls"}
    return StoredRun("r1", "papers", "default", "g1", True, False, given | properties)


def test_a_run_without_an_answer_says_how_it_ended() -> None:
    found = as_json.run(stored(status="failed"), None)
    assert (found["status"], found["answer"], found["partial"]) == ("failed", None, True)
    assert (found["run"], found["graph"], found["error"]) == ("r1", "papers", "2 calls")
