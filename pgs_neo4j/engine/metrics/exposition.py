"""Figures as text that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from pgs_neo4j.engine.metrics.figures import Labels, MetricFigures, Spread
from pgs_neo4j.engine.metrics.names import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(*figures: MetricFigures) -> str:
    """Return figures in the text format; each metric stands in one of them only."""
    # A registry of its own: what a program that embeds the server registers stays apart.
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(figures))
    return generate_latest(registry).decode()


@dataclass(eq=False)
class _Figures(Collector):
    figures: Iterable[MetricFigures]

    def collect(self) -> Iterator[Family]:
        """Yield all metrics that have values."""
        for one in self.figures:
            for metric, values in one.values.items():
                yield _simple(metric, values)
            for metric, spreads in one.spreads.items():
                yield _histogram(metric, spreads)


def _simple(metric: Metric, values: dict[Labels, float]) -> Family:
    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family = kind(metric.name, metric.help, labels=metric.labels)
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def _histogram(metric: Metric, spreads: dict[Labels, Spread]) -> Family:
    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    bounds = [*map(str, metric.bounds), "+Inf"]
    for labels, spread in sorted(spreads.items(), key=lambda item: item[0]):
        counts = accumulate(map(float, spread.counts))
        family.add_metric(labels, list(zip(bounds, counts, strict=True)), spread.total)
    return family
