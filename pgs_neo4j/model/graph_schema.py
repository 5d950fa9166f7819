"""What a database holds, as Cypher names it: labels, types, properties, and what joins them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaProperty:
    """A property of a label or a relationship type.

    ``types`` are Cypher's names of the types of its values, such as ``STRING``. ``examples`` are
    some of its values, short, as text.
    """

    name: str
    types: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLabel:
    """A label with the number of its nodes, and their properties, the most frequent first."""

    label: str
    count: int = 0
    properties: tuple[SchemaProperty, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaType:
    """A relationship type with the number of its relationships, and their properties.

    ``ends`` are pairs of labels, of the source and of the target, that such relationships connect.
    """

    type: str
    count: int = 0
    properties: tuple[SchemaProperty, ...] = ()
    ends: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSchema:
    """The labels and the relationship types of a database, each the most frequent first.

    Those of this package are left out.
    """

    labels: tuple[SchemaLabel, ...] = ()
    types: tuple[SchemaType, ...] = ()
