"""Adds the entities that are known without a model to what a chunk says."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace

from pgs_neo4j.model.documents import (
    Chunk,
    GivenEntity,
    GroundedEntity,
    GroundedExtraction,
    GroundedRelation,
)
from pgs_neo4j.text.extraction.names import normalize_name

Named = tuple[str, str]
"""A name's key and a type."""


def add_given(extraction: GroundedExtraction, chunk: Chunk) -> GroundedExtraction:
    """Return what a chunk says with its given entities.

    One that was also found is one with it. A name that is given one type has no other.
    """
    if not chunk.given:
        return extraction
    types: dict[str, set[str]] = defaultdict(set)
    for one in chunk.given:
        types[normalize_name(one.name)].add(one.type)
    entities: dict[Named, GroundedEntity] = {}
    for entity in (*(_grounded(one, chunk) for one in chunk.given), *extraction.entities):
        key = normalize_name(entity.name)
        typed = replace(entity, type=_type(key, entity.type, types))
        known = entities.get((key, typed.type))
        entities[key, typed.type] = _both(known, typed) if known else typed
    names = {place: entity.name for place, entity in entities.items()}
    relations = (_renamed(relation, types, names) for relation in extraction.relations)
    return replace(extraction, entities=tuple(entities.values()), relations=tuple(relations))


def _grounded(given: GivenEntity, chunk: Chunk) -> GroundedEntity:
    """Return a given entity; without a place if it reaches into the next chunk."""
    whole = given.end <= len(chunk.text)
    number = bisect_right([sentence.start for sentence in chunk.sentences], given.start)
    return GroundedEntity(
        name=given.name,
        type=given.type,
        spans=((given.start, given.end),) if whole else (),
        sentences=(number,),
        given=True,
    )


def _type(key: str, type_: str, types: dict[str, set[str]]) -> str:
    return next(iter(types[key])) if len(types.get(key, ())) == 1 else type_


def _both(one: GroundedEntity, other: GroundedEntity) -> GroundedEntity:
    return replace(
        one,
        description=one.description or other.description,
        spans=tuple(sorted({*one.spans, *other.spans})),
        sentences=tuple(sorted({*one.sentences, *other.sentences})),
        given=one.given or other.given,
    )


def _renamed(
    relation: GroundedRelation, types: dict[str, set[str]], names: dict[Named, str]
) -> GroundedRelation:
    """Return a relation whose ends have the names and types of the entities."""
    source, target = normalize_name(relation.source), normalize_name(relation.target)
    ends = (
        (source, _type(source, relation.source_type, types)),
        (target, _type(target, relation.target_type, types)),
    )
    return replace(
        relation,
        source=names.get(ends[0], relation.source),
        source_type=ends[0][1],
        target=names.get(ends[1], relation.target),
        target_type=ends[1][1],
    )
