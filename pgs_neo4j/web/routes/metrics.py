"""Metrics for Prometheus: what the server does, and how the graphs stand."""

from __future__ import annotations

from fastapi import APIRouter, Response

from pgs_neo4j import __version__
from pgs_neo4j.engine.metrics import (
    CONTENT_TYPE,
    INFO,
    RUNNING,
    STREAMS,
    WAITING,
    MetricFigures,
    exposition,
)
from pgs_neo4j.web.access.callers import METRICS_PATH, Caller
from pgs_neo4j.web.shared import ScraperNow, Serving, ServingNow

router = APIRouter(tags=["operations"])


@router.get(METRICS_PATH, response_class=Response)
async def metrics(serving: ServingNow, caller: ScraperNow) -> Response:
    """Return metrics in the text format of Prometheus, for tokens of the role metrics."""
    counted = serving.board.metrics.figures.of_graphs(caller.graphs)
    graphs = (await serving.graph_metrics.figures()).of_graphs(caller.graphs)
    return Response(exposition(_now(serving, caller), counted, graphs), media_type=CONTENT_TYPE)


def _now(serving: Serving, caller: Caller) -> MetricFigures:
    """Return what happens now, on the graphs that the caller sees."""
    running, waiting = serving.board.counts(caller)
    figures = MetricFigures()
    figures.set(INFO, 1, __version__)
    figures.set(RUNNING, running)
    figures.set(WAITING, waiting)
    streams = (count for graph, count in serving.streams.items() if caller.sees(graph))
    figures.set(STREAMS, sum(streams))
    return figures
