"""Convert answers, plans, partitions, and other values to the JSON data that ``--json`` prints.

Keys are snake_case and never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.export.json_text import answer_data, citations_data, coverage_data, document_data
from pgs_neo4j.text.citations import distinct
from pgs_neo4j.text.json_data import Json, plain_data

if TYPE_CHECKING:
    from pgs_neo4j.engine import (
        EndedJob,
        Partitioning,
        SearchAnswer,
        SessionInfo,
        StoredGraph,
        StoredRun,
    )
    from pgs_neo4j.export import Area, Document
    from pgs_neo4j.model import Answer, Drift, Generation, Partition, Plan, SearchPlan


def answer(
    result: Answer, areas: Sequence[Area] = (), searched: SearchAnswer | None = None
) -> Json:
    """Return the answer of ``pgs ask``.

    ``areas`` are the partitions of its generation, which supply keywords. ``searched`` is the
    answer of a preceding search, if there was one.
    """
    return {**answer_data(result, areas), "search": search(searched) if searched else None}


def run(stored: StoredRun, document: Document | None) -> Json:
    """Return a stored run with its answer; without a ``document``, with how it ended."""
    properties = stored.properties
    head = {"status": stored.status, "asked_at": properties.get("started_at")}
    head |= {"finished_at": properties.get("finished_at"), "error": properties.get("error")}
    head["outcome"] = properties.get("outcome")
    if document is not None:
        return {**head, **document_data(document)}
    names = {"graph": stored.graph, "session": stored.session, "run": stored.id}
    return {
        **head,
        "question": properties.get("question"),
        **names,
        "mode": properties.get("mode"),
        "partial": True,
        "answer": None,
    }


def search(result: SearchAnswer) -> Json:
    """Return the answer from the nearest nodes, the search method, and the nodes, best first."""
    return {
        "answer": result.text,
        "method": result.method,
        "nodes": [
            {"alias": node.alias, "node": node.key, "title": node.title} for node in result.nodes
        ],
        "citations": citations_data(distinct(result.citations)),
        "struck": plain_data(result.struck),
    }


def plan(forecast: Plan, unpriced: Sequence[str]) -> Json:
    """Return what a question would read and cost; costs are null without prices."""
    names = ("graph", "session", "mode", "generation", "sweep_model", "synthesis_model")
    totals = ("calls", "cached", "input_tokens", "output_tokens")
    return {
        **{name: getattr(forecast, name) for name in names},
        "sweeps": plain_data(forecast.sweeps),
        "synthesis": plain_data(forecast.synthesis),
        "flagged": plain_data(forecast.flagged),
        "total": {name: getattr(forecast, name) for name in totals},
        "cost": {"low": plain_data(forecast.low), "high": plain_data(forecast.high)},
        "without_flags": plain_data(forecast.without_flags),
        "with_flags": plain_data(forecast.with_flags),
        "most": plain_data(forecast.most),
        "unpriced": list(unpriced),
        "low_uncached": plain_data(forecast.low_uncached),
        "budget": forecast.budget,
        "advice": forecast.advice,
        "partitions_note": forecast.partitions_note,
        "contexts": dict(forecast.contexts),
        "context_advice": list(forecast.context_advice),
        "routing": plain_data(forecast.routing),
    }


def search_plan(planned: SearchPlan, unpriced: Sequence[str]) -> Json:
    """Return what an answer from a search would show and cost; costs are null without prices."""
    data: Json = plain_data(planned)
    low, high = data.pop("low"), data.pop("high")
    data["contexts"] = dict(planned.contexts)
    return {**data, "cost": {"low": low, "high": high}, "unpriced": list(unpriced)}


def partitioning(result: Partitioning) -> Json:
    """Return the result of ``pgs partition``: a new or reused generation, and its drift."""
    return {
        **generation(result.generation),
        "reused": result.reused,
        "drift": drift(result.drift),
        "seconds": plain_data(result.seconds),
        "steps": plain_data(result.steps),
    }


def report(figures: Generation) -> Json:
    """Return all figures of a generation, a histogram of sizes, and the seconds of each step."""
    from pgs_neo4j.cli.pages.partitions_page import histogram
    from pgs_neo4j.export.generation_rows import quantiles

    bins = histogram(figures.sizes)
    return {
        **generation(figures),
        "size_quantiles": plain_data(quantiles(figures)),
        "histogram": [
            {"from": bin_.first, "to": bin_.last, "partitions": bin_.partitions} for bin_ in bins
        ],
        "seconds": plain_data(sum(figures.seconds.values())),
        "steps": plain_data(figures.seconds),
    }


def drift(change: Drift | None) -> Json | None:
    """Return the drift of a graph.

    Sizes are null if the graph was not counted, and the algorithm is null if it is unknown.
    """
    if change is None:
        return None
    size = {} if change.nodes else {"nodes": None, "relationships": None}
    derived = {"changed": change.changed, "fraction": plain_data(change.fraction)}
    algorithm = {"algorithm": change.algorithm or None}
    return {**plain_data(change), **size, **algorithm, **derived}


def generation(figures: Generation) -> Json:
    """Return a generation's figures."""
    return {
        "graph": figures.graph,
        "generation": figures.id,
        "created_at": figures.created_at,
        "origin": figures.origin,
        "algorithm": figures.algorithm,
        "node_count": figures.node_count,
        "relationship_count": figures.relationship_count,
        "partition_count": figures.partition_count,
        "modularity": plain_data(figures.modularity),
        "sizes": list(figures.sizes),
        "largest_fraction": plain_data(figures.largest_fraction),
        "pooled_nodes": figures.pooled_nodes,
        "embedder": figures.embedder,
        "dimensions": figures.dimensions,
        "issues": plain_data(figures.issues),
        "documents_together": plain_data(figures.documents_together),
        "raw_modularity": plain_data(figures.raw_modularity),
        "conductance": plain_data(figures.conductance),
        "split": figures.split,
        "merged": figures.merged,
        "pools": figures.pools,
        "levels": list(figures.levels),
    }


def partition(part: Partition) -> Json:
    """Return a described partition without its centroid."""
    return {
        "id": part.id,
        "uid": part.uid,
        "lineage": part.lineage,
        "parent": part.parent,
        "nodes": part.size,
        "tokens": part.tokens,
        "keywords": list(part.keywords),
        "label": part.label,
        "terms": list(part.terms),
        "titles": list(part.titles),
        "abstract": part.abstract,
        "summary": part.summary,
        "adjacent": plain_data(part.adjacent),
        "pool": part.pool,
    }


def graph(stored: StoredGraph) -> Json:
    """Return a stored graph with its mapping."""
    return {str(key): value for key, value in plain_data(stored).items()}


def session(info: SessionInfo) -> Json:
    """Return a stored session with its coverage of the current generation."""
    return {
        **plain_data(info),
        "coverage": coverage_data(info.coverage) if info.coverage else None,
    }


def job(ended: EndedJob) -> Json:
    """Return the record of a job; for a failed job without one, its graph, outcome, and error."""
    from pgs_neo4j.engine import FailedJob

    if isinstance(ended, FailedJob):
        if ended.job is not None:
            return job(ended.job)
        return {"graph": ended.graph, "outcome": "failed", "error": str(ended.error)}
    return {str(key): value for key, value in plain_data(ended).items()}
