"""Compares the database's indexes with the indexes that searches need, and creates or drops them.

No other module creates or drops an index for searches.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from time import monotonic

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import fill_names
from pgs_neo4j.database.search_indexes import (
    FACT_PREFIX,
    TEXT_PREFIX,
    VECTOR_PREFIX,
    Entity,
    IndexKind,
    SearchIndex,
    list_search_indexes,
)
from pgs_neo4j.database.tasks import poll_pauses
from pgs_neo4j.errors import MappingError, QueryError, UsageError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.commands import EXTEND
from pgs_neo4j.text.shown import one_line

ANALYZER = "english"
"""The analyzer of full-text indexes: 6 % better on judged questions than the default one."""
FIRST_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedIndex:
    """An index that searches of a graph need.

    ``name`` is the name that pgs gives it. It ends with a hash, because a label may contain any
    character.
    """

    name: str
    kind: IndexKind
    entity: Entity
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    dimensions: int | None = None


@dataclass(frozen=True, slots=True)
class IndexStanding:
    """The existing indexes that can serve as a wanted index, or an obstacle to creating it.

    Both are empty if the index is missing and can be created.
    """

    serving: tuple[SearchIndex, ...] = ()
    obstacle: str = ""


def want_text(mapping: GraphMapping) -> tuple[WantedIndex, ...]:
    """Return one full-text index for each group of labels with the same text properties.

    Most graphs have one group. Raises MappingError if the mapping names no label, or neither text
    nor title.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for label in dict.fromkeys(mapping.labels):
        if properties := mapping.list_words(label):
            groups.setdefault(properties, []).append(label)
    if not groups:
        raise MappingError(
            "a full-text index needs a mapping that names labels and properties with text; "
            f"run {EXTEND} --label LABEL --text PROPERTY"
        )
    return tuple(_want_text_index(labels, properties) for properties, labels in groups.items())


def _want_text_index(labels: Sequence[str], properties: tuple[str, ...]) -> WantedIndex:
    schema = json.dumps([sorted(labels), sorted(properties)])
    return WantedIndex(
        name=f"{TEXT_PREFIX}{_hash_schema(schema)}",
        kind="text",
        entity="node",
        labels=tuple(labels),
        properties=properties,
    )


def want_vectors(mapping: GraphMapping, dimensions: int) -> tuple[WantedIndex, ...]:
    """Return one vector index for each mapped label.

    Raises MappingError if the mapping names no label or no embedding.
    """
    embedding = mapping.embedding
    if not mapping.labels or not embedding:
        raise MappingError(
            "a vector index needs a mapping that names labels and an embedding property; "
            f"run {EXTEND} --label LABEL --embedding PROPERTY"
        )
    return tuple(
        WantedIndex(
            name=VECTOR_PREFIX + _hash_schema(f"{label}\0{embedding}"),
            kind="vector",
            entity="node",
            labels=(label,),
            properties=(embedding,),
            dimensions=dimensions,
        )
        for label in dict.fromkeys(mapping.labels)
    )


def want_facts(
    mapping: GraphMapping, sizes: Mapping[tuple[str, int], int]
) -> tuple[WantedIndex, ...]:
    """Return a vector index for each type of relationship with embeddings.

    ``sizes`` counts relationships by type and by the length of their vectors. Only types whose
    vectors have the most frequent length get an index. Raises MappingError if the mapping names no
    embedding of relationships, or if no relationship has one.
    """
    embedding = mapping.relationship_embedding
    if not embedding:
        raise MappingError(
            "an index on facts needs a mapping that names the property with the vectors of "
            f"relationships; run {EXTEND} --relationship-embedding PROPERTY"
        )
    if not sizes:
        raise MappingError(
            f"no relationship holds a vector in {embedding!r}, so there is nothing to index; "
            f"run {EXTEND} another --relationship-embedding"
        )
    totals: dict[int, int] = {}
    for (_, size), count in sizes.items():
        totals[size] = totals.get(size, 0) + count
    dimensions = max(totals, key=lambda size: (totals[size], size))
    return tuple(
        WantedIndex(
            name=FACT_PREFIX + _hash_schema(f"{name}\0{embedding}"),
            kind="vector",
            entity="relationship",
            labels=(name,),
            properties=(embedding,),
            dimensions=dimensions,
        )
        for name, size in sorted(sizes)
        if size == dimensions
    )


def compare(wanted: WantedIndex, indexes: Sequence[SearchIndex]) -> IndexStanding:
    """Return which of the database's indexes can serve as ``wanted``, or what prevents it."""
    alike = [
        index for index in indexes if (index.kind, index.entity) == (wanted.kind, wanted.entity)
    ]
    named = [index for index in indexes if index.name == wanted.name]
    standing = (_compare_text if wanted.kind == "text" else _compare_vector)(wanted, alike)
    if named and not (standing.serving or standing.obstacle):
        what = f"the name {wanted.name} belongs to {describe(named[0])}"
        return IndexStanding(obstacle=f"{what}; drop it, then run 'pgs index create' again")
    return standing


def describe(index: SearchIndex | WantedIndex) -> str:
    """Return one line that describes an index by its kind, name, labels, and properties."""
    kind = "full-text" if index.kind == "text" else "vector"
    return (
        f"the {kind} index {one_line(index.name)} on {_join_names(index.labels)} "
        f"({_join_names(index.properties)})"
    )


def _compare_text(wanted: WantedIndex, indexes: Sequence[SearchIndex]) -> IndexStanding:
    """Find an index for each label that covers all of the label's text properties."""
    needed = set(wanted.properties)
    serving: dict[str, SearchIndex] = {}
    for label in wanted.labels:
        whole = [
            index
            for index in indexes
            if label in index.labels and needed <= set(index.properties) and index.state != "FAILED"
        ]
        if not whole:
            return _find_failed(wanted, indexes)
        best = next((index for index in whole if index.name == wanted.name), whole[0])
        serving[best.name] = best
    return IndexStanding(tuple(serving.values()))


def _find_failed(wanted: WantedIndex, indexes: Sequence[SearchIndex]) -> IndexStanding:
    for index in indexes:
        if set(index.labels) == set(wanted.labels) and set(index.properties) == set(
            wanted.properties
        ):
            return IndexStanding(obstacle=describe_failure(index))
    return IndexStanding()


def _compare_vector(wanted: WantedIndex, indexes: Sequence[SearchIndex]) -> IndexStanding:
    # Neo4j allows only one vector index for a label and property, so the first match decides.
    for index in indexes:
        if wanted.labels[0] not in index.labels or index.property != wanted.properties[0]:
            continue
        if index.state == "FAILED":
            return IndexStanding(obstacle=describe_failure(index))
        if index.dimensions == wanted.dimensions and (index.similarity or "").upper() == "COSINE":
            return IndexStanding((index,))
        size = f"{index.dimensions} dimensions" if index.dimensions else "any length"
        return IndexStanding(
            obstacle=f"{describe(index)} compares vectors of {size} by "
            f"{(index.similarity or 'an unknown function').lower()}, and searches need "
            f"{wanted.dimensions} dimensions and cosine; {_describe_remedy(index)}"
        )
    return IndexStanding()


def describe_failure(index: SearchIndex) -> str:
    """Return a message that names a failed index, the reason, and the remedy."""
    reason = one_line(index.failure, 200)
    return f"{describe(index)} failed{f' ({reason})' if reason else ''}; {_describe_remedy(index)}"


def _describe_remedy(index: SearchIndex) -> str:
    drop = "'pgs index drop' drops it" if index.own else "drop it"
    return f"{drop}, then run 'pgs index create' again"


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(map(one_line, names))


def _hash_schema(schema: str) -> str:
    return blake2b(schema.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class IndexOutcome:
    """The indexes that a request created, and the existing indexes used instead of others.

    ``notes`` name the indexes that are not filled yet.
    """

    created: tuple[SearchIndex, ...] = ()
    existing: tuple[SearchIndex, ...] = ()
    notes: tuple[str, ...] = ()


async def make_indexes(
    db: Database, wanted: Sequence[WantedIndex], wait_s: float | None = None
) -> IndexOutcome:
    """Create each wanted index unless an existing one serves, and wait until all are filled.

    Waits at most ``wait_s`` seconds, by default the query timeout. Raises UsageError before
    anything is created if another index is in the way, and QueryError if an index fails.
    """
    indexes = await list_search_indexes(db)
    standings = [compare(one, indexes) for one in wanted]
    if obstacles := [standing.obstacle for standing in standings if standing.obstacle]:
        raise UsageError(obstacles[0])
    missing = [one for one, has in zip(wanted, standings, strict=True) if not has.serving]
    for one in missing:
        await _create_index(db, one)
    there = list(dict.fromkeys(index.name for has in standings for index in has.serving))
    created = [one.name for one in missing]
    by_name, notes = await _wait_until_filled(
        db, {*there, *created}, db.timeout_s if wait_s is None else wait_s
    )
    return IndexOutcome(
        tuple(by_name[name] for name in created if name in by_name),
        tuple(by_name[name] for name in there if name in by_name),
        notes,
    )


async def read_fact_sizes(db: Database, mapping: GraphMapping) -> dict[tuple[str, int], int]:
    """Return the number of relationships with a vector, by their type and the vector's length.

    The statement reads all relationships of the mapped types.
    """
    if not mapping.relationship_embedding:
        return {}
    rows = await db.read(
        queries.get("search/read_fact_sizes"),
        types=list(mapping.relationship_types),
        embedding=mapping.relationship_embedding,
    )
    return {(row["type"], row["dimensions"]): row["relationships"] for row in rows}


async def drop_indexes(db: Database) -> list[str]:
    """Drop all search indexes that pgs created, and return their names."""
    names = [index.name for index in await list_search_indexes(db) if index.own]
    for name in names:
        await db.write(queries.get("search/drop_search_indexes"), name=name)
    return names


async def drop_outgrown(db: Database, wanted: Sequence[WantedIndex]) -> None:
    """Drop pgs's own indexes that have a wanted name but the wrong vector length."""
    lengths = {one.name: one.dimensions for one in wanted}
    for index in await list_search_indexes(db):
        if index.own and lengths.get(index.name, index.dimensions) != index.dimensions:
            await db.write(queries.get("search/drop_search_indexes"), name=index.name)


async def _create_index(db: Database, wanted: WantedIndex) -> None:
    """Create an index, and check that it exists afterwards.

    The check is needed because the database reports no error if the name or schema is taken.
    Raises QueryError or UsageError.
    """
    refusal: QueryError | None = None
    try:
        await _write_index(db, wanted)
    except QueryError as error:
        refusal = error
    indexes = await list_search_indexes(db)
    for index in indexes:
        if index.name == wanted.name and index.state == "FAILED":
            raise QueryError(describe_failure(index))
    standing = compare(wanted, indexes)
    if wanted.name in {index.name for index in standing.serving}:
        return
    raise refusal or UsageError(_explain_refusal(wanted, standing))


def _explain_refusal(wanted: WantedIndex, standing: IndexStanding) -> str:
    if standing.obstacle:
        return standing.obstacle
    if standing.serving:
        return f"{describe(standing.serving[0])} appeared a moment ago; run the command again"
    return (
        f"the name {wanted.name} belongs to another index or constraint of the database; rename "
        "it, then run 'pgs index create' again"
    )


async def _write_index(db: Database, wanted: WantedIndex) -> None:
    vector = {"vector.dimensions": wanted.dimensions, "vector.similarity_function": "cosine"}
    words = {"fulltext.analyzer": ANALYZER, "fulltext.eventually_consistent": False}
    if wanted.kind == "text":
        text = queries.get("search/create_text_indexes")
        filled = fill_names(text, labels=wanted.labels, properties=wanted.properties)
        await db.write(filled, name=wanted.name, options={"indexConfig": words})
    elif wanted.entity == "relationship":
        fact = queries.get("search/create_fact_indexes")
        filled = fill_names(fact, type=wanted.labels, property=wanted.properties)
        await db.write(filled, name=wanted.name, options={"indexConfig": vector})
    else:
        node = queries.get("search/create_vector_indexes")
        filled = fill_names(node, label=wanted.labels, property=wanted.properties)
        await db.write(filled, name=wanted.name, options={"indexConfig": vector})


async def _wait_until_filled(
    db: Database, names: Collection[str], wait_s: float
) -> tuple[dict[str, SearchIndex], tuple[str, ...]]:
    """Wait until the indexes are online or the time is up.

    Returns the online indexes, and notes on the others.
    """
    until = monotonic() + wait_s
    for pause in poll_pauses(FIRST_PAUSE_S):
        by_name = {one.name: one for one in await list_search_indexes(db) if one.name in names}
        for index in by_name.values():
            if index.state == "FAILED":
                raise QueryError(describe_failure(index))
        pending = [index for index in by_name.values() if index.state != "ONLINE"]
        if not pending or monotonic() + pause > until:
            break
        await asyncio.sleep(pause)
    return by_name, tuple(
        f"{describe(index)} is {index.population:.0f} % filled; searches use it once 'pgs index "
        "list' shows it as online"
        for index in pending
    )
