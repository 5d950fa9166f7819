"""The rule of all tables of ``pgs.toml``: a value is written in the type of its key.

TOML and JSON have numbers and switches of their own. The text "5" where a number belongs, or true,
is a slip, and taken for 5 or 1 it would become a limit. A variable of the environment is
always text, so it is converted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

TABLE = ConfigDict(
    frozen=True, extra="forbid", hide_input_in_errors=True, populate_by_name=True, strict=True
)
"""How every table checks its keys."""
LIST = Field(strict=False)
"""For a tuple in a table, which is written as a list. The rule still holds for its items."""


class Mistyped:
    """Stands for a value of another type, so that pydantic refuses it in its usual words.

    A stronger source may override the value, so the source of the file refuses nothing itself.
    """


def as_written(settings: type[BaseModel], values: Mapping[str, object]) -> dict[str, object]:
    """Return the values of a file, with Mistyped for those that are not in their key's type.

    Tables keep the rule themselves.
    """
    return {
        name: Mistyped() if _is_mistyped(settings, name, value) else value
        for name, value in values.items()
    }


def _is_mistyped(settings: type[BaseModel], name: str, value: object) -> bool:
    """Return whether a value would be converted, or is refused for its type alone.

    One that has the right type stays, since the error of its bounds says more.
    """
    if name not in settings.model_fields or isinstance(value, dict | list):
        return False
    type_ = _type(settings, name)
    return _complaints(type_, value, strict=True) != _complaints(type_, value, strict=False)


@cache
def _type(settings: type[BaseModel], name: str) -> TypeAdapter[Any]:
    field = settings.model_fields[name]
    kind: Any = Annotated[field.annotation, *field.metadata]
    return TypeAdapter(kind)


def _complaints(type_: TypeAdapter[Any], value: object, *, strict: bool) -> list[str]:
    try:
        type_.validate_python(value, strict=strict)
    except ValidationError as error:
        return [detail["type"] for detail in error.errors(include_input=False, include_url=False)]
    return []
