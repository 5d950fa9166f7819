"""Reads one node: its text, its properties, and its place in the partitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.stored_data import Count, check_stored
from pgs_neo4j.database.typed_columns import FIX
from pgs_neo4j.engine.browse.view import GraphView, unknown_node, weight_of
from pgs_neo4j.model import NodeDetails
from pgs_neo4j.text import node_text
from pgs_neo4j.text.json_data import Json, plain_data

CHARACTERS = 500  # of a property that is no text
ITEMS = 20  # of a property that is a list
MOST_PROPERTIES = 100


class StoredPlace(TypedDict):
    """The partition of a node, with its label, and the node's rank there."""

    partition: Count
    label: str
    rank: Count


_PLACE: TypeAdapter[StoredPlace | None] = TypeAdapter(StoredPlace | None)


async def read_node(db: Database, view: GraphView, element_id: str) -> NodeDetails:
    """Return a node of a graph. Raises UnknownNodeError, and StoredDataError."""
    mapping = view.mapping
    rows = await db.read(
        queries.get("engine/browse/node_by_id"),
        graph=view.name,
        node=element_id,
        labels=list(mapping.labels),
        text=mapping.text_properties,
        facts=mapping.facts,
        title=mapping.title_properties,
        key=mapping.key_properties,
        weight=mapping.weight or "",
        hidden=[mapping.embedding or ""],
        characters=CHARACTERS,
        items=ITEMS,
        most=MOST_PROPERTIES,
    )
    if not rows:
        raise unknown_node(view, element_id)
    return _details(rows[0])


def _details(row: Row) -> NodeDetails:
    names = ("element_id", "labels", "text", "title", "key")
    node = node_text.node(rank=0, **{name: row[name] for name in names})
    place = check_stored(_PLACE, row["place"], "the place of a node", FIX)
    return NodeDetails(
        element_id=node.element_id,
        key=node.key,
        title=node.title,
        labels=node.labels,
        text=node.text,
        properties=_properties(row["properties"]),
        properties_left_out=max(row["property_count"] - MOST_PROPERTIES, 0),
        partition=place["partition"] if place else None,
        partition_label=place["label"] if place else None,
        rank=place["rank"] if place else None,
        weight=weight_of(row),
    )


def _properties(pairs: Iterable[tuple[str, Any]]) -> Json:
    return {name: _shown(value) for name, value in pairs if not isinstance(value, bytes)}


def _shown(value: Any) -> Any:
    """Return a property's value as JSON data of a bounded length."""
    if isinstance(value, str):
        return value if len(value) <= CHARACTERS else f"{value[:CHARACTERS]}…"
    if type(value) is list:
        return [_shown(item) for item in value[:ITEMS]]
    if value is None or isinstance(value, bool | int | float):
        return plain_data(value)
    return str(value)[:CHARACTERS]  # dates, durations, points, and whatever comes later
