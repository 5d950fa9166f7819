"""`pgs partition`, the three faces of `pgs partitions`, and the words for how far a graph moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgs_neo4j.cli.pages import partitions_page
from pgs_neo4j.cli.pages.partitions_page import describe
from pgs_neo4j.engine.catalog import StoredGraph
from pgs_neo4j.errors import UsageError
from pgs_neo4j.export.generation_rows import generation_rows
from pgs_neo4j.model import Drift, GraphMapping, Partition
from pgs_neo4j.pgs.partitioning.result import Partitioning
from tests.fakes.commands import StandIn, generation, pgs

MOVED = Drift(committed=True, nodes=100, relationships=9, texts_changed=3)


@pytest.fixture
def engine(engine: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StandIn:
    """An engine with a generation of the graph ``papers``."""
    monkeypatch.chdir(tmp_path)
    part = Partition(id=1, size=60, tokens=9, uid="g2:1", lineage="g1:4", parent=2)
    engine.replies |= {
        "graphs.get": StoredGraph("papers", GraphMapping(), "g2"),
        "partitions.generation": generation(),
        "partitions.check": MOVED, "partitions": (part,),
    }  # fmt: skip
    engine.have({"partitions.outlook": lambda drift: "refreshed" if drift.changed else None})
    return engine


@pytest.fixture
def unpartitioned(engine: StandIn) -> None:
    """Take the generation away."""
    none = UsageError("graph papers is not partitioned yet; run 'pgs partition' first")
    graph = StoredGraph("papers", GraphMapping(), None)
    engine.replies |= {"graphs.get": graph, "partitions.generation": none, "partitions.check": None}


def test_the_report_is_of_the_graph_asked_for_and_as_json_has_all_figures(engine: StandIn) -> None:
    done = pgs("partitions", "-g", "papers", "--report")
    assert done.exit_code == 0
    assert engine.asked == [("partitions.generation", "papers")]
    assert done.stdout.startswith("graph         papers, generation g2\n")
    assert "50 to 99           1  ####" in done.stdout
    assert "█" not in done.stdout
    document = json.loads(pgs("partitions", "--report", "--json").stdout)
    assert document["histogram"][0] == {"from": 50, "to": 99, "partitions": 1}
    assert [each["from"] for each in document["histogram"]] == [50, 100, 200, 500]
    assert document["size_quantiles"] == [50.0, 150.0, 300.0, 600.0, 900.0]
    assert (document["seconds"], document["steps"]["scan"]) == (131.54, 1.5)
    assert (document["generation"], document["origin"]) == ("g2", "seeded")


def test_a_check_tells_and_changes_nothing(engine: StandIn) -> None:
    done = pgs("partitions", "--check")
    assert (done.exit_code, done.stderr) == (0, "")
    assert engine.asked == [("graphs.get", None), ("partitions.check", "papers")]
    assert "texts            3 changed\n" in done.stdout
    assert "the partitions stay; those affected" in done.stdout
    document = json.loads(pgs("partitions", "--check", "--json").stdout)
    assert (document["graph"], document["generation"]) == ("papers", "g2")
    assert (document["outlook"], document["drift"]["texts_changed"]) == ("refreshed", 3)
    refused = pgs("partitions", "--report", "--check")
    assert (refused.exit_code, refused.stderr) == (
        2, "pgs: --report cannot be combined with --check; leave one of them out\n",
    )  # fmt: skip
    (part,) = json.loads(pgs("partitions", "--json").stdout)["partitions"]
    assert (part["uid"], part["lineage"], part["parent"]) == ("g2:1", "g1:4", 2)
    shown = pgs("partitions").stdout
    assert shown.split()[:3] == ["id", "nodes", "tokens"]
    assert "g1:4" not in shown


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


def test_partitioned_is_told_with_its_origin_and_the_drift_before_it() -> None:
    moved = Drift(committed=True, nodes=100, relationships=9, nodes_added=2)
    lines = describe(Partitioning(generation(), (), reused=False, seconds=2.5, drift=moved))
    assert lines == [
        "papers: 5 partitions of 2,000 nodes and 9,000 relationships, grown from the previous "
        "generation by leiden-louvain, 2.5 s",
        "modularity 0.712, the largest holds 45 % of the nodes, 50 are pooled",
        "drift 2 %: 2 nodes added",
        "noticed: 12 isolated nodes, 1,500 self-loops",
    ]
    first = describe(Partitioning(generation(origin="cold"), (), reused=False, seconds=2.5))
    assert first[0].endswith("from scratch by leiden-louvain, 2.5 s")
    assert len(first) == 3
    lines = describe(Partitioning(generation(), (), True, 0.1, drift=Drift(committed=False)))
    assert lines[0].endswith(", unchanged, reused, 0.1 s")
    assert not any("drift" in line for line in lines)


FAR = Drift(
    committed=True,
    nodes=1_003,
    relationships=4_000,
    nodes_added=4,
    nodes_removed=1,
    texts_changed=5,
    facts_changed=2,
    relationships_changed=12,
)


def test_drift_in_one_line() -> None:
    assert partitions_page.drift_line(FAR) == (
        "drift 1 %: 4 nodes added, 1 node removed, 5 texts changed, "
        "2 nodes with another weight or embedding, about 12 relationships changed"
    )
    assert (
        partitions_page.drift_line(Drift(committed=True, nodes=9)) == "drift 0 %: nothing changed"
    )
    assert partitions_page.drift_line(Drift(committed=False, settings_changed=True)) == (
        "drift 0 %: the settings or the mapping changed"
    )


def test_nothing_committed_is_nothing_scanned_and_before_partitions_nothing_compared(
    hostile: str,
) -> None:
    assert partitions_page.check_lines("papers", Drift(committed=False, nodes=9), None, 80) == [
        "graph            papers",
        "committed since  nothing by any other client, so the graph was not scanned",
        "settings         unchanged",
        "drift            none",
        "next time        these partitions are used as they are",
    ]
    (line,) = partitions_page.check_lines(hostile, None, "cold", 80)
    assert line.startswith("graph [bold]red[/bold] 2Jtail is not partitioned yet")
    assert "'pgs partition --graph '[bold]red[/bold] 2Jtail''" in line  # one word to a shell


def test_a_scan_tells_what_it_found() -> None:
    assert partitions_page.check_lines("papers", FAR, "seeded", 80) == [
        "graph            papers",
        "committed since  something by another client, so the graph was scanned",
        "nodes            4 added, 1 removed, 1,003 now",
        "texts            5 changed",
        "weights          2 nodes with another weight or embedding",
        "relationships    about 12 changed, 4,000 now",
        "settings         unchanged",
        "drift            1 %",
        "next time        new partitions grow from these",
    ]


def test_only_what_is_estimated_is_called_about_and_settings_need_no_scan() -> None:
    same = Drift(committed=True, nodes=9, relationships=8)
    lines = partitions_page.check_lines("papers", same, None, 80)
    assert "relationships    0 changed, 8 now" in lines
    assert "drift            none" in lines
    moved = Drift(committed=False, settings_changed=True)
    assert partitions_page.check_lines("papers", moved, "cold", 80)[-3:] == [
        "settings         the settings or the mapping changed",
        "drift            0 %",
        "next time        new partitions are made from scratch",
    ]


def test_how_much_of_its_document_a_passage_is_with_is_told_where_there_are_documents() -> None:
    whole = generation(documents_together=0.98)
    assert describe(Partitioning(whole, (), reused=False, seconds=2.5))[2] == (
        "98 % of the passages are in the partition that holds most of their document"
    )
    rows = dict(generation_rows(whole))
    assert rows["documents"] == "98 % of the passages are where most of their document is"
    assert "documents" not in dict(generation_rows(generation()))
