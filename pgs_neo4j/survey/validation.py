"""Checks a graph mapping against the database it is meant for."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator

from pgs_neo4j.catalog import check_mapping
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import MappingError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.survey import candidates
from pgs_neo4j.survey.sample import survey
from pgs_neo4j.survey.values import NodeProperty, RelationshipProperty, Survey
from pgs_neo4j.survey.weighing import embedding_sizes
from pgs_neo4j.survey.wording import percent, shown

TEXT_TYPES = ("BOOLEAN", "INTEGER", "FLOAT")
MAX_LISTED = 10


async def validate(db: Database, mapping: GraphMapping) -> list[str]:
    """One sentence for each thing a mapping names that the database does not bear out.

    Properties are looked for in a sample. Raises MappingError when the mapping names
    something of ours, or when no node takes part in it.
    """
    check_mapping(mapping)
    found = await survey(db, mapping.labels, mapping.relationship_types)
    if not found.labels:
        await _refuse(db, mapping)
    return check(found, mapping)


def check(found: Survey, mapping: GraphMapping) -> list[str]:
    """The same for a survey of the mapping's labels and types. Pure."""
    labels = {sample.label for sample in found.labels}
    types = {sample.type for sample in found.relationship_types}
    missing = [f"no node has the label {shown(n)}" for n in mapping.labels if n not in labels]
    missing += [
        f"no relationship has the type {shown(name)}"
        for name in mapping.relationship_types
        if name not in types
    ]
    return [*missing, *_node_warnings(found, mapping), *_relationship_warnings(found, mapping)]


async def _refuse(db: Database, mapping: GraphMapping) -> None:
    everything = await survey(db)
    if not everything.nodes:
        raise MappingError(
            "the database holds no node that could take part in a graph; load some first"
        )
    known = [sample.label for sample in everything.labels if sample.label]
    near = [n for name in mapping.labels for n in difflib.get_close_matches(name, known, n=1)]
    listed = ", ".join(map(shown, near or known[:MAX_LISTED])) or "nodes without labels only"
    asked = ", ".join(map(shown, mapping.labels[:MAX_LISTED]))
    raise MappingError(
        f"the mapping matches no node: no node is labelled {asked}; there is {listed}"
    )


def _node_warnings(found: Survey, mapping: GraphMapping) -> Iterator[str]:
    properties = [p for sample in found.labels for p in sample.properties]
    sampled = sum(sample.sampled for sample in found.labels)
    by_name: dict[str, list[NodeProperty]] = {}
    for item in properties:
        by_name.setdefault(item.name, []).append(item)
    single = (mapping.title, mapping.key, mapping.weight, mapping.embedding)
    for name in dict.fromkeys((*mapping.text, *(name for name in single if name))):
        if name not in by_name:
            yield f"none of {sampled:,} sampled nodes has the property {shown(name)}"
    for name in mapping.text:
        if name in by_name and not any(_readable(item) for item in by_name[name]):
            yield f"{shown(name)} is meant as text and holds {_types(by_name[name])}"
    if mapping.weight in by_name and not all(map(candidates.is_numeric, by_name[mapping.weight])):
        kinds = _types(by_name[mapping.weight])
        yield f"{shown(mapping.weight)} is meant as weight and holds {kinds}"
    if mapping.embedding in by_name:
        yield from _embedding_warnings(found, mapping.embedding)


def _relationship_warnings(found: Survey, mapping: GraphMapping) -> Iterator[str]:
    name = mapping.relationship_weight
    if name is None:
        return
    sampled = sum(sample.sampled for sample in found.relationship_types)
    named = [p for s in found.relationship_types for p in s.properties if p.name == name]
    if not named:
        yield f"none of {sampled:,} sampled relationships has the property {shown(name)}"
    elif not all(map(candidates.is_numeric, named)):
        yield f"{shown(name)} is meant as relationship weight and holds {_types(named)}"


def _embedding_warnings(found: Survey, name: str) -> Iterator[str]:
    sizes = embedding_sizes(found, name)
    sizes.pop(0, None)
    if not sizes:
        kinds = _types([p for s in found.labels for p in s.properties if p.name == name])
        yield f"{shown(name)} is meant as embedding and holds {kinds}"
    elif len(sizes) > 1:
        total = sum(sizes.values())
        listed = ", ".join(
            f"{size} ({percent(nodes / total)})"
            for size, nodes in sorted(sizes.items(), key=lambda item: (-item[1], -item[0]))
        )
        yield f"{shown(name)} holds vectors of different lengths, {listed}; only the first counts"


def _readable(found: NodeProperty) -> bool:
    """Whether a text can be made of it: anything but bytes, points, and lists of numbers."""
    return found.texts > 0 or any(
        kind in TEXT_TYPES or "STRING" in kind or "DATE" in kind or "TIME" in kind
        for kind in found.types
    )


def _types(found: Collection[NodeProperty | RelationshipProperty]) -> str:
    kinds = sorted({kind for item in found for kind in item.types})
    return ", ".join(kinds[:MAX_LISTED])
