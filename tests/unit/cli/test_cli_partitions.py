"""`pgs partition` and the three faces of `pgs partitions`, over a faked engine."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pgs_neo4j.catalog import StoredGraph
from pgs_neo4j.cli import connection
from pgs_neo4j.cli.app import app
from pgs_neo4j.cli.commands.graphs.partitions import describe
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import Drift, Generation, GraphMapping, Origin, Partition
from pgs_neo4j.partitioning.result import Partitioning


def generation(**changed: object) -> Generation:
    given = {
        "id": "g2", "graph": "papers", "created_at": "2026-01-01T00:00:00Z", "settings": "s",
        "algorithm": "leiden-louvain", "fingerprint": "f", "node_count": 100,
        "relationship_count": 9, "partition_count": 2, "modularity": 0.5, "sizes": (60, 40),
        "pooled_nodes": 0, "embedder": None, "dimensions": None, "origin": "seeded",
        "seconds": {"scan": 1.5, "write": 0.5}, "split": 1, "merged": 7, "levels": (2,),
        "raw_modularity": 0.6, "conductance": 0.25,
    }  # fmt: skip
    return Generation(**(given | changed))  # type: ignore[arg-type]


@dataclass
class Engine:
    """What commands ask of the engine, and its answers."""

    made: Generation | None = None
    moved: Drift | None = None
    asked: list[Any] = field(default_factory=list)

    async def graph(self, name: str | None = None) -> StoredGraph:
        self.asked.append(("graph", name))
        return StoredGraph("papers", GraphMapping(), self.made.id if self.made else None)

    async def generation(self, graph: str | None = None) -> Generation:
        self.asked.append(("generation", graph))
        if self.made is None:
            raise UsageError("graph papers is not partitioned yet; run 'pgs partition' first")
        return self.made

    async def check(self, graph: str | None = None) -> Drift | None:
        self.asked.append(("check", graph))
        return self.moved

    def outlook(self, drift: Drift) -> Origin | None:
        self.asked.append(("outlook", drift))
        return "refreshed" if drift.changed else None

    async def partitions(self, graph: str | None = None) -> tuple[Partition, ...]:
        self.asked.append(("partitions", graph))
        return (Partition(id=1, size=60, tokens=9, uid="g2:1", lineage="g1:4", parent=2),)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Engine:
    """The engine that commands find."""
    found = Engine(made=generation())

    @asynccontextmanager
    async def database(*given: Any, **knobs: Any) -> AsyncIterator[Engine]:
        yield found

    monkeypatch.setattr(connection, "database", database)
    monkeypatch.chdir(tmp_path)
    return found


def pgs(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_the_report_is_of_the_graph_asked_for(engine: Engine) -> None:
    done = pgs("partitions", "-g", "papers", "--report")
    assert done.exit_code == 0
    assert engine.asked == [("generation", "papers")]
    assert done.stdout.startswith("graph         papers, generation g2\n")
    assert "50 to 99           1  ####" in done.stdout
    assert "█" not in done.stdout


def test_the_report_as_json_has_all_figures(engine: Engine) -> None:
    document = json.loads(pgs("partitions", "--report", "--json").stdout)
    assert document["histogram"] == [
        {"from": 20, "to": 49, "partitions": 1},
        {"from": 50, "to": 99, "partitions": 1},
    ]
    assert document["size_quantiles"] == [40.0, 45.0, 50.0, 55.0, 60.0]
    assert (document["seconds"], document["steps"]) == (2.0, {"scan": 1.5, "write": 0.5})
    shown = ("generation", "origin", "modularity", "raw_modularity", "conductance", "split")
    assert [document[name] for name in shown] == ["g2", "seeded", 0.5, 0.6, 0.25, 1]
    assert (document["merged"], document["pools"], document["levels"]) == (7, 0, [2])


def test_there_is_no_report_before_the_first_generation(engine: Engine) -> None:
    engine.made = None
    done = pgs("partitions", "--report")
    assert done.exit_code == 2
    assert done.stderr.startswith("pgs: graph papers is not partitioned yet")


def test_a_check_tells_and_changes_nothing(engine: Engine) -> None:
    engine.moved = Drift(committed=True, nodes=100, relationships=9, texts_changed=3)
    done = pgs("partitions", "--check")
    assert (done.exit_code, done.stderr) == (0, "")
    assert engine.asked == [("graph", None), ("check", "papers"), ("outlook", engine.moved)]
    assert "texts            3 changed\n" in done.stdout
    assert "drift            3 %\n" in done.stdout
    assert "the partitions stay; those affected" in done.stdout
    document = json.loads(pgs("partitions", "--check", "--json").stdout)
    assert (document["graph"], document["generation"]) == ("papers", "g2")
    assert document["outlook"] == "refreshed"
    drift = document["drift"]
    assert (drift["committed"], drift["changed"], drift["fraction"]) == (True, True, 0.03)
    assert (drift["texts_changed"], drift["relationships_changed"]) == (3, 0)


def test_a_check_before_the_first_generation_is_no_failure(engine: Engine) -> None:
    engine.made = None
    done = pgs("partitions", "--check")
    assert done.exit_code == 0
    assert "papers is not partitioned yet" in done.stdout
    document = json.loads(pgs("partitions", "--check", "--json").stdout)
    assert document == {"graph": "papers", "generation": None, "drift": None, "outlook": "cold"}


def test_report_and_check_exclude_each_other(engine: Engine) -> None:
    done = pgs("partitions", "--report", "--check")
    assert done.exit_code == 2
    assert done.stderr == "pgs: --report cannot be combined with --check; leave one of them out\n"
    assert engine.asked == []


def test_the_list_carries_the_lineage_in_json_alone(engine: Engine) -> None:
    (part,) = json.loads(pgs("partitions", "--json").stdout)["partitions"]
    assert (part["uid"], part["lineage"], part["parent"]) == ("g2:1", "g1:4", 2)
    shown = pgs("partitions").stdout
    assert shown.split()[:3] == ["id", "nodes", "tokens"]
    assert "g1:4" not in shown


def test_partitioned_is_told_with_its_origin_and_the_drift_before_it() -> None:
    moved = Drift(committed=True, nodes=100, relationships=9, nodes_added=2)
    lines = describe(Partitioning(generation(), (), reused=False, seconds=2.5, drift=moved))
    assert lines == [
        "papers: 2 partitions of 100 nodes and 9 relationships, grown from the previous generation "
        "by leiden-louvain, 2.5 s",
        "modularity 0.500, the largest holds 60 % of the nodes, 0 are pooled",
        "drift 2 %: 2 nodes added",
    ]
    first = describe(Partitioning(generation(origin="cold"), (), reused=False, seconds=2.5))
    assert first[0].endswith("from scratch by leiden-louvain, 2.5 s")
    assert len(first) == 2


def test_reused_partitions_are_told_as_unchanged() -> None:
    found = Partitioning(generation(), (), True, 0.1, drift=Drift(committed=False))
    lines = describe(found)
    assert lines[0].endswith(", unchanged, reused, 0.1 s")
    assert not any("drift" in line for line in lines)
