"""The published pairs of question and Cypher over demo databases, and what each statement needs.

Noise can be added to a schema: labels, types, and properties with the compound names of business
databases.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pgs_neo4j.database.gate.tokens import Token, read_tokens
from pgs_neo4j.model import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from tests.published_statements import read_published

_ENTITIES = """
Account Address Agreement Alert Asset Audit Batch Booking Branch Budget Campaign Carrier Case
Certificate Claim Client Component Contact Contract Course Customer Dataset Delivery Department
Device Discount Document Employee Equipment Event Expense Facility Feature Feedback Film Forecast
Grant Hotel Incident Inspection Inventory Invoice Item Job Journal Lease Ledger License Loan Lot
Manager Market Material Meeting Member Message Metric Movie Network Office Offer Order
Organization Owner Page Partner Patient Payment Permit Person Plan Player Policy Portfolio Post
Price Process Product Profile Project Promotion Question Quote Receipt Record Region Report
Request Resource Review Risk Role Route Salary Sample School Sensor Service Session Shipment Site
Skill Software Stock Store Stream Student Subscription Supplier Survey Task Team Template Tenant
Ticket Topic Trade Transaction Transfer Trip Tweet User Vehicle Vendor Venue Version Visit
Warehouse Warranty
"""
_PARTS = """
Archive Assignment Attribute Category Change Code Comment Detail Draft Entry Group Header History
Link Line Log Note Period Rating Reference Revision Rule Schedule Segment Set Snapshot Status Step
Summary Type Unit Value
"""
_VERBS = """
ASSIGNED_TO BELONGS_TO BILLED_TO CONTAINS CREATED_BY DEPENDS_ON FOLLOWS HAS HAS_MAIN HAS_PRIMARY
LINKED_TO LOCATED_IN MANAGES MENTIONS OWNS PART_OF PAYS_FOR PRODUCED_BY REFERS_TO REPLACES
REPORTS_TO REVIEWED_BY SHIPPED_TO SOLD_BY SUPERSEDES SUPPLIES TAGGED USES WORKS_FOR WROTE
"""
_FIELDS = """
active amount approvedBy balance category channel city code comment country createdAt currency
date description discount dueDate duration email endDate externalId firstName grade id isActive
isDefault kind label language lastName latitude level limit location longitude modifiedBy name
notes number owner parentId percent phone position priority quantity rank rate rating reason
region score sequence size source startDate state status street tags title total type unit
updatedAt url validFrom validTo value version weight year zipCode
"""
_KINDS = ("STRING", "STRING", "INTEGER", "FLOAT", "DATE", "BOOLEAN")


@dataclass(frozen=True, slots=True)
class Needs:
    """The names of a schema that a statement uses; a property stands with its label or type."""

    labels: frozenset[str]
    types: frozenset[str]
    properties: frozenset[tuple[str, str]]

    def missing(self, schema: GraphSchema) -> list[str]:
        """Return the names that a schema lacks, sorted."""
        held = {each.label for each in schema.labels} | {each.type for each in schema.types}
        owned = set(list_properties(schema))
        lost = [name for name in self.labels | self.types if name not in held]
        return sorted(lost + [f"{a}.{b}" for a, b in self.properties if (a, b) not in owned])


@dataclass(frozen=True, slots=True)
class NeedingPair:
    """A question, its database, and what its statement needs."""

    question: str
    database: str
    needs: Needs


def read_pairs(archive: Path) -> tuple[dict[str, GraphSchema], list[NeedingPair]]:
    """Return the schemas by database, and the pairs whose statement is right for its schema.

    Databases without a schema are left out.
    """
    published = read_published(archive)
    schemas = published.schemas
    pairs = [
        NeedingPair(
            pair.question, pair.database, find_needs(pair.statement, schemas[pair.database])
        )
        for pair in published.with_schema
        if not (pair.syntax_error or pair.wrong)
    ]
    return schemas, pairs


def find_needs(cypher: str, schema: GraphSchema) -> Needs:
    """Return the names of a schema that a statement uses.

    A property belongs to the labels and types of its variable. If these are unknown, it belongs to
    all that the statement names and that have it.
    """
    tokens = read_tokens(cypher)
    labels, types = {each.label for each in schema.labels}, {each.type for each in schema.types}
    owners: dict[str, set[str]] = {}
    asked: list[tuple[str | None, str]] = []
    latest: str | None = None
    used: set[tuple[str, bool]] = set()
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else Token("symbol", "")
        after = tokens[at + 1] if at + 1 < len(tokens) else Token("symbol", "")
        if not token.is_named:
            continue
        if before.is_symbol(":", "|"):
            start = at - 1
            while start and not tokens[start].is_symbol("(", "[", "{", ","):
                start -= 1
            is_type, name = tokens[start].is_symbol("["), token.text
            first = tokens[start + 1]
            variable = first.text if first.is_named and tokens[start + 2].is_symbol(":") else ""
            if name in (types if is_type else labels) and not tokens[start].is_symbol("{", ","):
                used.add((name, is_type))
                latest = variable or f"#{at}"
                owners.setdefault(latest, set()).add(name)
        elif before.is_symbol(".") and at > 1 and tokens[at - 2].is_named:
            asked.append((tokens[at - 2].text, token.text))
        elif after.is_symbol(":") and before.is_symbol("{", ","):
            asked.append((_find_pattern(tokens, at) or latest, token.text))
    held = set(list_properties(schema))
    names = {name for name, _ in used}
    properties = {
        (owner, name)
        for variable, name in asked
        for owner in (owners.get(variable or "") or names)
        if (owner, name) in held
    }
    return Needs(
        frozenset(name for name, is_type in used if not is_type),
        frozenset(name for name, is_type in used if is_type),
        frozenset(properties),
    )


def _find_pattern(tokens: Sequence[Token], at: int) -> str | None:
    """Return the variable of the node or relationship whose map holds the token at a place."""
    while at and not tokens[at].is_symbol("{"):
        at -= 1
    while at and not tokens[at].is_symbol("(", "["):
        at -= 1
    first = tokens[at + 1]
    return first.text if first.is_named and not tokens[at + 1].is_symbol(":") else None


def list_properties(schema: GraphSchema) -> Iterator[tuple[str, str]]:
    """Yield each label or type with each of its properties."""
    for label in schema.labels:
        yield from ((label.label, each.name) for each in label.properties)
    for type_ in schema.types:
        yield from ((type_.type, each.name) for each in type_.properties)


def merge_schemas(schemas: Iterable[GraphSchema]) -> GraphSchema:
    """Return one schema with all labels and types; equal names become one."""
    labels: dict[str, SchemaLabel] = {}
    types: dict[str, SchemaType] = {}
    for schema in schemas:
        for label in schema.labels:
            known = labels.get(label.label, SchemaLabel(label=label.label))
            properties = _join(known.properties, label.properties)
            labels[label.label] = replace(known, properties=properties)
        for type_ in schema.types:
            kin = types.get(type_.type, SchemaType(type=type_.type))
            types[type_.type] = replace(
                kin,
                properties=_join(kin.properties, type_.properties),
                ends=tuple(dict.fromkeys((*kin.ends, *type_.ends))),
            )
    return GraphSchema(labels=tuple(labels.values()), types=tuple(types.values()))


def _join(
    one: Iterable[SchemaProperty], other: Iterable[SchemaProperty]
) -> tuple[SchemaProperty, ...]:
    return tuple({each.name: each for each in (*other, *one)}.values())


def add_noise(schema: GraphSchema, labels: int, seed: int = 1) -> GraphSchema:
    """Return a schema with as many labels, about ten properties each, and as many types.

    All labels and types have random counts. Every tenth new type connects a label of ``schema``
    with a new one. The examples are numbers.
    """
    chance = random.Random(seed)
    known = {each.label for each in schema.labels}
    entities, fields, verbs = _ENTITIES.split(), _FIELDS.split(), _VERBS.split()
    names = [a + b for a in entities for b in (*entities, *_PARTS.split()) if a != b]
    chance.shuffle(names)
    new = [name for name in names if name not in known][: labels - len(known)]

    def count() -> int:
        return int(10 ** chance.uniform(1, 6))

    def make_property(owner: str) -> SchemaProperty:
        name = chance.choice(fields)
        if chance.random() < 0.4:
            prefix = chance.choice((*entities, *re.findall("[A-Z][a-z]+", owner)))
            name = prefix.lower() + name[0].upper() + name[1:]
        return SchemaProperty(
            name=name, types=(chance.choice(_KINDS),), examples=(str(chance.randrange(10**6)),)
        )

    def make_properties(owner: str, most: int) -> tuple[SchemaProperty, ...]:
        made = [make_property(owner) for _ in range(chance.randint(most // 2, most * 3 // 2))]
        return tuple({each.name: each for each in made}.values())

    noise = [
        SchemaLabel(label=name, count=count(), properties=make_properties(name, 10)) for name in new
    ]
    links: dict[str, set[tuple[str, str]]] = {}
    taken = {each.type for each in schema.types}
    for place in range(len(new)):
        source, target = chance.choice(new), chance.choice(new)
        if place % 10 == 0:
            source = chance.choice(sorted(known))
        verb = chance.choice(verbs)
        if chance.random() < 0.6:
            verb += "_" + "_".join(re.findall("[A-Z][a-z]+", target)).upper()
        if verb not in taken:
            links.setdefault(verb, set()).add((source, target))
    kinds = [
        SchemaType(
            type=name, count=count(), properties=make_properties(name, 2), ends=tuple(sorted(ends))
        )
        for name, ends in links.items()
    ]
    all_labels = [*(replace(each, count=count()) for each in schema.labels), *noise]
    all_types = [*(replace(each, count=count()) for each in schema.types), *kinds]
    return GraphSchema(
        labels=tuple(sorted(all_labels, key=lambda each: (-each.count, each.label))),
        types=tuple(sorted(all_types, key=lambda each: (-each.count, each.type))),
    )
