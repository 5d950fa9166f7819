"""Metrics for operators of a server or of jobs, in the text format of Prometheus.

Label values are names of graphs and models, and fixed words, but never other texts of a user.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from time import monotonic, time
from typing import Literal, TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from pgs_neo4j.engine import PGS, EndedJob, FailedJob, GraphState
from pgs_neo4j.errors import PGSError
from pgs_neo4j.events import Event, OnEvent, SweepFinished, UsageCounted
from pgs_neo4j.model import Usage

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FRESH_S, PATIENCE_S = 5.0, 5.0
"""Seconds for which the figures of graphs are reused, and maximum seconds to read new ones."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric; ``labels`` are the names of its labels.

    ``bounds`` are the upper bounds of a histogram's buckets, without the last one, which is open.
    Other kinds have none.
    """

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()


SECONDS = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
# Metrics of a server, since it started.
RUNS = Metric("counter", "pgs_runs", "Runs that ended, by how.", ("graph", "state"))
RUN_SECONDS = Metric(
    "histogram", "pgs_run_seconds", "Seconds of runs that ended.", ("graph",), SECONDS
)
SWEEPS = Metric(
    "counter", "pgs_sweeps", "Partitions that were swept, by how it ended.", ("graph", "status")
)
CALLS = Metric("counter", "pgs_model_calls", "Model calls that were paid for.", ("graph", "model"))
TOKENS = Metric(
    "counter",
    "pgs_model_tokens",
    "Tokens of model calls, by direction: input or output.",
    ("graph", "model", "direction"),
)
CACHE_READ = Metric(
    "counter",
    "pgs_model_cache_read_tokens",
    "Input tokens that came from the provider's prompt cache.",
    ("graph", "model"),
)
CACHE_WRITE = Metric(
    "counter",
    "pgs_model_cache_write_tokens",
    "Input tokens that the provider stored in its prompt cache.",
    ("graph", "model"),
)
COST = Metric(
    "counter",
    "pgs_model_cost",
    "Cost of model calls, in the currency of your prices; those without prices cost nothing.",
    ("graph", "model"),
)
CACHED = Metric(
    "counter", "pgs_cached_replies", "Replies from the cache, which cost nothing.", ("graph",)
)
# Metrics of a server, at the moment.
RUNNING = Metric("gauge", "pgs_runs_running", "Runs in progress.")
WAITING = Metric("gauge", "pgs_runs_waiting", "Runs in the queue.")
STREAMS = Metric("gauge", "pgs_streams", "Open streams of events and chats.")
DATABASE_UP = Metric("gauge", "pgs_database_up", "1 if the database answers in time, else 0.")
INFO = Metric("gauge", "pgs_info", "Always 1; the label is the version of pgs.", ("version",))
# Metrics of graphs, from the database.
GENERATION_AGE = Metric(
    "gauge",
    "pgs_graph_generation_age_seconds",
    "Seconds since the current partitions were made.",
    ("graph",),
)
NODES = Metric("gauge", "pgs_graph_nodes", "Nodes of the current partitions.", ("graph",))
PARTITIONS = Metric("gauge", "pgs_graph_partitions", "Current partitions.", ("graph",))
CHANGED = Metric(
    "gauge",
    "pgs_graph_database_changed",
    "1 if another program has committed since the partitions were last seen to be valid.",
    ("graph",),
)
DRIFT = Metric(
    "gauge",
    "pgs_graph_drift_ratio",
    "Share of the graph that had changed, 0 to 1, when a job last measured it.",
    ("graph",),
)
LEASED = Metric(
    "gauge", "pgs_graph_lease_held", "1 while a job holds the lease of the graph.", ("graph",)
)
# Metrics of `pgs repartition`.
EXIT_CODE = Metric("gauge", "pgs_repartition_exit_code", "Exit code of the command.")
ENDED_AT = Metric("gauge", "pgs_repartition_finished_timestamp_seconds", "When the command ended.")
OUTCOME = Metric(
    "gauge", "pgs_repartition_outcome", "1 for how the job of a graph ended.", ("graph", "outcome")
)
JOB_SECONDS = Metric("gauge", "pgs_repartition_seconds", "Seconds of the job.", ("graph",))
Labels = tuple[str, ...]
T = TypeVar("T")


@dataclass(slots=True)
class Spread:
    """The distribution of a histogram's values: counts by bucket, and the sum of the values."""

    counts: list[int]
    total: float = 0.0


@dataclass(slots=True)
class MetricFigures:
    """The values of metrics, by the values of their labels in the order of ``Metric.labels``."""

    values: dict[Metric, dict[Labels, float]] = field(default_factory=dict)
    spreads: dict[Metric, dict[Labels, Spread]] = field(default_factory=dict)

    def add(self, metric: Metric, amount: float, *labels: str) -> None:
        """Add to a counter."""
        values = self.values.setdefault(metric, {})
        values[labels] = values.get(labels, 0.0) + amount

    def set(self, metric: Metric, value: float | bool | None, *labels: str) -> None:
        """Set a gauge; None leaves it out."""
        if value is not None:
            self.values.setdefault(metric, {})[labels] = float(value)

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Add a value to a histogram."""
        empty = Spread([0] * (len(metric.bounds) + 1))
        spread = self.spreads.setdefault(metric, {}).setdefault(labels, empty)
        spread.counts[bisect_left(metric.bounds, value)] += 1
        spread.total += value

    def value(self, metric: Metric, *labels: str) -> float:
        """Return a value; 0 before the first one."""
        return self.values.get(metric, {}).get(labels, 0.0)

    def of_graphs(self, graphs: frozenset[str] | None) -> MetricFigures:
        """Return the figures of ``graphs`` and those about no graph; None means all graphs."""
        if graphs is None:
            return self
        return replace(
            self,
            values={
                metric: dict(_select_graphs(metric, rows, graphs))
                for metric, rows in self.values.items()
            },
            spreads={
                metric: dict(_select_graphs(metric, rows, graphs))
                for metric, rows in self.spreads.items()
            },
        )


def _select_graphs(
    metric: Metric, rows: dict[Labels, T], graphs: frozenset[str]
) -> Iterator[tuple[Labels, T]]:
    place = metric.labels.index("graph") if "graph" in metric.labels else None
    for labels, value in rows.items():
        if place is None or labels[place] in graphs:
            yield labels, value


@dataclass(slots=True)
class RunMetrics:
    """Metrics of the runs of this process since it started."""

    figures: MetricFigures = field(default_factory=MetricFigures)

    def listen(self, graph: str, pass_on: OnEvent) -> OnEvent:
        """Return a callback that counts the events of one run, and passes them on."""
        # An event holds the usage of the whole run so far, so only the increase is added.
        known, known_cost = Usage(), 0.0

        def count_event(event: Event) -> None:
            nonlocal known, known_cost
            match event:
                case SweepFinished(sweep):
                    self.figures.add(SWEEPS, 1, graph, str(sweep.status))
                case UsageCounted(usage, cost, model):
                    cost = known_cost if cost is None else cost
                    self.figures.add(CACHED, usage.cached - known.cached, graph)
                    if model is not None:
                        self._count_usage(graph, model, known, usage)
                        self.figures.add(COST, cost - known_cost, graph, model)
                    known, known_cost = usage, cost
            pass_on(event)

        return count_event

    def end(self, graph: str, state: str, seconds: float | None) -> None:
        """Count a run that ended; ``seconds`` is None if it never began."""
        self.figures.add(RUNS, 1, graph, state)
        if seconds is not None:
            self.figures.observe(RUN_SECONDS, seconds, graph)

    def _count_usage(self, graph: str, model: str, known: Usage, usage: Usage) -> None:
        add = self.figures.add
        add(CALLS, usage.calls - known.calls, graph, model)
        add(TOKENS, usage.input_tokens - known.input_tokens, graph, model, "input")
        add(TOKENS, usage.output_tokens - known.output_tokens, graph, model, "output")
        for metric, count in (
            (CACHE_READ, usage.cache_read_tokens - known.cache_read_tokens),
            (CACHE_WRITE, usage.cache_write_tokens - known.cache_write_tokens),
        ):
            if count:
                add(metric, count, graph, model)


def exposition(*figures: MetricFigures) -> str:
    """Return figures in the text format. Only one of the ``figures`` may have a given metric."""
    # The global registry would add the metrics of a program that embeds the server.
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_FiguresCollector(figures))
    return generate_latest(registry).decode()


@dataclass(eq=False)
class _FiguresCollector(Collector):
    figures: Iterable[MetricFigures]

    def collect(self) -> Iterator[Family]:
        """Yield all metrics that have values."""
        for figures in self.figures:
            for metric, values in figures.values.items():
                yield _make_simple_family(metric, values)
            for metric, spreads in figures.spreads.items():
                yield _make_histogram_family(metric, spreads)


def _make_simple_family(metric: Metric, values: dict[Labels, float]) -> Family:
    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family = kind(metric.name, metric.help, labels=metric.labels)
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def _make_histogram_family(metric: Metric, spreads: dict[Labels, Spread]) -> Family:
    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    bounds = [*map(str, metric.bounds), "+Inf"]
    for labels, spread in sorted(spreads.items(), key=lambda item: item[0]):
        counts = accumulate(map(float, spread.counts))
        family.add_metric(labels, list(zip(bounds, counts, strict=True)), spread.total)
    return family


def graph_figures(states: Sequence[GraphState]) -> MetricFigures:
    """Return the state of graphs as figures."""
    figures = MetricFigures()
    for state in states:
        figures.set(GENERATION_AGE, state.age_s, state.graph)
        figures.set(NODES, state.nodes, state.graph)
        figures.set(PARTITIONS, state.partitions, state.graph)
        figures.set(CHANGED, state.changed, state.graph)
        figures.set(DRIFT, state.drift, state.graph)
        figures.set(LEASED, state.leased, state.graph)
    return figures


@dataclass(slots=True)
class GraphMetrics:
    """Metrics of the state of all graphs. Scrapes within ``FRESH_S`` share one read."""

    pgs: PGS
    _figures: MetricFigures = field(default_factory=MetricFigures)
    _read_at: float = -FRESH_S
    _read_lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    async def figures(self) -> MetricFigures:
        """Return the figures of all graphs, and whether the database answers."""
        async with self._read_lock:
            if monotonic() - self._read_at >= FRESH_S:
                self._figures = await self._read_figures()
                self._read_at = monotonic()
        return self._figures

    async def _read_figures(self) -> MetricFigures:
        try:
            async with asyncio.timeout(PATIENCE_S):
                figures = graph_figures(await self.pgs.graphs.states())
        except (PGSError, TimeoutError):
            figures = MetricFigures()
            figures.set(DATABASE_UP, 0)
            return figures
        figures.set(DATABASE_UP, 1)
        return figures


def job_text(jobs: Sequence[EndedJob], states: Sequence[GraphState], exit_code: int) -> str:
    """Return the outcomes of jobs and the state of graphs in the text format."""
    figures = MetricFigures()
    figures.set(EXIT_CODE, exit_code)
    figures.set(ENDED_AT, time())
    known = {state.graph for state in states}
    for ended in jobs:
        if isinstance(ended, FailedJob) and ended.job is None:
            # If the graph is not stored, its name may be any text, so it must not become a label.
            if ended.graph in known:
                figures.set(OUTCOME, 1, ended.graph or "", "failed")
            continue
        job = ended.job if isinstance(ended, FailedJob) else ended
        if job is not None:
            figures.set(OUTCOME, 1, job.graph, job.outcome)
            figures.set(JOB_SECONDS, job.figures.get("seconds"), job.graph)
    return exposition(figures, graph_figures(states))
