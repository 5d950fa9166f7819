"""Turns what this package has stored into data, and refuses what it cannot have written itself.

Anyone who may write to the database may change the nodes of this package, on purpose or by an
import that reuses its labels. So each value has its type and its bounds checked before it is
used. Nothing is converted, and nothing that is missing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from pgs_neo4j.errors import StoredDataError

T = TypeVar("T")

SHOWN = 80
"""Characters of a name in messages; another program may have chosen it."""
MOST_COUNT = 2**53
"""More than any graph has; larger numbers are no longer exact elsewhere."""
Count = Annotated[int, Field(ge=0, le=MOST_COUNT)]
COUNT: TypeAdapter[int] = TypeAdapter(Count)
"""Also of the id of a partition, and of a rank in it."""


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
