"""Reads the schema of a database: counts from the count store, the rest from bounded samples.

One statement samples several labels or types, so that few statements read thousands of them. Their
names are part of the statement, because Neo4j 5.26 scans the whole database for names that are
parameters.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Query, Row, fill_names
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import DatabaseAuthError, QueryError
from pgs_neo4j.model import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from pgs_neo4j.text.node_text import shortened

SCAN = 200_000  # maximum index entries that one statement reads
MOST_SAMPLED, LEAST_SAMPLE, MOST_SAMPLE = 100_000, 50, 1_000
"""Approximate limits of a sample: of all labels or types together, and of each."""
MOST_NAMES = 200  # labels or types of one statement
MOST_SPREAD = 4  # how many times more entries the largest label of a statement has
MOST_STATEMENTS = 400
"""Statements that sample labels, or types. The rarest beyond this limit have no properties."""
CONCURRENT = 4
EXAMPLE_LENGTH = 40  # characters
MOST_ENDS = 50  # pairs of labels of one type
BUCKETS = 65_537  # number of hash buckets by which the statements choose a sample
Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class _Group:
    """Labels or types that one statement samples; ``threshold`` / ``BUCKETS`` of their entries.

    A group of one ``is_large`` if it has more than ``SCAN`` entries.
    """

    names: tuple[str, ...]
    threshold: int
    is_large: bool


async def read_schema(db: Database) -> GraphSchema:
    """Return the labels and the relationship types that have nodes and relationships.

    Those of this package are left out, and so are nodes without labels. Properties and pairs of
    labels are those of a sample, which is the same as long as the database does not change. Raises
    DatabaseError.
    """
    labels, types = await _read_counts(db)
    groups, kinds = _group_names(labels), _group_names(types)
    gate = asyncio.Semaphore(CONCURRENT)

    async def sample(query: Query, large: Query, group: _Group, **params: object) -> list[Row]:
        if group.is_large:
            query, params = large, params | {"scan": SCAN}
        filled = fill_names(query, names=group.names)
        async with gate:
            return await db.read(filled, threshold=group.threshold, **params)

    length = EXAMPLE_LENGTH + 1
    by_label = (
        queries.get("pgs/querying/schema/sample_labels"),
        queries.get("pgs/querying/schema/sample_large_label"),
    )
    by_type = (
        queries.get("pgs/querying/schema/sample_types"),
        queries.get("pgs/querying/schema/sample_large_type"),
    )
    at_ends = (
        queries.get("pgs/querying/schema/sample_ends"),
        queries.get("pgs/querying/schema/sample_large_ends"),
    )
    of_labels, of_types, of_ends = await together(
        together(*(sample(*by_label, each, labels=each.names, length=length) for each in groups)),
        together(*(sample(*by_type, each, length=length) for each in kinds)),
        together(*(sample(*at_ends, each) for each in kinds)),
    )
    properties = _collect_properties(_join(of_labels), "label")
    facts = _collect_properties(_join(of_types), "type")
    ends = _collect_ends(_join(of_ends), labels)
    return GraphSchema(
        labels=tuple(
            SchemaLabel(label=name, count=count, properties=tuple(properties[name]))
            for name, count in labels.items()
        ),
        types=tuple(
            SchemaType(
                type=name, count=count, properties=tuple(facts[name]), ends=tuple(ends[name])
            )
            for name, count in types.items()
        ),
    )


async def _read_counts(db: Database) -> tuple[Counts, Counts]:
    """Return the number of nodes per label and relationships per type, the largest first."""
    try:
        row = (await db.read(queries.get("pgs/querying/schema/read_counts")))[0]
    except (QueryError, DatabaseAuthError):
        # The whole count store answers administrators only, and a single count everybody.
        row = (await db.read(queries.get("pgs/querying/schema/read_names")))[0]
        by_label = queries.get("pgs/querying/schema/count_label")
        by_type = queries.get("pgs/querying/schema/count_type")
        return (
            await _count_each(db, row["labels"], lambda name: fill_names(by_label, label=[name])),
            await _count_each(db, row["types"], lambda name: fill_names(by_type, type=[name])),
        )
    return _order_counts(row["labels"]), _order_counts(row["types"])


async def _count_each(db: Database, names: Sequence[str], fill: Callable[[str], Query]) -> Counts:
    gate = asyncio.Semaphore(CONCURRENT)

    async def count(name: str) -> int:
        async with gate:
            return int((await db.read(fill(name)))[0]["count"])

    return _order_counts(zip(names, await together(*map(count, names)), strict=True))


def _order_counts(counts: Iterable[Sequence[object]]) -> Counts:
    """Return counts, the largest first, without zeros."""
    present = [(str(name), int(str(count))) for name, count in counts]
    ordered = sorted(present, key=lambda item: (-item[1], item[0]))
    return {name: count for name, count in ordered if count}


def _group_names(counts: Counts) -> tuple[_Group, ...]:
    """Divide labels or types into groups whose samples have similar sizes; the largest first.

    A group has at most ``SCAN`` entries, or a single name.
    """
    each = max(LEAST_SAMPLE, min(MOST_SAMPLE, MOST_SAMPLED // max(len(counts), 1)))

    def make_groups() -> Iterator[_Group]:
        names: list[str] = []
        entries = largest = 0
        for name, count in counts.items():
            similar = largest <= max(MOST_SPREAD * count, each)
            if names and (entries + count > SCAN or len(names) == MOST_NAMES or not similar):
                yield make_group(names)
                names, entries = [], 0
            largest = largest if names else count
            names.append(name)
            entries += count
        if names:
            yield make_group(names)

    def make_group(names: Sequence[str]) -> _Group:
        smallest = min(counts[names[-1]], SCAN)
        threshold = math.ceil(BUCKETS * min(1.0, each / smallest))
        return _Group(tuple(names), threshold, is_large=counts[names[0]] > SCAN)

    return tuple(make_groups())[:MOST_STATEMENTS]


def _join(parts: Iterable[Sequence[Row]]) -> list[Row]:
    return [row for rows in parts for row in rows]


def _collect_properties(rows: Iterable[Row], owner: str) -> dict[str, list[SchemaProperty]]:
    found: dict[str, list[SchemaProperty]] = defaultdict(list)
    for row in rows:
        # A stored value is never null, so "NOT NULL" adds nothing.
        types = sorted({name.replace(" NOT NULL", "") for name in row["types"]})
        examples = (shortened(text, EXAMPLE_LENGTH) for text in row["examples"])
        found[row[owner]].append(
            SchemaProperty(
                name=row["property"],
                types=tuple(types),
                examples=tuple(dict.fromkeys(filter(None, examples))),
            )
        )
    return found


def _collect_ends(rows: Iterable[Row], labels: Counts) -> dict[str, list[tuple[str, str]]]:
    """Return the pairs of labels that each type connects, the most frequent first."""
    counts: dict[str, dict[tuple[str, str], int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        for source in filter(labels.__contains__, row["source"]):
            for target in filter(labels.__contains__, row["target"]):
                counts[row["type"]][source, target] += row["relationships"]
    return defaultdict(
        list,
        {
            type_: sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:MOST_ENDS]
            for type_, pairs in counts.items()
        },
    )
