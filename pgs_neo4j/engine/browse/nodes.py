"""Reads one node: its text, its properties, its partition, and the findings that cite it.

This module also defines what the modules of this folder share: the view that limits what is read,
the maximum page size, and functions for the title and weight of a row's node.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict  # pydantic requires this one on Python 3.11

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.stored_data import FIX, Count, check_fields, check_stored
from pgs_neo4j.errors import UnknownNodeError, UsageError
from pgs_neo4j.model import GraphMapping, Node, NodeDetails, NodeFinding
from pgs_neo4j.pgs.sweeping.claims import find_node_quotes
from pgs_neo4j.text import node_text
from pgs_neo4j.text.claims.marking import remark
from pgs_neo4j.text.json_data import Json, plain_data

MOST_LISTED = 500  # neighbors, members, or findings on one page
HEAD = 200  # characters of a text or property from which a title is made
LONGEST_ID = 200  # characters; element ids have about 50
CHARACTERS = 500  # maximum characters to show of a property that is not read as text
ITEMS = 20  # maximum items to show of a list property
MOST_PROPERTIES = 100
NAMES = ("element_id", "labels", "text", "title", "key")
"""Names of the row's values that are passed to ``node_text.node``."""
WHAT = "a finding of a run"
"""How error messages refer to a damaged stored finding."""
_TEXT, _DOUBTS = TypeAdapter(str), TypeAdapter(list[str])


@dataclass(frozen=True, slots=True)
class GraphView:
    """The name and the mapping of a graph. Nothing outside this graph is read."""

    name: str
    mapping: GraphMapping


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
    return _make_details(rows[0])


def _make_details(row: Row) -> NodeDetails:
    node = node_text.node(rank=0, **{name: row[name] for name in NAMES})
    place = check_stored(_PLACE, row["place"], "the place of a node", FIX)
    return NodeDetails(
        element_id=node.element_id,
        key=node.key,
        title=node.title,
        labels=node.labels,
        text=node.text,
        properties=_convert_properties(row["properties"]),
        properties_left_out=max(row["property_count"] - MOST_PROPERTIES, 0),
        partition=place["partition"] if place else None,
        partition_label=place["label"] if place else None,
        rank=place["rank"] if place else None,
        weight=weight_of(row),
    )


def _convert_properties(pairs: Iterable[tuple[str, Any]]) -> Json:
    return {name: _shorten_value(value) for name, value in pairs if not isinstance(value, bytes)}


def _shorten_value(value: Any) -> Any:
    """Return a property's value as JSON data of limited length."""
    if isinstance(value, str):
        return value if len(value) <= CHARACTERS else f"{value[:CHARACTERS]}…"
    if type(value) is list:
        return [_shorten_value(item) for item in value[:ITEMS]]
    if value is None or isinstance(value, bool | int | float):
        return plain_data(value)
    return str(value)[:CHARACTERS]  # dates, durations, points, and types of later releases


async def read_findings(
    db: Database,
    view: GraphView,
    element_id: str,
    *,
    sessions: Sequence[str] | None = None,
    limit: int = 20,
) -> tuple[NodeFinding, ...]:
    """Return findings that cite a node, the latest run first; doubtful findings are marked.

    Only runs of the given ``sessions`` count; None means all. Raises UnknownNodeError, and
    UsageError for a ``limit`` out of range.
    """
    check_limit(limit)
    rows = await db.read(
        queries.get("engine/browse/read_findings"),
        graph=view.name,
        node=element_id,
        labels=list(view.mapping.labels),
        text=view.mapping.text_properties,
        facts=view.mapping.facts,
        title=view.mapping.title_properties,
        key=view.mapping.key_properties,
        every=sessions is None,
        sessions=list(sessions or ()),
        limit=limit,
    )
    if not rows:
        raise unknown_node(view, element_id)
    node = node_text.node(rank=0, **{name: rows[0][name] for name in NAMES})
    return tuple(
        _make_finding(
            {name: value for name, value in finding.items() if name not in ("text", "doubts")},
            check_stored(_TEXT, finding["text"], WHAT, FIX),
            check_stored(_DOUBTS, finding["doubts"], WHAT, FIX),
            node,
        )
        for finding in rows[0]["findings"]
    )


def _make_finding(values: Row, text: str, doubts: list[str], node: Node) -> NodeFinding:
    values |= {"text": remark(text, doubts), "quotes": find_node_quotes(text, node)}
    return check_fields(NodeFinding, values, WHAT, FIX)


def check_limit(limit: int) -> None:
    """Raise UsageError unless a page of this size is allowed."""
    if not 1 <= limit <= MOST_LISTED:
        raise UsageError(f"limit must be from 1 to {MOST_LISTED}; got {limit}")


def unknown_node(view: GraphView, element_id: str) -> UnknownNodeError:
    """Return the error for a node that is gone, or belongs to another graph."""
    return UnknownNodeError(
        f"graph {view.name} has no node {element_id[:LONGEST_ID]!r}; use the element_id of a "
        "citation, a search, or a list of members"
    )


def title_of(row: Mapping[str, Any]) -> str:
    """Return the title of a row's node, as ``node_text.node`` does."""
    label = next(iter(row["labels"]), "node")
    title = node_text.title_of(row["title"], row["text"], row["key"], label)
    return title or f"{label} {row['element_id']}"


def weight_of(row: Mapping[str, Any]) -> float | None:
    """Return the weight of a row's node, or None if it has none."""
    weight = node_text.number(row["weight"])
    return None if math.isnan(weight) else weight
