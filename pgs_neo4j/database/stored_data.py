"""Checks stored values when they are read and before any code uses them.

Everybody with write access to the database can change the nodes of this package, on purpose or by
an import that reuses its labels. So all values from these nodes are checked: the header of each
statement and the model of each record give their types and bounds. The checks do not convert values
or guess missing values. Other statements return the user's own values, which may have any type. For
these values, the only check is for nulls that the header does not allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType, NoneType
from typing import Annotated, Any, TypeVar, get_type_hints

from neo4j.time import DateTime
from pydantic import Field, TypeAdapter, ValidationError

from pgs_neo4j.database.queries import Query
from pgs_neo4j.errors import StoredDataError

T = TypeVar("T")
Fits = Callable[[Any], bool]

SHOWN = 80
"""Maximum characters of a name in messages. The limit is needed because any program may choose the
name."""
MOST_COUNT = 2**53
"""The largest accepted count. No graph reaches it, and floats are exact only up to here."""
Count = Annotated[int, Field(ge=0, le=MOST_COUNT)]
COUNT: TypeAdapter[int] = TypeAdapter(Count)
"""The validator of a count, the id of a partition, or a rank in a partition."""

OWN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("pgs/runs", "pgs/partitioning", "engine/catalog", "llm/calls"), ("",)),
        "database": ("read_commits", "read_fences", "read_version"),
        # Without the text of a chunk, nothing can prove that this text is gone.
        "documents/deletion": ("read_deleted_texts",),
        "engine/browse": (
            *("read_costs", "read_flags", "read_graph_states", "read_members", "read_positions"),
        ),
        "pgs/checking": ("read_links",),
        "search": (
            *("count_segments", "find_findings", "nearest_members", "read_placed_nodes"),
            *("read_segments", "read_unit_states"),
        ),
    }
)
"""The beginnings of the names of all statements that read nodes of this package, by folder."""
FIX = "restore a backup, or remove what is damaged with 'pgs sessions delete' or 'pgs graph remove'"
META_FIX = "restore a backup, or remove all that pgs wrote with 'pgs purge'"
"""The advice for damaged records that belong to no graph, so that removing a graph does not
help."""

KINDS: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "bool": (bool,),
        "int": (int,),
        "float": (float, int),
        "number": (float, int),
        "str": (str,),
        "graph": (str,),
        "bytes": (bytes, bytearray),
        "datetime": (DateTime,),
        "dict": (dict,),
    }
)
SCALARS = frozenset({"any", *KINDS} - {"dict"})
NUMBERS = frozenset({"list[float]", "list[int]", "list[number]"})
"""Header types of vectors, and of other lists of numbers."""


def check_stored(adapter: TypeAdapter[T], value: object, what: str, fix: str) -> T:
    """Validate a value from the database and return it as its type.

    In messages, ``what`` names the value and ``fix`` says how to replace it. Raises
    StoredDataError, which never quotes the value.
    """
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError as error:
        raise unreadable(what, _describe(error), fix) from None


def parse_stored(adapter: TypeAdapter[T], text: object, what: str, fix: str) -> T:
    """Parse a JSON text from the database and return it as its type. Raises StoredDataError."""
    if not isinstance(text, str):
        raise unreadable(what, "it is no text", fix)
    try:
        return adapter.validate_json(text.encode("utf-8", "surrogatepass"), strict=True)
    except ValidationError as error:
        raise unreadable(what, _describe(error), fix) from None


def check_fields(kind: type[T], values: Mapping[str, object], what: str, fix: str) -> T:
    """Build a dataclass from stored values. Raises StoredDataError if a value is malformed."""
    adapters: dict[str, TypeAdapter[Any]] = _make_adapters(kind)  # type: ignore[arg-type]
    for name, value in values.items():
        try:
            adapters[name].validate_python(value, strict=True)
        except ValidationError:
            raise unreadable(what, f"{name} is malformed", fix) from None
    return kind(**values)


@cache
def _make_adapters(kind: type) -> dict[str, TypeAdapter[Any]]:
    return {name: TypeAdapter(hint) for name, hint in get_type_hints(kind).items()}


def unreadable(what: str, why: str, fix: str) -> StoredDataError:
    """Return the error for a value that this package cannot have written."""
    return StoredDataError(f"{what} was changed by another program, and {why}; {fix}")


def _describe(error: ValidationError) -> str:
    first: Any = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(str(part)[:SHOWN] for part in first["loc"]) or "it"
    if first["type"] == "missing":
        return f"{where} is missing"
    return f"{where} is malformed"


def check_rows(query: Query, rows: Sequence[Mapping[str, object]]) -> None:
    """Raise StoredDataError if a row of a statement in ``OWN`` does not match its header."""
    folder, _, file = query.name.rpartition("/")
    if not file.startswith(OWN.get(folder, ())):
        return
    checks = [(name, fit) for name, kind in query.columns.items() if (fit := _make_check(kind))]
    for row in rows:
        for name, fit in checks:
            if not fit(row[name]):
                what = f"what pgs stored ({query.name})"
                fix = META_FIX if folder == "database" else FIX
                raise unreadable(what, f"its {name} is malformed", fix)


@cache
def _make_check(kind: str) -> Fits | None:
    """Return a check that a value has a header type; None if the type accepts any value."""
    name = kind.removesuffix("?")
    if name == "any":
        return None
    nullable = name != kind
    inner = _make_items_check(name[5:-1]) if name.startswith("list[") else _make_scalar_check(name)
    return (lambda value: value is None or inner(value)) if nullable else inner


def _make_scalar_check(name: str) -> Fits:
    kinds = frozenset(KINDS[name])
    return lambda value: type(value) in kinds


def _make_items_check(name: str) -> Fits:
    """Return a check that a value is a list with items of a header type."""
    bare = name.removesuffix("?")
    if bare == "any":
        return lambda value: isinstance(value, list)
    kinds: set[type] = {list} if bare.startswith("list[") else set(KINDS[bare])
    if bare != name:
        kinds.add(type(None))
    return lambda value: isinstance(value, list) and _collect_types(value) <= kinds


def _collect_types(values: Iterable[object]) -> set[type]:
    return set(map(type, values))


def lacks_values(query: Query, row: Mapping[str, object]) -> bool:
    """Return whether a row looks as if a node or relationship in it was just deleted.

    The row then contains a null where the header allows no null, possibly inside a list, or it
    contains an empty map. Neo4j reads the latest committed data, without a snapshot. If another
    transaction deletes a node that a statement has found, the node's properties read as null
    without an error. A map of properties counts as empty if all its values are nulls and empty
    lists.
    """
    return any(_make_null_check(kind)(row[name]) for name, kind in query.columns.items())


@cache
def _make_null_check(kind: str) -> Fits:
    """Return a check that finds a null if a header type does not allow it."""
    name = kind.removesuffix("?")
    if name.startswith("list["):
        inner = _make_items_null_check(name[5:-1])
    else:
        inner = _is_empty_map if name == "dict" else _find_nothing
    if name != kind:
        return lambda value: value is not None and inner(value)
    return lambda value: value is None or inner(value)


def _make_items_null_check(kind: str) -> Fits:
    """Return a check that finds a null in a list if the header type of its items forbids it."""
    if kind.removesuffix("?") in SCALARS and kind.endswith("?"):
        return _find_nothing
    # A list property cannot store nulls, so a set of the item types is enough. Deeper checks of
    # each number would be slow for vectors.
    if kind in SCALARS or kind in NUMBERS:
        return lambda value: isinstance(value, list) and NoneType in _collect_types(value)
    within = _make_null_check(kind)
    return lambda value: isinstance(value, list) and any(map(within, value))


def _is_empty_map(value: object) -> bool:
    """Return whether a map, or a map inside it, has only nulls and empty lists as values."""
    if not isinstance(value, dict):
        return False
    held = [item for item in value.values() if item not in (None, [])]
    return not held or any(map(_is_empty_map, held))


def _find_nothing(_: object) -> bool:
    return False
