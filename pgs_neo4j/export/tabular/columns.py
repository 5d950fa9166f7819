"""The columns of a table: the name of each, and what its cells hold."""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pgs_neo4j.export.tabular.rows import Row

Kind = Literal["text", "integer", "number", "boolean"]
KINDS: dict[type, Kind] = {str: "text", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column. ``many``: its cells are lists. ``optional``: they may be empty."""

    name: str
    kind: Kind
    many: bool
    optional: bool


def columns_of(row: type[Row]) -> tuple[Column, ...]:
    """Return the columns of a table in their order."""
    hints = get_type_hints(row)
    return tuple(_column(field.name, hints[field.name]) for field in fields(row))


def _column(name: str, hint: Any) -> Column:
    optional = get_origin(hint) is UnionType
    if optional:
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    many = get_origin(hint) is tuple
    kind = KINDS[get_args(hint)[0] if many else hint]
    return Column(name=name, kind=kind, many=many, optional=optional)
