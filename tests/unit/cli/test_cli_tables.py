"""Tables and the survey show text as text; words stay whole, and everything fits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands import inspect
from pgs_neo4j.cli.pages import tables
from pgs_neo4j.cli.pages.tables import column_widths, wrap_cell
from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.engine.catalog import StoredGraph
from pgs_neo4j.engine.survey import propose
from pgs_neo4j.model import Coverage, GraphMapping, Partition, Route, Routing
from pgs_neo4j.pgs.runs.session import SessionInfo
from tests.fakes.commands import on_one_line
from tests.thorough import tries
from tests.unit.engine.survey.samples import label, link, of, text, vector


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def written(table: object, capsys: pytest.CaptureFixture[str]) -> str:
    output.write_table(table)  # type: ignore[arg-type]
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert all(len(row) <= 80 for row in shown.splitlines())
    return shown


def test_partitions_take_one_line_each(
    partitions: dict[int, Partition], capsys: pytest.CaptureFixture[str]
) -> None:
    long = ("a word", "another word", "many more words", "and one that is last") * 3
    parts = [replace(part, terms=long, titles=("A title of many words", "Other")) for part in
             partitions.values()]  # fmt: skip
    head, *lines = written(tables.partitions(parts), capsys).splitlines()
    assert len(lines) == len(parts)
    assert all("…" in line for line in lines)
    assert "adjacent" not in head


@pytest.mark.parametrize("length", [8, 37, 64])
def test_names_that_are_copied_stay_whole(length: int, capsys: pytest.CaptureFixture[str]) -> None:
    name = ("pgs_text_" * 9)[:length]
    listed = [
        SearchIndex(
            name=name, kind="text", labels=("Paper", "Author"), properties=("title", "abstract"),
            entity="node", analyzer="english",
        ),
        SearchIndex(
            name="other", kind="vector", labels=("Paper",), properties=("embedding",),
            entity="node", dimensions=384, similarity="COSINE",
        ),
    ]  # fmt: skip
    shown = written(tables.indexes(listed), capsys)
    assert name in shown
    for cell in ("Paper", "abstract", "english", "384", "cosine", "others"):
        assert cell in shown, cell


def test_partitions_show_markup_as_text_and_routes_how_well_they_match(
    partitions: dict[int, Partition], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = written(tables.partitions(list(partitions.values())), capsys)
    assert "P1" in shown
    assert "ammonia, catalysis" in shown
    assert "[red]x[/red]" in shown
    assert "owned" not in shown

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


def test_graphs_sessions_and_mappings(capsys: pytest.CaptureFixture[str]) -> None:
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
    when = "2026-01-02T03:04:05Z"
    info = SessionInfo(id="s", graph="a", created_at="c", updated_at=when, runs=3, coverage=covered)
    shown_sessions = on_one_line(written(tables.sessions([info]), capsys))
    assert "5 of 10 nodes, 4 of 8" in shown_sessions  # the rest is on the next line
    assert "2026-01-02 03:04" in shown_sessions
    mapping = written(tables.mapping(GraphMapping(title="name")), capsys)
    assert "(all)" in mapping
    assert "(none: by degree)" in mapping


def test_inspect_ends_with_the_command(hostile: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = of(
        label(hostile, text("abstract"), vector("vec", (384, 10)), count=10), link("CITES", count=4)
    )
    assert inspect.survey_heading(found)[0].startswith("10 nodes, 4 relationships, 1 label")
    shown = on_one_line("".join(written(each, capsys) for each in inspect.survey_tables(found)))
    assert "384 numbers" in shown
    assert "300 characters" in shown
    assert "owned" not in shown
    lines = inspect.proposal_lines(propose(found), "pgs graph add x --text abstract", 80)
    assert lines[-1] == "pgs graph add x --text abstract"
    empty = inspect.proposal_lines(propose(of()), None, 80)
    assert "no nodes" in empty[-1]


def test_short_cells_and_whole_words_come_before_long_texts() -> None:
    assert column_widths([["id", "P1"], ["a longer text"]], 80) == [2, 13]
    cells = [["r69169ec4e648"], ["2026-01-02 03:04"], ["a question of many words " * 8]]
    assert column_widths(cells, 76) == [13, 16, 47]
    cells = [["partition_relevance_threshold"], ["a meaning of some words " * 4]]
    assert column_widths(cells, 60) == [29, 31]


def test_a_word_is_broken_only_if_it_must_be_and_a_name_after_its_marks() -> None:
    assert wrap_cell("xml.dom.expatbuilder.ExpatBuilder", 16) == (
        "xml.dom.\nexpatbuilder.\nExpatBuilder"
    )
    assert wrap_cell("see datetime.date", 14) == "see\ndatetime.date"
    assert wrap_cell("P4 (92), P12 (28)", 12) == "P4 (92), P12\n(28)"
    assert wrap_cell("", 5) == ""
    assert wrap_cell("abcdefgh", 3) == "abc\ndef\ngh"


WORDS = st.text("abc._/é漢字", max_size=12)
CELLS = st.lists(WORDS, max_size=6).map(" ".join)


@settings(max_examples=tries(25, 100))
@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=6), st.integers(20, 90)
)
def test_all_columns_fit_and_no_character_is_lost(cells: list[list[str]], room: int) -> None:
    widths = column_widths(cells, room)
    assert len(widths) == len(cells)
    assert sum(widths) <= max(room, len(cells))
    assert min(widths) >= 1
    for texts, width in zip(cells, widths, strict=True):
        for cell in texts:
            lines = wrap_cell(cell, width)
            assert "".join(lines.split()) == "".join(cell.split())
            assert all(cell_len(line) <= max(width, 2) for line in lines.splitlines())
