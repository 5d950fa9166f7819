"""The graph that is browsed, and the bounds of what one look returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pgs_neo4j.errors import UnknownNodeError, UsageError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text import node_text

MOST_LISTED = 500  # neighbors, members, or findings of one page
HEAD = 200  # characters of what a title is made of
LONGEST_ID = 200  # characters; element ids have about 50


@dataclass(frozen=True, slots=True)
class GraphView:
    """A graph by its name and mapping: nothing beyond it is read."""

    name: str
    mapping: GraphMapping


def check_limit(limit: int) -> None:
    """Raise UsageError unless a page of this size is allowed."""
    if not 1 <= limit <= MOST_LISTED:
        raise UsageError(f"limit must be from 1 to {MOST_LISTED}; got {limit}")


def unknown_node(view: GraphView, element_id: str) -> UnknownNodeError:
    """Return the error for a node that is gone, or of another graph."""
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
    """Return the weight of a row's node, None without."""
    weight = node_text.number(row["weight"])
    return None if math.isnan(weight) else weight
