"""Plans, routings, coverages, and generations in a notebook: what the commands show, escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from pgs_neo4j.export import figures
from pgs_neo4j.export.generation_rows import generation_rows
from pgs_neo4j.export.notebook import MOST_ROWS
from pgs_neo4j.export.plan_rows import plan_rows, search_plan_rows, sweep_table
from pgs_neo4j.model import (
    Coverage,
    Generation,
    Plan,
    PlannedCalls,
    PlannedSweep,
    Route,
    Routing,
    SearchPlan,
)
from tests.unit.export.conftest import parse


def make_sweep(said: str, partition: int = 1) -> PlannedSweep:
    return PlannedSweep(
        partition=partition, nodes=1400, passes=2, cached=1, input_tokens=5000, output_tokens=600,
        output_most=12000, reason=f"{said} {partition}", keywords=(said,), label=said,
    )  # fmt: skip


def make_routing(said: str, evidence: int = 0) -> Routing:
    routes = (
        Route(partition=2, similarity=0.5, reason=said, evidence=evidence),
        Route(partition=1, similarity=None, reason=""),
    )
    return Routing(routes=routes, considered=4, note=said)


def make_plan(said: str = "toys", count: int = 2, **changed: Any) -> Plan:
    calls = PlannedCalls(calls=1, input_tokens=2000, output_tokens=400, output_most=900)
    given = {
        "graph": said, "session": said, "mode": "full", "generation": said, "sweep_model": said,
        "synthesis_model": f"{said} large", "routing": make_routing(said), "synthesis": calls,
        "sweeps": tuple(make_sweep(said, number) for number in range(1, count + 1)),
        "flagged": calls, "low": 0.12, "high": 0.45, "budget": said, "advice": said,
    }  # fmt: skip
    return Plan(**given | changed)


def make_search_plan(said: str = "toys", **changed: Any) -> SearchPlan:
    given = {
        "graph": said, "session": said, "mode": "hybrid", "model": said, "nodes": 12,
        "relationships": 3, "calls": 1, "input_tokens": 900, "output_tokens": 90,
        "output_most": 400, "low": 0.01, "high": 0.02,
    }  # fmt: skip
    return SearchPlan(**given | changed)


def make_generation(said: str = "toys", **changed: Any) -> Generation:
    given = {
        "id": said, "graph": said, "created_at": "2026-01-02T03:04:05+00:00", "algorithm": said,
        "fingerprint": said, "node_count": 586, "relationship_count": 900, "partition_count": 2,
        "modularity": 0.61, "sizes": (400, 186), "pooled_nodes": 6, "embedder": said,
        "dimensions": 3, "settings": said, "seconds": {said: 1.5}, "issues": {said: 2}, "pools": 1,
        "levels": (2, 1),
    }  # fmt: skip
    return Generation(**given | changed)


COVERAGE = Coverage(
    partitions_swept=5, partitions_total=11, nodes_read=300, nodes_total=586,
    texts_read=120, texts_total=400,
)  # fmt: skip


def cells(page: Any) -> list[str]:
    return [each.text for each in page.elements if each.tag in ("th", "td")]


def assert_rows(page: Any, rows: list[tuple[str, str]]) -> None:
    """Labels and texts stand in this order in a table."""
    texts = cells(page)
    assert texts[-2 * len(rows) :] == [text for row in rows for text in row]


def test_a_plan_shows_the_table_and_the_figures_of_the_command() -> None:
    plan = make_plan()
    page = parse(plan._repr_html_())
    headings, rows = sweep_table(plan)
    assert cells(page)[:7] == [heading.rstrip(">") for heading in headings]
    assert cells(page)[7:14] == list(rows[0])
    assert rows[0] == ("P1", "1,400", "2", "1", "5,000", "600", "toys: toys 1")
    assert len(page.having("td", "pgs-right")) == 10
    assert_rows(page, plan_rows(plan))
    assert "between 0.12 and 0.45, without the calls for flags" in cells(page)


def test_a_plan_without_price_or_sweeps_says_so() -> None:
    page = parse(make_plan(count=0, low=None, high=None)._repr_html_())
    assert page.having("table", "pgs-rows") == []
    assert "nothing is left to read" in cells(page)
    assert figures.cost_line(None) in " ".join(cells(page))


def test_of_many_sweeps_the_first_are_shown() -> None:
    page = parse(make_plan(count=MOST_ROWS + 1200)._repr_html_())
    assert f"P{MOST_ROWS}" in cells(page)
    assert f"P{MOST_ROWS + 1}" not in cells(page)
    assert [each.text for each in page.having("p", "pgs-meta")] == ["and 1,200 more"]


@pytest.mark.parametrize("changed", [{}, {"calls": 0}, {"budget": "one call is too many"}])
def test_the_plan_of_a_search_shows_the_figures_of_the_command(changed: dict[str, Any]) -> None:
    plan = make_search_plan(**changed)
    assert_rows(parse(plan._repr_html_()), search_plan_rows(plan))


def test_a_routing_shows_what_decided() -> None:
    page = parse(make_routing("near")._repr_html_())
    assert page.having("p", "pgs-question")[0].text == "2 of 4 partitions"
    assert cells(page) == ["id", "similarity", "reason", "P2", "0.50", "near", "P1", "-", "-"]
    assert page.having("p", "pgs-note")[0].text == "near"
    by_evidence = parse(make_routing("near", evidence=7)._repr_html_())
    assert cells(by_evidence)[1:5:3] == ["evidence", "7"]
    nothing = parse(Routing(routes=(), considered=1)._repr_html_())
    assert nothing.having("table") == []
    assert nothing.having("p", "pgs-question")[0].text == "0 of 1 partition"


def test_a_coverage_shows_its_line_and_a_bar() -> None:
    page = parse(COVERAGE._repr_html_())
    line = figures.coverage_line(COVERAGE)
    assert line == "5 of 11 partitions, 300 of 586 nodes, 120 of 400 texts (30 %)"
    assert page.having("p")[-1].text == line
    assert page.having("svg")[0].attributes["aria-label"] == line
    assert page.having("rect", "pgs-done")[0].attributes["width"] == "30"


def test_a_generation_shows_the_figures_of_the_command() -> None:
    made = make_generation()
    page = parse(made._repr_html_())
    assert_rows(page, generation_rows(made))
    assert "586 nodes, 900 relationships" in cells(page)
    assert "0.610, 0.000 before the limits" in cells(page)


MAKERS: dict[str, Callable[[str], Any]] = {
    "plan": make_plan, "search": make_search_plan, "generation": make_generation,
    "routing": make_routing,
}  # fmt: skip


@pytest.mark.parametrize("kind", MAKERS)
def test_hostile_text_is_only_shown(kind: str, hostile: str) -> None:
    page = parse(MAKERS[kind](hostile)._repr_html_())  # the parser refuses what is not inert
    plain = parse(MAKERS[kind]("toys")._repr_html_())
    tags, expected = ([each.tag for each in one.elements] for one in (page, plain))
    assert tags == expected


def test_a_cell_runs_nothing_and_sets_no_colors_but_its_own() -> None:
    for made in (make_plan(), make_search_plan(), make_generation(), make_routing("a"), COVERAGE):
        text = made._repr_html_()
        assert "<script" not in text
        (sheet,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
        rules = [part.strip() for part in re.findall(r"([^{}]+)\{", sheet)]
        selectors = [one.strip() for rule in rules for one in rule.split(",")]
        assert all(one.startswith(".pgs-answer") for one in selectors)
        assert not re.search(r"background(?!: none)|#000|#fff|white;|black;", sheet)
