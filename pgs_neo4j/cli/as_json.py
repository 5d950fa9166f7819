"""Every value that a command prints with ``--json``, as plain JSON data.

Numbers that JSON has no word for (NaN, infinity) become null. Keys are snake_case and stay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgs_neo4j.catalog import StoredGraph
    from pgs_neo4j.jobs.record import Job
    from pgs_neo4j.jobs.repartition import Failed
    from pgs_neo4j.model import (
        Coverage,
        Drift,
        Generation,
        Partition,
        Plan,
        Routing,
    )
    from pgs_neo4j.pgs.partition import Partitioning
    from pgs_neo4j.pgs.session import SessionInfo

Json = dict[str, Any]


def plain_data(value: object) -> Any:
    """Dataclasses, tuples, paths, and numbers of any kind as JSON data, by field name."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_data(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [plain_data(item) for item in value]
    return str(value) if isinstance(value, Path) else _number(value)


def plan(found: Plan, unpriced: Sequence[str]) -> Json:
    """What a question would read and cost; null where a model has no price."""
    names = ("graph", "session", "mode", "generation", "sweep_model", "synthesis_model")
    totals = ("calls", "cached", "input_tokens", "output_tokens")
    parts = [{str(key): value for key, value in plain_data(each).items()} for each in found.sweeps]
    return {
        **{name: getattr(found, name) for name in names},
        "partitions": [{"id": part.pop("partition"), **part} for part in parts],
        "synthesis": plain_data(found.synthesis),
        "flagged": plain_data(found.flagged),
        "total": {name: getattr(found, name) for name in totals},
        "cost": {"low": plain_data(found.low), "high": plain_data(found.high)},
        "unpriced": list(unpriced),
        "budget": found.budget,
        "routing": routing(found.routing),
    }


def coverage(found: Coverage) -> Json:
    """Coverage in partitions and in nodes."""
    return {**plain_data(found), "fraction": plain_data(found.fraction)}


def routing(found: Routing) -> Json:
    """The routes, best first, and how they came about."""
    return {str(key): value for key, value in plain_data(found).items()}


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
    from pgs_neo4j.cli.quality_page import histogram, quantiles

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
        "coverage": coverage(found.coverage) if found.coverage else None,
    }


def job(found: Job | Failed) -> Json:
    """The record of a job; one that could not even be recorded has graph, outcome, and error."""
    from pgs_neo4j.jobs.record import Job

    if isinstance(found, Job):
        return {str(key): value for key, value in plain_data(found).items()}
    if found.job is not None:
        return job(found.job)
    return {"graph": found.graph, "outcome": "failed", "error": str(found.error)}


def _number(value: object) -> Any:
    """numpy's scalars and arrays know themselves as Python values; anything else is text."""
    to_list = getattr(value, "tolist", None)
    return plain_data(to_list()) if to_list is not None else str(value)
