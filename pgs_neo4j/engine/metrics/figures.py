"""Values of metrics: counted, set, and shown to those who may see them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pgs_neo4j.engine.metrics.names import Metric

Labels = tuple[str, ...]
T = TypeVar("T")


@dataclass(slots=True)
class Spread:
    """How the values of a histogram are spread: counts by bucket, the last one open."""

    counts: list[int]
    total: float = 0.0


@dataclass(slots=True)
class MetricFigures:
    """The values of metrics by their labels, whose order is that of the metric."""

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
        """Return the figures without those of graphs that are not listed; None lists all."""
        if graphs is None:
            return self
        return replace(
            self,
            values={one: dict(_of(one, rows, graphs)) for one, rows in self.values.items()},
            spreads={one: dict(_of(one, rows, graphs)) for one, rows in self.spreads.items()},
        )


def _of(
    metric: Metric, rows: dict[Labels, T], graphs: frozenset[str]
) -> Iterator[tuple[Labels, T]]:
    place = metric.labels.index("graph") if "graph" in metric.labels else None
    for labels, value in rows.items():
        if place is None or labels[place] in graphs:
            yield labels, value
