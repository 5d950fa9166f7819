"""`pgs partition` and the three faces of `pgs partitions`, over a faked engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgs_neo4j.catalog import StoredGraph
from pgs_neo4j.cli.commands.graphs.partitions import describe
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import Drift, GraphMapping, Partition
from pgs_neo4j.partitioning.result import Partitioning
from tests.fakes.commands import StandIn, generation, pgs

MOVED = Drift(committed=True, nodes=100, relationships=9, texts_changed=3)


@pytest.fixture
def engine(engine: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StandIn:
    """An engine with a generation of the graph ``papers``."""
    monkeypatch.chdir(tmp_path)
    part = Partition(id=1, size=60, tokens=9, uid="g2:1", lineage="g1:4", parent=2)
    engine.replies |= {
        "graph": StoredGraph("papers", GraphMapping(), "g2"), "generation": generation(),
        "check": MOVED, "partitions": (part,),
    }  # fmt: skip
    engine.have({"outlook": lambda drift: "refreshed" if drift.changed else None})
    return engine


@pytest.fixture
def unpartitioned(engine: StandIn) -> None:
    """Take the generation away."""
    none = UsageError("graph papers is not partitioned yet; run 'pgs partition' first")
    graph = StoredGraph("papers", GraphMapping(), None)
    engine.replies |= {"graph": graph, "generation": none, "check": None}


def test_the_report_is_of_the_graph_asked_for_and_as_json_has_all_figures(engine: StandIn) -> None:
    done = pgs("partitions", "-g", "papers", "--report")
    assert done.exit_code == 0
    assert engine.asked == [("generation", "papers")]
    assert done.stdout.startswith("graph         papers, generation g2\n")
    assert "50 to 99           1  ####" in done.stdout
    assert "█" not in done.stdout
    document = json.loads(pgs("partitions", "--report", "--json").stdout)
    assert document["histogram"][0] == {"from": 50, "to": 99, "partitions": 1}
    assert [each["from"] for each in document["histogram"]] == [50, 100, 200, 500]
    assert document["size_quantiles"] == [50.0, 150.0, 300.0, 600.0, 900.0]
    assert (document["seconds"], document["steps"]["scan"]) == (131.54, 1.5)
    shown = ("generation", "origin", "modularity", "raw_modularity", "conductance", "split")
    assert [document[name] for name in shown] == ["g2", "seeded", 0.71234, 0.73, 0.0525, 2]
    assert (document["merged"], document["pools"], document["levels"]) == (1_200, 1, [4, 1])


def test_a_check_tells_and_changes_nothing(engine: StandIn) -> None:
    done = pgs("partitions", "--check")
    assert (done.exit_code, done.stderr) == (0, "")
    assert engine.asked == [("graph", None), ("check", "papers")]
    assert "texts            3 changed\n" in done.stdout
    assert "drift            3 %\n" in done.stdout
    assert "the partitions stay; those affected" in done.stdout
    document = json.loads(pgs("partitions", "--check", "--json").stdout)
    assert (document["graph"], document["generation"]) == ("papers", "g2")
    assert document["outlook"] == "refreshed"
    drift = document["drift"]
    assert (drift["committed"], drift["changed"], drift["fraction"]) == (True, True, 0.03)
    assert (drift["texts_changed"], drift["relationships_changed"]) == (3, 0)


@pytest.mark.usefixtures("unpartitioned")
def test_before_the_first_generation_there_is_no_report_and_a_check_is_no_failure() -> None:
    done = pgs("partitions", "--report")
    assert done.exit_code == 2
    assert done.stderr.startswith("pgs: graph papers is not partitioned yet")
    done = pgs("partitions", "--check")
    assert done.exit_code == 0
    assert "papers is not partitioned yet" in done.stdout
    document = json.loads(pgs("partitions", "--check", "--json").stdout)
    assert document == {"graph": "papers", "generation": None, "drift": None, "outlook": "cold"}


def test_report_and_check_exclude_each_other(engine: StandIn) -> None:
    done = pgs("partitions", "--report", "--check")
    assert done.exit_code == 2
    assert done.stderr == "pgs: --report cannot be combined with --check; leave one of them out\n"
    assert engine.asked == []


def test_the_list_carries_the_lineage_in_json_alone(engine: StandIn) -> None:
    (part,) = json.loads(pgs("partitions", "--json").stdout)["partitions"]
    assert (part["uid"], part["lineage"], part["parent"]) == ("g2:1", "g1:4", 2)
    shown = pgs("partitions").stdout
    assert shown.split()[:3] == ["id", "nodes", "tokens"]
    assert "g1:4" not in shown


def test_partitioned_is_told_with_its_origin_and_the_drift_before_it() -> None:
    moved = Drift(committed=True, nodes=100, relationships=9, nodes_added=2)
    lines = describe(Partitioning(generation(), (), reused=False, seconds=2.5, drift=moved))
    assert lines == [
        "papers: 5 partitions of 2,000 nodes and 9,000 relationships, grown from the previous "
        "generation by leiden-louvain, 2.5 s",
        "modularity 0.712, the largest holds 45 % of the nodes, 50 are pooled",
        "drift 2 %: 2 nodes added",
        "noticed: 12 isolated nodes, 1,500 self loops",
    ]
    first = describe(Partitioning(generation(origin="cold"), (), reused=False, seconds=2.5))
    assert first[0].endswith("from scratch by leiden-louvain, 2.5 s")
    assert len(first) == 3
    lines = describe(Partitioning(generation(), (), True, 0.1, drift=Drift(committed=False)))
    assert lines[0].endswith(", unchanged, reused, 0.1 s")
    assert not any("drift" in line for line in lines)
