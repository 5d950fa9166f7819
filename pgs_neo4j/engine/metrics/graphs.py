"""The state of graphs as figures, read from the database no more often than necessary."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

from pgs_neo4j.engine import PGS, GraphState
from pgs_neo4j.engine import metrics as names
from pgs_neo4j.engine.metrics import MetricFigures
from pgs_neo4j.errors import PGSError

FRESH_S, PATIENCE_S = 5.0, 5.0
"""Seconds for which figures are not read again, and for which they are waited for."""


def graph_figures(states: Sequence[GraphState]) -> MetricFigures:
    """Return the state of graphs as figures."""
    figures = MetricFigures()
    for state in states:
        figures.set(names.GENERATION_AGE, state.age_s, state.graph)
        figures.set(names.NODES, state.nodes, state.graph)
        figures.set(names.PARTITIONS, state.partitions, state.graph)
        figures.set(names.CHANGED, state.changed, state.graph)
        figures.set(names.DRIFT, state.drift, state.graph)
        figures.set(names.LEASED, state.leased, state.graph)
    return figures


@dataclass(slots=True)
class GraphMetrics:
    """The state of all graphs; scrapes that come together share one look."""

    pgs: PGS
    _figures: MetricFigures = field(default_factory=MetricFigures)
    _read_at: float = -FRESH_S
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    async def figures(self) -> MetricFigures:
        """Return the figures of all graphs, and whether the database answers."""
        async with self._reading:
            if monotonic() - self._read_at >= FRESH_S:
                self._figures = await self._look()
                self._read_at = monotonic()
        return self._figures

    async def _look(self) -> MetricFigures:
        try:
            async with asyncio.timeout(PATIENCE_S):
                figures = graph_figures(await self.pgs.graphs.states())
        except (PGSError, TimeoutError):
            figures = MetricFigures()
            figures.set(names.DATABASE_UP, 0)
            return figures
        figures.set(names.DATABASE_UP, 1)
        return figures
