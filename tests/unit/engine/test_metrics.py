"""Figures as text: what Prometheus' own parser reads is what was counted."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from pgs_neo4j.engine import metrics as names
from pgs_neo4j.engine.metrics import Metric, MetricFigures, exposition

ALL = [one for one in vars(names).values() if isinstance(one, Metric)]
HOSTILE = 'a"} 1\n# HELP x\npgs_fake 9\\'


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counters_gauges_and_histograms_come_back_as_they_were() -> None:
    figures = MetricFigures()
    figures.add(names.CALLS, 2, "papers", "m")
    figures.add(names.CALLS, 3, "papers", "m")
    figures.set(names.LEASED, True, "papers")
    figures.set(names.DRIFT, 0.25, "papers")
    figures.set(names.NODES, None, "papers")
    for seconds in (0.5, 1.0, 4.0, 9999.0):
        figures.observe(names.RUN_SECONDS, seconds, "papers")
    read = samples(exposition(figures))
    graph = ("graph", "papers")
    assert read["pgs_model_calls_total", (graph, ("model", "m"))] == 5
    assert read["pgs_graph_lease_held", (graph,)] == 1
    assert read["pgs_graph_drift_ratio", (graph,)] == 0.25
    assert not [name for name, _ in read if name == "pgs_graph_nodes"]
    assert read["pgs_run_seconds_bucket", (graph, ("le", "1.0"))] == 2
    assert read["pgs_run_seconds_bucket", (graph, ("le", "5.0"))] == 3
    assert read["pgs_run_seconds_bucket", (graph, ("le", "+Inf"))] == 4
    assert read["pgs_run_seconds_count", (graph,)] == 4
    assert read["pgs_run_seconds_sum", (graph,)] == 10004.5


def test_a_label_cannot_break_out_of_its_place() -> None:
    figures = MetricFigures()
    figures.add(names.COST, 1, "papers", HOSTILE)
    assert samples(exposition(figures)) == {
        ("pgs_model_cost_total", (("graph", "papers"), ("model", HOSTILE))): 1
    }


def test_figures_of_other_graphs_are_left_out() -> None:
    figures = MetricFigures()
    for graph in ("papers", "secret"):
        figures.add(names.RUNS, 1, graph, "answered")
        figures.observe(names.RUN_SECONDS, 1.0, graph)
    figures.set(names.STREAMS, 2)
    assert figures.of_graphs(None) is figures
    text = exposition(figures.of_graphs(frozenset({"papers"})))
    assert "secret" not in text
    read = samples(text)
    assert read["pgs_streams", ()] == 2
    assert read["pgs_runs_total", (("graph", "papers"), ("state", "answered"))] == 1


def test_what_a_program_registers_stays_apart() -> None:
    before = {family.name for family in REGISTRY.collect()}
    figures = MetricFigures()
    figures.set(names.STREAMS, 1)
    assert set(samples(exposition(figures))) == {("pgs_streams", ())}
    assert {family.name for family in REGISTRY.collect()} == before
    assert exposition(MetricFigures()) == ""


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_a_metric_has_a_name_and_labels_that_prometheus_allows(metric: Metric) -> None:
    assert metric.name.isidentifier()
    assert metric.name.startswith("pgs_")
    assert not metric.name.endswith("_total")  # the text adds it to counters
    assert metric.help.endswith(".")
    assert set(metric.labels) <= {
        *("graph", "model", "state", "status", "direction", "outcome", "version"),
    }
    assert bool(metric.bounds) == (metric.kind == "histogram")
    assert list(metric.bounds) == sorted(metric.bounds)
    assert len({one.name for one in ALL}) == len(ALL)
