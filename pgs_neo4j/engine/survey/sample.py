"""Surveys a database: counts from the count store, properties from bounded samples, domains.

A domain is a group of labels that no relationship connects with the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.engine.survey.shapes import count_shapes
from pgs_neo4j.engine.survey.values import (
    OUR_LABELS,
    OUR_TYPES,
    LabelSample,
    NodeProperty,
    RelationshipProperty,
    Survey,
    TypeSample,
)
from pgs_neo4j.errors import DatabaseAuthError, QueryError

SAMPLE = 1_000  # nodes of a label, or relationships of a type, to inspect, approximately
SCAN = 500_000
"""Maximum index entries over which a sample is spread; this takes 0.1 s when warm.

To find domains, the first ``SCAN`` nodes of each label and relationships of each type are read.
"""
MAX_NAMES = 100  # maximum labels to sample, and types; the most frequent are sampled
MOST_NAMES = 100
"""Maximum labels or types to search for domains; a database with more is one domain."""
MAX_PROPERTIES = 200
BUCKETS = 65_537  # number of hash buckets by which the statements choose a sample
Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class Domain:
    """Labels connected by relationships or common nodes, and the types; most frequent first."""

    labels: tuple[str, ...]
    relationship_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Counts:
    """The numbers of nodes and relationships; counting by scans stopped at the number ``floor``."""

    nodes: int
    relationships: int
    labels: Counts
    types: Counts
    floor: int | None = None


async def survey(
    db: Database, labels: Collection[str] = (), relationship_types: Collection[str] = ()
) -> Survey:
    """Count nodes and relationships and sample their properties.

    Covers all labels and types unless some are named. With only ``labels``, the types are those
    between nodes of these labels. Names that do not exist are ignored. The sample is the same as
    long as the database does not change.
    """
    counted = await _read_counts(db)
    theirs, ours = _split_counts(counted.labels, OUR_LABELS)
    their_types, our_types = _split_counts(counted.types, OUR_TYPES)
    nodes = max(counted.nodes - sum(ours.values()), 0)
    if labels and not relationship_types:
        between = await read_types_between(db, labels, their_types)
        their_types = {name: count for name, count in their_types.items() if name in between}
    if not labels and (unlabeled := nodes - sum(theirs.values())) > 0:
        theirs[""] = unlabeled
    rows = await db.read(queries.get("engine/survey/read_unique_properties"))
    unique = {(row["label"], row["property"]) for row in rows}
    return Survey(
        nodes=nodes,
        relationships=max(counted.relationships - sum(our_types.values()), 0),
        labels=await _sample_labels(db, _select(theirs, labels), unique),
        relationship_types=await _sample_types(db, _select(their_types, relationship_types)),
        our_labels=tuple(ours.items()),
        our_types=tuple(our_types.items()),
        floor=counted.floor,
    )


async def _read_counts(db: Database) -> _Counts:
    try:
        row = (await db.read(queries.get("engine/survey/read_counts")))[0]
    except (QueryError, DatabaseAuthError):
        return await _count_by_scan(db)  # the count store answers administrators only
    return _Counts(row["nodes"], row["relationships"], dict(row["labels"]), dict(row["types"]))


async def _count_by_scan(db: Database) -> _Counts:
    row = (await db.read(queries.get("engine/survey/read_names")))[0]
    by_label = queries.get("engine/survey/count_label")
    by_type = queries.get("engine/survey/count_type")
    labels = {
        label: int((await db.read(by_label, label=label, limit=SCAN))[0]["count"])
        for label in row["labels"]
    }
    types = {
        type_: int((await db.read(by_type, type=type_, limit=SCAN))[0]["count"])
        for type_ in row["types"]
    }
    reached = SCAN if SCAN in (*labels.values(), *types.values()) else None
    return _Counts(row["nodes"], row["relationships"], labels, types, reached)


def _split_counts(counts: Counts, prefix: str) -> tuple[Counts, Counts]:
    """Split counts into those of the user and those of this package.

    The largest counts come first; zeros are left out.
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    present = {name: count for name, count in ordered if count}
    ours = {name: count for name, count in present.items() if name.startswith(prefix)}
    return {name: count for name, count in present.items() if name not in ours}, ours


def _select(counts: Counts, names: Collection[str]) -> Counts:
    return {name: count for name, count in counts.items() if not names or name in names}


async def _sample_labels(
    db: Database, counts: Counts, unique: set[tuple[str, str]]
) -> tuple[LabelSample, ...]:
    query = queries.get("engine/survey/sample_nodes")
    samples = []
    for place, (label, count) in enumerate(counts.items()):
        rows: list[Row] = []
        if place < MAX_NAMES:
            rows = await db.read(query, label=label, **_make_sample_parameters(count))
        samples.append(
            LabelSample(
                label=label,
                count=count,
                sampled=next((row["nodes"] for row in rows if row["property"] is None), 0),
                properties=tuple(
                    _make_node_property(row, (label, row["property"]) in unique)
                    for row in rows
                    if row["property"] is not None
                ),
            )
        )
    return tuple(samples)


async def _sample_types(db: Database, counts: Counts) -> tuple[TypeSample, ...]:
    query = queries.get("engine/survey/sample_relationships")
    samples = []
    for place, (type_, count) in enumerate(counts.items()):
        rows: list[Row] = []
        if place < MAX_NAMES:
            rows = await db.read(query, type=type_, **_make_sample_parameters(count))
        samples.append(
            TypeSample(
                type=type_,
                count=count,
                sampled=next((row["relationships"] for row in rows if row["property"] is None), 0),
                properties=tuple(
                    _make_relationship_property(row) for row in rows if row["property"] is not None
                ),
            )
        )
    return tuple(samples)


def _make_sample_parameters(count: int) -> dict[str, int]:
    """Return the parameters of a statement that samples about ``SAMPLE`` of ``count`` entries."""
    share = min(1.0, SAMPLE / min(count, SCAN))
    return {"scan": SCAN, "threshold": math.ceil(BUCKETS * share), "limit": MAX_PROPERTIES}


def _make_node_property(row: Row, unique: bool) -> NodeProperty:
    return NodeProperty(
        name=row["property"],
        nodes=row["nodes"],
        types=_simplify_types(row["types"]),
        distinct=row["distinct_values"],
        texts=row["texts"],
        mean_length=row["mean_length"],
        longest=row["longest"],
        prose=row["prose"],
        least=_drop_infinity(row["least"]),
        greatest=_drop_infinity(row["greatest"]),
        sizes=tuple(sorted(Counter(row["sizes"]).items(), key=lambda item: (-item[1], -item[0]))),
        unique=unique,
        shapes=count_shapes(row["examples"]),
    )


def _make_relationship_property(row: Row) -> RelationshipProperty:
    return RelationshipProperty(
        name=row["property"],
        relationships=row["relationships"],
        types=_simplify_types(row["types"]),
        distinct=row["distinct_values"],
        texts=row["texts"],
        mean_length=row["mean_length"],
        prose=row["prose"],
        least=_drop_infinity(row["least"]),
        greatest=_drop_infinity(row["greatest"]),
        shapes=count_shapes(row["examples"]),
    )


def _simplify_types(names: list[str]) -> tuple[str, ...]:
    # A stored value is never null, so "NOT NULL" adds nothing.
    return tuple(sorted({name.replace(" NOT NULL", "") for name in names}))


def _drop_infinity(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


async def read_domains(db: Database, survey: Survey) -> tuple[Domain, ...]:
    """Return the domains of a survey of all labels, the one with the most nodes first.

    Where a label or type has more than ``SCAN`` nodes or relationships, the rest may connect
    domains that are separate here. Raises DatabaseError.
    """
    labels = [sample.label for sample in survey.labels if sample.label]
    types = [sample.type for sample in survey.relationship_types]
    if max(len(labels), len(types)) > MOST_NAMES:
        return (Domain(tuple(labels), tuple(types)),)
    by_label = queries.get("engine/survey/read_shared_labels")
    together = [
        row["labels"] for label in labels for row in await db.read(by_label, label=label, scan=SCAN)
    ]
    of_types: dict[str, list[str]] = {}
    for type_ in types:
        for source, target in await _read_pairs(db, type_):
            ends = [*source, *target]
            together.append(ends)
            of_types.setdefault(type_, []).extend(ends)
    counts = {sample.label: sample.count for sample in survey.labels}
    return group_labels(counts, together, of_types)


async def read_types_between(
    db: Database, labels: Collection[str], counts: Mapping[str, int]
) -> set[str]:
    """Return the types of relationships with both ends in ``labels``.

    ``counts`` is the number of relationships of each type. A type with more than ``SCAN`` of them
    is always included, because the rest of them may connect such nodes. Raises DatabaseError.
    """
    chosen = set(labels)
    return {
        type_
        for type_, count in counts.items()
        if count > SCAN
        or any(
            not chosen.isdisjoint(source) and not chosen.isdisjoint(target)
            for source, target in await _read_pairs(db, type_)
        )
    }


async def _read_pairs(db: Database, type_: str) -> list[tuple[list[str], list[str]]]:
    """Return the labels at both ends of a type's first relationships, each combination once."""
    rows = await db.read(queries.get("engine/survey/read_label_pairs"), type=type_, scan=SCAN)
    return [(row["source"], row["target"]) for row in rows]


def group_labels(
    counts: Mapping[str, int],
    together: Iterable[Sequence[str]],
    of_types: Mapping[str, Sequence[str]],
) -> tuple[Domain, ...]:
    """Group labels into domains, the one with the most nodes first.

    ``counts`` is the number of nodes of each label. The labels of each entry of ``together`` belong
    to one domain. ``of_types`` are the labels at the ends of each relationship type.
    """
    # Union-find: each label points to another one of its domain, or to itself at the root.
    group = {label: label for label in counts if label}

    def root_of(label: str) -> str:
        while group[label] != label:
            group[label] = label = group[group[label]]
        return label

    for labels in together:
        known = [label for label in labels if label in group and not label.startswith(OUR_LABELS)]
        for label in known[1:]:
            group[root_of(label)] = root_of(known[0])
    members: dict[str, list[str]] = {}
    for label in sorted(group, key=lambda name: (-counts[name], name)):
        members.setdefault(root_of(label), []).append(label)
    found = [
        Domain(
            tuple(labels),
            tuple(type_ for type_, ends in of_types.items() if set(ends) & set(labels)),
        )
        for labels in members.values()
    ]
    return tuple(
        sorted(found, key=lambda each: (-sum(map(counts.__getitem__, each.labels)), each.labels))
    )


def restrict_survey(survey: Survey, domain: Domain) -> Survey:
    """Return the part of a survey that is about a domain."""
    labels = tuple(item for item in survey.labels if item.label in domain.labels)
    types = tuple(
        item for item in survey.relationship_types if item.type in domain.relationship_types
    )
    return replace(
        survey,
        nodes=sum(item.count for item in labels),
        relationships=sum(item.count for item in types),
        labels=labels,
        relationship_types=types,
    )
