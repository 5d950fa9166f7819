"""Compares what statements return of this package's own nodes with the types of their headers.

The rows of other statements hold the user's own values, which may be of any type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from neo4j.time import DateTime

from pgs_neo4j.database.queries import Query
from pgs_neo4j.database.stored_data import unreadable

OWN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("runs", "catalog", "partitioning", "calls"), ("",)),
        "browse": ("read_costs", "read_flags", "read_graph_states", "read_positions"),
        "retrieval": ("read_segments", "read_unit_states", "count_segments"),
    }
)
"""Beginnings of the names of statements that read nodes of this package, by folder."""
FIX = "restore a backup, or remove what is damaged with 'pgs sessions delete' or 'pgs graph remove'"
KINDS: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "bool": (bool,),
        "int": (int,),
        "float": (float, int),
        "number": (float, int),
        "str": (str,),
        "bytes": (bytes, bytearray),
        "datetime": (DateTime,),
        "dict": (dict,),
    }
)

Fits = Callable[[Any], bool]


def check_rows(query: Query, rows: Sequence[Mapping[str, object]]) -> None:
    """Raise StoredDataError if a row of an own statement is not what its header says."""
    folder, _, name = query.name.partition("/")
    if not name.startswith(OWN.get(folder, ())):
        return
    checks = [(name, fit) for name, kind in query.columns.items() if (fit := _fit(kind))]
    for row in rows:
        for name, fit in checks:
            if not fit(row[name]):
                what = f"what pgs stored ({query.name})"
                raise unreadable(what, f"its {name} is malformed", FIX)


@cache
def _fit(kind: str) -> Fits | None:
    """Return what tells whether a value is of a type as headers name it; None for any value."""
    name = kind.removesuffix("?")
    if name == "any":
        return None
    nullable = name != kind
    inner = _items(name[5:-1]) if name.startswith("list[") else _scalar(name)
    return (lambda value: value is None or inner(value)) if nullable else inner


def _scalar(name: str) -> Fits:
    kinds = frozenset(KINDS[name])
    return lambda value: type(value) in kinds


def _items(name: str) -> Fits:
    """Return what tells whether a value is a list, and its items are of a type."""
    bare = name.removesuffix("?")
    if bare == "any":
        return lambda value: isinstance(value, list)
    kinds: set[type] = {list} if bare.startswith("list[") else set(KINDS[bare])
    if bare != name:
        kinds.add(type(None))
    return lambda value: isinstance(value, list) and _types(value) <= kinds


def _types(values: Iterable[object]) -> set[type]:
    return set(map(type, values))
