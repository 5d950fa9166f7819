"""Replaces misspelled strings of a statement by the stored values that they mean.

A user writes "tom hank", the graph has "Tom Hanks", and Neo4j returns no rows. So each string that
a statement compares with a property of nodes is looked up. If no node has it, the values of this
property are compared with it, and it is replaced if exactly one value is the nearest. A string that
is looked for inside of values is replaced only if its case is wrong.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.tokens import Token
from pgs_neo4j.database.queries import Query, fill_names
from pgs_neo4j.errors import DatabaseTimeoutError
from pgs_neo4j.model import GraphSchema, LinkedValue
from pgs_neo4j.pgs.querying.statements.names import (
    Folding,
    LiteralUse,
    StatementNames,
    replace_strings,
)
from pgs_neo4j.text.near_values import LONGEST_VALUE, find_nearest, make_filter

LOOK_UP_S, LINK_S = 5.0, 15.0
"""Seconds that one look-up, and all of a statement, may take; then the strings stay as they are."""

CANDIDATES = 100_000  # values to compare; of more, only those with the same letters count
SPELLINGS = 20
LEAST_SHARE = 2 / 3  # of the values that must spell a string inside of them in the same way
MOST_STRINGS = 100  # of a statement; more are not names that a user has written


@dataclass(frozen=True, slots=True)
class LinkedStatement:
    """The tokens of a statement with stored values, and its changes in their order, each once."""

    tokens: tuple[Token, ...]
    changes: tuple[LinkedValue, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """The labels and the property whose values, or items of lists, a string is compared with."""

    labels: tuple[str, ...]
    property: str
    is_list: bool = False


async def link_values(
    db: Database, tokens: Sequence[Token], names: StatementNames, schema: GraphSchema
) -> LinkedStatement:
    """Return a statement whose strings are stored values, as far as they mean one.

    ``names`` are those of ``tokens``. Strings of more than 200 characters, strings compared with
    properties of relationships, and nodes whose labels cannot be known stay as they are, and so do
    strings whose look-up takes too long. Raises DatabaseError.
    """
    due = asyncio.get_running_loop().time() + LINK_S
    groups: dict[tuple[_Place, Folding | None], list[LiteralUse]] = {}
    for use in names.literals[:MOST_STRINGS]:
        place = _find_place(names, use, schema)
        if place is not None and use.value.strip() and len(use.value) <= LONGEST_VALUE:
            groups.setdefault((place, use.folding), []).append(use)
    linked: dict[int, str] = {}
    changes: dict[int, LinkedValue] = {}
    for (place, folding), uses in groups.items():
        for use, value in await _link_group(db, due, place, folding, uses):
            linked[use.at] = value
            changes[use.at] = LinkedValue(
                label=place.labels[0], property=place.property, written=use.value, linked=value
            )
    ordered = dict.fromkeys(changes[at] for at in sorted(changes))
    return LinkedStatement(replace_strings(tokens, linked), tuple(ordered))


def _find_place(names: StatementNames, use: LiteralUse, schema: GraphSchema) -> _Place | None:
    """Return where the values of a string are stored, or None if these are no strings of nodes."""
    types = {
        one.label: item.types
        for one in schema.labels
        for item in one.properties
        if item.name == use.property.name
    }
    labels = tuple(label for label in _find_labels(names, use, schema) if label in types)
    stored = [name for label in labels for name in types[label]]
    if not labels or (stored and not any("STRING" in name for name in stored)):
        return None
    is_list = any(name.startswith("LIST") for name in stored)
    return _Place(labels, use.property.name, is_list)


def _find_labels(names: StatementNames, use: LiteralUse, schema: GraphSchema) -> tuple[str, ...]:
    """Return the labels of the node that a string describes; empty for a relationship.

    A node without a label has those that its relationships lead to.
    """
    at = use.property.entity
    entity = names.entities[at]
    if entity.kind != "node" or entity.names:
        return entity.names if entity.kind == "node" else ()
    ends = {one.type: one.ends for one in schema.types}
    labels: dict[str, None] = {}
    for step in names.steps:
        for name in names.names_of(step.relationship):
            for source, target in ends.get(name, ()):
                if at == step.source or (at == step.target and not step.directed):
                    labels[source] = None
                if at == step.target or (at == step.source and not step.directed):
                    labels[target] = None
    return tuple(labels)


async def _link_group(
    db: Database, due: float, place: _Place, folding: Folding | None, uses: Sequence[LiteralUse]
) -> list[tuple[LiteralUse, str]]:
    """Return the strings of one place that mean other values, with these values.

    ``due`` is the time of the event loop at which the last look-up must end.
    """
    whole = [use for use in uses if use.comparison == "equals"]
    inside = [use for use in uses if use.comparison != "equals"]
    found: dict[tuple[str, str], str] = {}
    try:
        meant = await _find_meant(db, due, place, folding, {use.value for use in whole})
        found |= {(value, "equals"): linked for value, linked in meant.items()}
    except DatabaseTimeoutError:
        pass  # The statement itself may be faster, and works without this help.
    for value, comparison in dict.fromkeys((use.value, use.comparison) for use in inside):
        if folding is not None:
            # Folded values have one case, so the string needs the same.
            found[value, comparison] = _fold(value, folding)
            continue
        try:
            found[value, comparison] = await _repair_case(
                _limit_time(db, due), place, value, comparison
            )
        except DatabaseTimeoutError:
            continue
    linked = ((use, found.get((use.value, use.comparison), use.value)) for use in uses)
    return [(use, value) for use, value in linked if value != use.value]


async def _find_meant(
    db: Database, due: float, place: _Place, folding: Folding | None, written: set[str]
) -> dict[str, str]:
    """Return the values that strings mean if no node has them, by string."""
    missing = sorted(written)
    if missing and folding is None and not place.is_list:
        rows = await _limit_time(db, due).read(
            _fill(queries.get("pgs/querying/statements/read_present"), place),
            values=missing,
            limit=len(missing),
        )
        missing = sorted(written.difference(row["value"] for row in rows))
    if not missing:
        return {}
    (row,) = await _limit_time(db, due).read(
        _fill(
            queries.get("pgs/querying/statements/read_items")
            if place.is_list
            else queries.get("pgs/querying/statements/read_candidates"),
            place,
        ),
        wanted=[asdict(make_filter(value)) for value in missing],
        limit=CANDIDATES,
    )
    stored: Iterable[str] = row["values"]
    exactly = len(row["values"]) >= CANDIDATES
    if folding is not None:
        stored = {_fold(value, folding) for value in stored}
    # Many values take a while to compare, and other tasks must not wait for it.
    return await asyncio.to_thread(_choose, missing, list(stored), exactly)


def _fill(query: Query, place: _Place) -> Query:
    """Return a statement with the names of a place, so that the server reads its labels alone."""
    return fill_names(query, labels=place.labels, property=[place.property])


def _choose(missing: Iterable[str], stored: Sequence[str], exactly: bool) -> dict[str, str]:
    present = set(stored)
    nearest = {
        value: find_nearest(value, stored, exactly=exactly)
        for value in missing
        if value not in present
    }
    return {value: one for value, one in nearest.items() if one is not None}


async def _repair_case(db: Database, place: _Place, value: str, comparison: str) -> str:
    """Return a string in the case in which most values contain it."""
    rows = await db.read(
        _fill(queries.get("pgs/querying/statements/read_spellings"), place),
        written=value,
        folded=value.lower(),
        comparison=comparison,
        limit=SPELLINGS,
    )
    # Lower case may have other letters than capitals, and then the places do not fit.
    counts = {
        row["spelling"]: row["count"] for row in rows if row["spelling"].lower() == value.lower()
    }
    if not counts or value in counts:
        return value
    first = next(iter(counts))
    return first if counts[first] >= LEAST_SHARE * sum(counts.values()) else value


def _limit_time(db: Database, due: float) -> Database:
    """Return the database with the time limit of one look-up."""
    rest = due - asyncio.get_running_loop().time()
    return replace(db, timeout_s=max(min(db.timeout_s, LOOK_UP_S, rest), 0.0))


def _fold(value: str, folding: Folding) -> str:
    return value.lower() if folding == "lower" else value.upper()
