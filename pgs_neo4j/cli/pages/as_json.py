"""Every value that a command prints with ``--json``, as plain JSON data.

Keys are snake_case and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.export.json_text import coverage_data
from pgs_neo4j.text.json_data import Json, plain_data

if TYPE_CHECKING:
    from pgs_neo4j.engine import EndedJob, Partitioning, SessionInfo, StoredGraph
    from pgs_neo4j.model import (
        Drift,
        Generation,
        Partition,
        Plan,
    )


def plan(found: Plan, unpriced: Sequence[str]) -> Json:
    """What a question would read and cost; null where a model has no price."""
    names = ("graph", "session", "mode", "generation", "sweep_model", "synthesis_model")
    totals = ("calls", "cached", "input_tokens", "output_tokens")
    return {
        **{name: getattr(found, name) for name in names},
        "sweeps": plain_data(found.sweeps),
        "synthesis": plain_data(found.synthesis),
        "flagged": plain_data(found.flagged),
        "total": {name: getattr(found, name) for name in totals},
        "cost": {"low": plain_data(found.low), "high": plain_data(found.high)},
        "unpriced": list(unpriced),
        "budget": found.budget,
        "routing": plain_data(found.routing),
    }


def partitioning(found: Partitioning) -> Json:
    """What ``pgs partition`` did, or found done already."""
    return {
        **generation(found.generation),
        "reused": found.reused,
        "drift": drift(found.drift),
        "seconds": plain_data(found.seconds),
        "steps": plain_data(found.steps),
    }


def report(found: Generation) -> Json:
    """All figures of a generation, its sizes counted; ``steps`` are those that made it."""
    from pgs_neo4j.cli.pages.quality_page import histogram, quantiles

    bins = histogram(found.sizes)
    return {
        **generation(found),
        "size_quantiles": plain_data(quantiles(found)),
        "histogram": [
            {"from": each.first, "to": each.last, "partitions": each.partitions} for each in bins
        ],
        "seconds": plain_data(sum(found.seconds.values())),
        "steps": plain_data(found.seconds),
    }


def drift(found: Drift | None) -> Json | None:
    """How far a graph has moved; its present size is null where nobody counted it."""
    if found is None:
        return None
    size = {} if found.nodes else {"nodes": None, "relationships": None}
    derived = {"changed": found.changed, "fraction": plain_data(found.fraction)}
    return {**plain_data(found), **size, **derived}


def generation(found: Generation) -> Json:
    """The figures of a generation; null where an older release did not record them."""
    recorded = ("raw_modularity", "conductance", "split", "merged", "pools", "levels")
    return {
        "graph": found.graph,
        "generation": found.id,
        "created_at": found.created_at,
        "origin": found.origin,
        "algorithm": found.algorithm,
        "node_count": found.node_count,
        "relationship_count": found.relationship_count,
        "partition_count": found.partition_count,
        "modularity": plain_data(found.modularity),
        "sizes": list(found.sizes),
        "largest_fraction": plain_data(found.largest_fraction),
        "pooled_nodes": found.pooled_nodes,
        "embedder": found.embedder,
        "dimensions": found.dimensions,
        "issues": plain_data(found.issues),
        **{name: plain_data(getattr(found, name)) if found.settings else None for name in recorded},
    }


def partition(found: Partition) -> Json:
    """A described partition; its centroid stays in the database."""
    return {
        "id": found.id,
        "uid": found.uid,
        "lineage": found.lineage,
        "parent": found.parent,
        "nodes": found.size,
        "tokens": found.tokens,
        "keywords": list(found.keywords),
        "summary": found.summary,
        "adjacent": plain_data(found.adjacent),
        "pool": found.pool,
    }


def graph(found: StoredGraph) -> Json:
    """A stored graph with its mapping."""
    return {str(key): value for key, value in plain_data(found).items()}


def session(found: SessionInfo) -> Json:
    """A stored session with its coverage of the current generation."""
    return {
        **plain_data(found),
        "coverage": coverage_data(found.coverage) if found.coverage else None,
    }


def job(ended: EndedJob) -> Json:
    """The record of a job; one that has none has graph, outcome, and error."""
    from pgs_neo4j.engine import FailedJob

    if isinstance(ended, FailedJob):
        if ended.job is not None:
            return job(ended.job)
        return {"graph": ended.graph, "outcome": "failed", "error": str(ended.error)}
    return {str(key): value for key, value in plain_data(ended).items()}
