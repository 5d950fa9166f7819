"""Tables and the survey show text as text, at 80 columns."""

from __future__ import annotations

import pytest

from pgs_neo4j.catalog import StoredGraph
from pgs_neo4j.cli import output
from pgs_neo4j.cli.pages import survey_page, tables
from pgs_neo4j.model import Coverage, GraphMapping, Partition, Route, Routing
from pgs_neo4j.runs.session import SessionInfo
from pgs_neo4j.survey import LabelSample, NodeProperty, Survey, TypeSample, propose


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def written(table: object, capsys: pytest.CaptureFixture[str]) -> str:
    output.write_table(table)  # type: ignore[arg-type]
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert all(len(row) <= 80 for row in shown.splitlines())
    return shown


def test_partitions_show_markup_as_text(
    partitions: dict[int, Partition], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = written(tables.partitions(list(partitions.values())), capsys)
    assert "P1" in shown
    assert "ammonia, catalysis" in shown
    assert "[red]x[/red]" in shown
    assert "owned" not in shown


def test_routes_show_reason_and_similarity_or_how_many_nodes_match(
    partitions: dict[int, Partition], capsys: pytest.CaptureFixture[str]
) -> None:
    def rows(*routes: Route) -> list[list[str]]:
        routing = Routing(routes=routes, considered=9)
        shown = written(tables.routes(routing, partitions), capsys)
        return [row.split() for row in shown.splitlines()]

    near = Route(partition=1, similarity=0.514, reason="near enough")
    _, first, second = rows(near, Route(partition=7, similarity=None, reason="not scored"))
    assert first[:5] == ["P1", "0.51", "40", "ammonia,", "catalysis"]
    assert first[-2:] == ["near", "enough"]
    assert second[:3] == ["P7", "-", "-"]
    evidence = Route(partition=1, similarity=None, reason="“A” and 11 more", evidence=12)
    head, first, second = rows(evidence, Route(partition=7, similarity=0.3, reason="near"))
    assert head[:2] == ["id", "evidence"]
    assert first[:3] == ["P1", "12", "40"]
    assert second[:2] == ["P7", "0.30"]


def test_graphs_and_sessions(capsys: pytest.CaptureFixture[str]) -> None:
    stored = [
        StoredGraph("a", GraphMapping(labels=("Paper",), text=("abstract",)), "g", 10, 2),
        StoredGraph("b", GraphMapping()),
    ]
    shown = written(tables.graphs(stored), capsys).splitlines()
    assert shown[1].split() == ["a", "2", "10", "Paper", "abstract"]
    assert shown[2].split() == ["b", "-", "-", "all", "labels", "-"]
    covered = Coverage(
        partitions_swept=1, partitions_total=2, nodes_read=5, nodes_total=10, texts_read=4,
        texts_total=8,
    )  # fmt: skip
    info = SessionInfo(
        id="s",
        graph="a",
        created_at="c",
        updated_at="2026-01-02T03:04:05Z",
        runs=3,
        coverage=covered,
    )
    shown_sessions = " ".join(written(tables.sessions([info]), capsys).split())
    assert "5 of 10 nodes, 4 of 8" in shown_sessions  # the rest is on the next line
    assert "2026-01-02 03:04" in shown_sessions


def test_mapping_says_what_is_not_mapped(capsys: pytest.CaptureFixture[str]) -> None:
    shown = written(tables.mapping(GraphMapping(title="name")), capsys)
    assert "(all)" in shown
    assert "(none: by degree)" in shown


def survey_of(label: str, *properties: NodeProperty) -> Survey:
    return Survey(
        nodes=10,
        relationships=4,
        labels=(LabelSample(label=label, count=10, sampled=10, properties=properties),),
        relationship_types=(TypeSample(type="CITES", count=4, sampled=4),),
        our_labels=(("PgsGraph", 1),),
    )


def test_inspect_ends_with_the_command(hostile: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = NodeProperty(
        name="abstract", nodes=10, types=("STRING",), distinct=10, texts=10, mean_length=300.0,
        longest=900, prose=10,
    )  # fmt: skip
    vector = NodeProperty(name="vec", nodes=10, types=("LIST",), sizes=((384, 10),))
    found = survey_of(hostile, text, vector)
    assert survey_page.heading(found)[0].startswith("10 nodes, 4 relationships, 1 label")
    shown = " ".join("".join(written(each, capsys) for each in survey_page.tables(found)).split())
    assert "384 numbers" in shown
    assert "300 characters" in shown
    assert "owned" not in shown
    lines = survey_page.proposed(propose(found), "pgs graph add x --text abstract", 80)
    assert lines[-1] == "pgs graph add x --text abstract"


def test_an_empty_database_gets_no_command() -> None:
    empty = Survey(nodes=0, relationships=0)
    lines = survey_page.proposed(propose(empty), None, 80)
    assert "no nodes" in lines[-1]
