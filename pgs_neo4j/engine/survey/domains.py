"""Finds the domains of a database: groups of labels that no relationship connects."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine.survey.values import OUR_LABELS, Survey

SCAN = 500_000
"""Nodes of a label, and relationships of a type, that are looked at, the first ones."""
MOST_NAMES = 100
"""Labels and types that are looked at; a database with more is taken for one domain."""


@dataclass(frozen=True, slots=True)
class Domain:
    """Labels that relationships or common nodes connect, by falling count, and these types."""

    labels: tuple[str, ...]
    relationship_types: tuple[str, ...] = ()


async def read_domains(db: Database, survey: Survey) -> tuple[Domain, ...]:
    """Return the domains of a survey of all labels, that with the most nodes first.

    Where a label or type has more than ``SCAN`` nodes or relationships, those beyond may connect
    what is told apart. Raises DatabaseError.
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

    ``counts`` are the relationships of each type. A type with more than ``SCAN`` of them stays, as
    those beyond may connect such nodes. Raises DatabaseError.
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
    """Return the domains of labels with ``counts`` of nodes, of which some stand ``together``.

    ``of_types`` are the labels at the ends of each relationship type.
    """
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
    for label in sorted(group, key=lambda one: (-counts[one], one)):
        members.setdefault(root_of(label), []).append(label)
    found = [
        Domain(
            tuple(labels),
            tuple(type_ for type_, ends in of_types.items() if set(ends) & set(labels)),
        )
        for labels in members.values()
    ]
    return tuple(
        sorted(found, key=lambda one: (-sum(map(counts.__getitem__, one.labels)), one.labels))
    )


def restrict_survey(survey: Survey, domain: Domain) -> Survey:
    """Return the part of a survey that is about a domain."""
    labels = tuple(one for one in survey.labels if one.label in domain.labels)
    types = tuple(one for one in survey.relationship_types if one.type in domain.relationship_types)
    return replace(
        survey,
        nodes=sum(one.count for one in labels),
        relationships=sum(one.count for one in types),
        labels=labels,
        relationship_types=types,
    )
