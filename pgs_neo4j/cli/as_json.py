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
        Answer,
        Citation,
        Coverage,
        Drift,
        Generation,
        Partition,
        Routing,
        Sweep,
    )
    from pgs_neo4j.pgs.layered import SearchAnswer
    from pgs_neo4j.pgs.partition import Partitioning
    from pgs_neo4j.pgs.session import SessionInfo

PHASES = ("partition", "route", "sweep", "synthesize", "total")
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


def answer(
    found: Answer, partitions: Mapping[int, Partition], searched: SearchAnswer | None = None
) -> Json:
    """The answer of ``pgs ask``; ``partitions`` gives the keywords of those that were swept.

    ``searched`` is the answer of the search before it, if there was one.
    """
    made = found.synthesis
    return {
        "question": found.question,
        "graph": found.graph,
        "session": found.session,
        "run": found.run,
        "mode": found.mode,
        "model": found.model,
        "partial": found.partial,
        "answer": found.text,
        "thesis": made.thesis,
        "connections": list(made.connections),
        "absences": list(made.absences),
        "convergences": list(made.convergences),
        "citations": [citation(each) for each in distinct(made.citations)],
        "partitions": [sweep(each, partitions) for each in found.sweeps],
        "routing": routing(found.routing),
        "coverage": coverage(found.coverage),
        "usage": plain_data(found.usage),
        "seconds": {name: plain_data(found.seconds.get(name, 0.0)) for name in PHASES},
        "warnings": list(found.warnings),
        "search": search(searched) if searched is not None else None,
    }


def search(found: SearchAnswer) -> Json:
    """The answer from the nearest nodes, best first, and how they were found."""
    return {
        "answer": found.text,
        "method": found.method,
        "nodes": [
            {"alias": node.alias, "node": node.key, "title": node.title} for node in found.nodes
        ],
        "citations": [citation(each) for each in distinct(found.citations)],
    }


def distinct(citations: Sequence[Citation]) -> list[Citation]:
    """Each citation once, in the order of its first appearance."""
    return list({(each.partition, each.alias): each for each in citations}.values())


def citation(found: Citation) -> Json:
    """A citation with the key and title of its node; both null when it resolves to none."""
    names = ("alias", "partition", "node", "title", "valid")
    return {name: getattr(found, name) for name in names}


def sweep(found: Sweep, partitions: Mapping[int, Partition]) -> Json:
    """How the reading of one partition ended."""
    part = partitions.get(found.partition)
    return {
        "id": found.partition,
        "status": str(found.status),
        "nodes": found.nodes,
        "nodes_read": found.nodes_read,
        "passes": found.passes,
        "passes_accepted": found.passes_accepted,
        "keywords": list(part.keywords) if part else [],
        "errors": list(found.errors),
        "seconds": plain_data(found.seconds),
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
