"""Indexes as lines and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgs_neo4j.text.json_data import Json
from pgs_neo4j.text.shown import one_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import CreatedIndexes, SearchIndex


def as_json(index: SearchIndex) -> Json:
    """Return an index as JSON data; ``label`` and ``property`` are the first of each."""
    return {
        "name": index.name,
        "label": index.label,
        "property": index.property,
        "dimensions": index.dimensions,
        "similarity": index.similarity,
        "state": index.state,
        "own": index.own,
        "kind": index.kind,
        "on": index.entity,
        "labels": list(index.labels),
        "properties": list(index.properties),
        "analyzer": index.analyzer,
        "population": index.population,
        "failure": index.failure,
    }


def created_json(created: CreatedIndexes) -> Json:
    """Return created indexes as JSON data."""
    return {
        "graph": created.graph,
        "dimensions": created.dimensions,
        "created": list(created.names),
        "existing": [index.name for index in created.existing],
        "indexes": [as_json(index) for index in (*created.created, *created.existing)],
        "notes": list(created.notes),
    }


def lines(created: CreatedIndexes) -> list[str]:
    """Return a line for each index: created now, or there before."""
    return [
        *(f"created: {_described(index)}" for index in created.created),
        *(f"already there: {_described(index)}{_maker(index)}" for index in created.existing),
    ]


def _described(index: SearchIndex) -> str:
    kind = "full-text index" if index.kind == "text" else "vector index"
    labels, properties = (
        ", ".join(map(one_line, names)) for names in (index.labels, index.properties)
    )
    size = f", {index.dimensions:,} dimensions" if index.dimensions else ""
    return f"{kind} {one_line(index.name)} on {labels} ({properties}{size})"


def _maker(index: SearchIndex) -> str:
    """Say who made it, and how it compares words if ours would compare them better."""
    if index.own:
        return ""
    if index.kind == "text" and index.analyzer != "english":
        return f", made by others, with the analyzer {index.analyzer}"
    return ", made by others"
