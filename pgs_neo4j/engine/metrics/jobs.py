"""How `pgs repartition` ended, for the textfile collector of Prometheus' node_exporter."""

from __future__ import annotations

from collections.abc import Sequence
from time import time

from pgs_neo4j.engine import EndedJob, FailedJob, GraphState
from pgs_neo4j.engine import metrics as names
from pgs_neo4j.engine.metrics import MetricFigures, exposition
from pgs_neo4j.engine.metrics.graphs import graph_figures


def job_text(jobs: Sequence[EndedJob], states: Sequence[GraphState], exit_code: int) -> str:
    """Return how jobs ended, and the state of graphs, in the text format."""
    figures = MetricFigures()
    figures.set(names.EXIT_CODE, exit_code)
    figures.set(names.ENDED_AT, time())
    known = {state.graph for state in states}
    for ended in jobs:
        if isinstance(ended, FailedJob) and ended.job is None:
            # A name that no graph has may be anything, so it is no label.
            if ended.graph in known:
                figures.set(names.OUTCOME, 1, ended.graph or "", "failed")
            continue
        job = ended.job if isinstance(ended, FailedJob) else ended
        if job is not None:
            figures.set(names.OUTCOME, 1, job.graph, job.outcome)
            figures.set(names.JOB_SECONDS, job.figures.get("seconds"), job.graph)
    return exposition(figures, graph_figures(states))
