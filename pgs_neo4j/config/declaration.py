"""How a setting is declared: its details beyond type, default, and bounds, and its written type.

A value in ``pgs.toml`` is written in the type of its key. TOML and JSON have numbers and switches
of their own. The text "5" where a number belongs, or true, is a slip, and taken for 5 or 1 it would
become a limit. A variable of the environment is always text, so it is converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

Topic = Literal[
    "connection",
    "models",
    "embedding",
    "search",
    "partitioning",
    "routing",
    "sweeping",
    "synthesis",
    "ingestion",
    "limits",
    "calls",
    "cache",
    "jobs",
    "serving",
]

# Optional numbers and efforts may be set to "none", which also lifts a default. A setting whose
# description says "unset" instead would take "none" for a value of its own.
NoneAllowed = BeforeValidator(lambda value: None if value == "none" else value)

TABLE = ConfigDict(
    frozen=True, extra="forbid", hide_input_in_errors=True, populate_by_name=True, strict=True
)
"""How every table checks its keys."""
LIST = Field(strict=False)
"""For a tuple in a table, which is written as a list. The rule still holds for its items."""


@dataclass(frozen=True, slots=True)
class About:
    """Where a setting belongs, and how the command line offers it.

    ``flag`` is the option, ``--name-of-the-setting`` when empty; the option of a switch inverts the
    default. ``help`` replaces the description on the command line. ``shapes`` marks a knob that
    influences the content of an answer: with another value, the same question is a different
    request.
    """

    topic: Topic
    flag: str = ""
    metavar: str = ""
    help: str = ""
    shapes: bool = False


@dataclass(frozen=True, slots=True)
class Declaration:
    """One declared setting; the source of options, types, and documentation."""

    name: str
    field: FieldInfo
    about: About

    @property
    def flag(self) -> str:
        """The command line option."""
        return self.about.flag or f"--{self.name.replace('_', '-')}"

    @property
    def description(self) -> str:
        """One sentence without its capital and period."""
        return self.field.description or ""

    @property
    def nullable(self) -> bool:
        """Whether ``none`` is a value."""
        return NoneAllowed in self.field.metadata

    @property
    def is_limit(self) -> bool:
        """Whether it bounds what a run may use."""
        return self.about.topic == "limits"

    @property
    def types(self) -> tuple[object, ...]:
        """The types of its values, except None: classes, or one Literal."""
        return types_of(self.field)

    @property
    def bounds(self) -> tuple[tuple[str, float], ...]:
        """Its bounds, as ``bounds_of`` returns them."""
        return bounds_of(self.field)


def declarations(settings: type[BaseSettings]) -> Iterator[Declaration]:
    """Yield the declarations of a settings class, in their order."""
    for name, field in settings.model_fields.items():
        about = next(note for note in field.metadata if isinstance(note, About))
        yield Declaration(name, field, about)


def bounds_of(field: FieldInfo) -> tuple[tuple[str, float], ...]:
    """Return a field's bounds by pydantic name: ``ge``, ``gt``, ``le``."""
    return tuple(
        (name, getattr(rule, name))
        for rule in field.metadata
        for name in ("ge", "gt", "le")
        if getattr(rule, name, None) is not None
    )


def types_of(field: FieldInfo) -> tuple[object, ...]:
    """Return the types of a field's values, except None: classes, or one Literal."""
    return tuple(kind for kind in _members(field.annotation) if kind is not type(None))


def _members(annotation: object) -> tuple[object, ...]:
    if get_origin(annotation) in (Union, UnionType):
        return get_args(annotation)
    return (annotation,)


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
