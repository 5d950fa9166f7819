"""Which properties of published demo databases name their nodes, and which are there to read.

Judged by hand from the schemas. ``UNSURE`` are those that two people would judge differently.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator
from typing import Any

from pgs_neo4j.engine.survey import LabelSample, NodeProperty, RelationshipProperty, TypeSample
from pgs_neo4j.engine.survey.shapes import count_shapes, shape_of

# By database and label: the display name, and the texts beside it.
JUDGED: dict[str, dict[str, tuple[str | None, tuple[str, ...]]]] = {
    "recommendations": {
        "Movie": ("title", ("plot",)),
        "Genre": ("name", ()),
        "User": ("name", ()),
        "Actor": ("name", ("bio",)),
        "Director": ("name", ("bio",)),
        "Person": ("name", ("bio",)),
    },
    "buzzoverflow": {
        "Question": ("title", ("text",)),
        "Tag": ("name", ()),
        "User": ("display_name", ()),
    },
    "bluesky": {"User": ("label", ())},
    "companies": {
        "Person": ("name", ("summary",)),
        "Organization": ("name", ("summary",)),
        "IndustryCategory": ("name", ()),
        "City": ("name", ("summary",)),
        "Country": ("name", ("summary",)),
        "Article": ("title", ("summary",)),
        "Chunk": (None, ("text",)),
        "Fewshot": (None, ("Question",)),
    },
    "fincen": {
        "Country": ("name", ()),
        "Filing": (None, ()),
        "Entity": ("name", ()),
    },
    "gameofthrones": {"Character": ("name", ())},
    "grandstack": {
        "Business": ("name", ()),
        "User": ("name", ()),
        "Review": (None, ("text",)),
        "Category": ("name", ()),
    },
    "movies": {"Movie": ("title", ("tagline",)), "Person": ("name", ())},
    "neoflix": {
        "Movie": ("title", ("overview", "tagline")),
        "Language": ("name", ()),
        "Country": ("name", ()),
        "Genre": ("name", ()),
        "ProductionCompany": ("name", ()),
        "Collection": ("name", ()),
        "Person": ("name", ()),
        "User": (None, ()),
        "Keyword": ("name", ()),
        "Video": ("title", ("overview", "tagline")),
        "Adult": ("title", ("overview", "tagline")),
    },
    "network": {
        "DataCenter": ("name", ()),
        "Router": ("name", ()),
        "Egress": ("name", ()),
        "Type": ("name", ()),
        "Machine": ("name", ()),
        "Software": ("name", ()),
        "OS": ("name", ()),
        "Service": ("name", ()),
        "Application": ("name", ()),
        "Version": ("name", ()),
        "Process": ("name", ()),
        "Rack": ("name", ()),
        "Port": (None, ()),
    },
    "northwind": {
        "Product": ("productName", ()),
        "Category": ("categoryName", ("description",)),
        "Supplier": ("companyName", ()),
        "Customer": ("companyName", ()),
        "Order": (None, ()),
    },
    "offshoreleaks": {
        "Entity": ("name", ()),
        "Intermediary": ("name", ()),
        "Officer": ("name", ()),
        "Address": ("address", ()),
        "Other": ("name", ("note",)),
    },
    "stackoverflow2": {
        "Question": ("title", ("body_markdown",)),
        "User": ("display_name", ()),
        "Tag": ("name", ()),
        "Answer": ("title", ("body_markdown",)),
        "Comment": (None, ()),
    },
    "twitch": {
        "Stream": ("name", ("description",)),
        "Game": ("name", ()),
        "Language": ("name", ()),
        "User": ("name", ()),
        "Team": ("name", ()),
    },
    "twitter": {
        "User": ("name", ()),
        "Me": ("name", ()),
        "Tweet": (None, ("text",)),
        "Hashtag": ("name", ()),
        "Link": (None, ()),
        "Source": ("name", ()),
    },
}

UNSURE = {("companies", "Organization", "motto"), ("companies", "Fewshot", "Cypher")}

_LABEL = re.compile(r"- \*\*(.+)\*\*")
_PROPERTY = re.compile(r"  - `(?P<name>.+?)`: (?P<type>\w+)(?P<rest>.*)")
_LINK_PROPERTY = re.compile(r"  - `(?P<name>.+?): (?P<type>\w+)`(?P<rest>.*)")
CUT = 50  # characters that the schemas show of a value
NODES = 100  # of each label, since the schemas do not tell

# What relationships state in the databases where they state something.
FACTS = {"recommendations": "role", "movies": "summary", "neoflix": "character"}


def read_samples(schema: str) -> Iterator[LabelSample]:
    """Yield the labels of a published schema, with what it shows of their values."""
    label, found = "", list[NodeProperty]()
    for line in schema.partition("Relationship properties:")[0].splitlines():
        if match := _LABEL.fullmatch(line):
            if label:
                yield _sample(label, found)
            label, found = match[1], []
        elif match := _PROPERTY.fullmatch(line):
            found.append(_property(match["name"], match["type"], match["rest"]))
    yield _sample(label, found)


def read_types(schema: str) -> Iterator[TypeSample]:
    """Yield the relationship types of a published schema that have properties."""
    type_, found = "", list[RelationshipProperty]()
    text = schema.partition("Relationship properties:")[2].partition("The relationships:")[0]
    for line in text.splitlines():
        if match := _LABEL.fullmatch(line):
            if type_:
                yield TypeSample(type=type_, count=NODES, sampled=NODES, properties=tuple(found))
            type_, found = match[1], []
        elif match := _LINK_PROPERTY.fullmatch(line):
            item = _property(match["name"], match["type"], match["rest"])
            values = sum(count for _, count in item.shapes)
            found.append(
                RelationshipProperty(
                    name=item.name,
                    relationships=NODES,
                    types=item.types,
                    distinct=values if "options" in line else NODES // 2,
                    texts=item.texts,
                    mean_length=item.mean_length,
                    prose=item.prose,
                    shapes=item.shapes,
                )
            )
    if type_:
        yield TypeSample(type=type_, count=NODES, sampled=NODES, properties=tuple(found))


def _sample(label: str, found: list[NodeProperty]) -> LabelSample:
    return LabelSample(label=label, count=NODES, sampled=NODES, properties=tuple(found))


def _property(name: str, type_: str, rest: str) -> NodeProperty:
    if type_ != "STRING":
        return NodeProperty(name=name, nodes=NODES, types=(type_,), distinct=NODES)
    _, options, listed = rest.partition("Available options: ")
    _, example, shown = rest.partition('Example: "')
    values: list[str] = literal_eval(listed) if options else [shown[:-1]] if example else []
    lengths: list[Any] = [2 * CUT if len(value) >= CUT else len(value) for value in values]
    prose = sum(shape_of(value) == "prose" for value in values) / max(len(values), 1)
    return NodeProperty(
        name=name,
        nodes=NODES,
        types=("STRING",),
        distinct=NODES // 2,
        texts=NODES,
        mean_length=sum(lengths) / max(len(lengths), 1),
        longest=max(lengths, default=0),
        prose=round(prose * NODES),
        shapes=count_shapes(values or [""]),
    )
