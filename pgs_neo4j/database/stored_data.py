"""Checks what comes out of the database before anything uses it.

Anyone who may write to the database may change the nodes of this package, on purpose or by an
import that reuses its labels. So each value of those nodes has its type and its bounds checked, by
the header of the statement that returns it and by the model that it becomes. Nothing is converted,
and nothing that is missing is guessed. The rows of other statements hold the user's own values,
which may be of any type; but what a header calls never null is not null.
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
"""Characters of a name in messages; another program may have chosen it."""
MOST_COUNT = 2**53
"""More than any graph has; larger numbers are no longer exact elsewhere."""
Count = Annotated[int, Field(ge=0, le=MOST_COUNT)]
COUNT: TypeAdapter[int] = TypeAdapter(Count)
"""Also of the id of a partition, and of a rank in it."""

OWN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("pgs/runs", "pgs/partitioning", "engine/catalog", "llm/calls"), ("",)),
        "database": ("read_commits", "read_fences", "read_version"),
        # Without the text of a chunk, nothing can prove that it is gone.
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
"""Beginnings of the names of statements that read nodes of this package, by folder."""
FIX = "restore a backup, or remove what is damaged with 'pgs sessions delete' or 'pgs graph remove'"
META_FIX = "restore a backup, or remove all that pgs wrote with 'pgs purge'"
"""For what belongs to no graph, and so is removed with none."""

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
SCALARS = frozenset({"any", *KINDS} - {"dict"})
NUMBERS = frozenset({"list[float]", "list[int]", "list[number]"})
"""Types of vectors, and of other lists of numbers."""


def check_stored(adapter: TypeAdapter[T], value: object, what: str, fix: str) -> T:
    """Return a value of the database as its type.

    ``what`` names it in messages, and ``fix`` says how to replace it. Raises StoredDataError, which
    quotes nothing of the value.
    """
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError as error:
        raise unreadable(what, _describe(error), fix) from None


def parse_stored(adapter: TypeAdapter[T], text: object, what: str, fix: str) -> T:
    """Return a JSON text of the database as its type. Raises StoredDataError."""
    if not isinstance(text, str):
        raise unreadable(what, "it is no text", fix)
    try:
        return adapter.validate_json(text.encode("utf-8", "surrogatepass"), strict=True)
    except ValidationError as error:
        raise unreadable(what, _describe(error), fix) from None


def check_fields(kind: type[T], values: Mapping[str, object], what: str, fix: str) -> T:
    """Return a dataclass of values of the database. Raises StoredDataError unless each fits."""
    adapters: dict[str, TypeAdapter[Any]] = _adapters(kind)  # type: ignore[arg-type]
    for name, value in values.items():
        try:
            adapters[name].validate_python(value, strict=True)
        except ValidationError:
            raise unreadable(what, f"{name} is malformed", fix) from None
    return kind(**values)


@cache
def _adapters(kind: type) -> dict[str, TypeAdapter[Any]]:
    return {name: TypeAdapter(hint) for name, hint in get_type_hints(kind).items()}


def unreadable(what: str, why: str, fix: str) -> StoredDataError:
    """Return the error for something that this package cannot have written."""
    return StoredDataError(f"{what} was changed by another program, and {why}; {fix}")


def _describe(error: ValidationError) -> str:
    first: Any = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(str(part)[:SHOWN] for part in first["loc"]) or "it"
    if first["type"] == "missing":
        return f"{where} is missing"
    return f"{where} is malformed"


def check_rows(query: Query, rows: Sequence[Mapping[str, object]]) -> None:
    """Raise StoredDataError if a row of an own statement is not what its header says."""
    folder, _, file = query.name.rpartition("/")
    if not file.startswith(OWN.get(folder, ())):
        return
    checks = [(name, fit) for name, kind in query.columns.items() if (fit := _fit(kind))]
    for row in rows:
        for name, fit in checks:
            if not fit(row[name]):
                what = f"what pgs stored ({query.name})"
                fix = META_FIX if folder == "database" else FIX
                raise unreadable(what, f"its {name} is malformed", fix)


@cache
def _fit(kind: str) -> Fits | None:
    """Return a check that a value has a type as headers name it; None for any value."""
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
    """Return a check that a value is a list whose items have a type."""
    bare = name.removesuffix("?")
    if bare == "any":
        return lambda value: isinstance(value, list)
    kinds: set[type] = {list} if bare.startswith("list[") else set(KINDS[bare])
    if bare != name:
        kinds.add(type(None))
    return lambda value: isinstance(value, list) and _types(value) <= kinds


def _types(values: Iterable[object]) -> set[type]:
    return set(map(type, values))


def lacks_values(query: Query, row: Mapping[str, object]) -> bool:
    """Whether a row has a null where its header allows none, also inside lists, or an empty map.

    Neo4j reads what is committed, without a snapshot: what another transaction deletes after a
    statement has found it has null properties, or none, and no error says so. A map of properties
    is empty if it has no value but nulls and empty lists.
    """
    return any(_finder(kind)(row[name]) for name, kind in query.columns.items())


@cache
def _finder(kind: str) -> Fits:
    """Return a check that finds a null where a type of headers allows none."""
    name = kind.removesuffix("?")
    if name.startswith("list["):
        inner = _finder_in_items(name[5:-1])
    else:
        inner = _is_empty_map if name == "dict" else _find_nothing
    if name != kind:
        return lambda value: value is not None and inner(value)
    return lambda value: value is None or inner(value)


def _finder_in_items(kind: str) -> Fits:
    """Return a check that finds a null in a list where the type of its items allows none."""
    if kind.removesuffix("?") in SCALARS and kind.endswith("?"):
        return _find_nothing
    # A stored list has no nulls, so vectors are not looked through, number by number.
    if kind in SCALARS or kind in NUMBERS:
        return lambda value: isinstance(value, list) and NoneType in _types(value)
    within = _finder(kind)
    return lambda value: isinstance(value, list) and any(map(within, value))


def _is_empty_map(value: object) -> bool:
    """Whether a map, or a map in it, has no value but nulls and empty lists."""
    if not isinstance(value, dict):
        return False
    held = [one for one in value.values() if one not in (None, [])]
    return not held or any(map(_is_empty_map, held))


def _find_nothing(_: object) -> bool:
    return False
