"""Declares details of settings beyond type, default, and bounds, and checks types in the file.

A value in ``pgs.toml`` must have the type of its key, because TOML and JSON have numbers and
switches. The text "5" or the value true in place of a number is a mistake, and converting it to 5
or 1 would turn it into a limit. A variable of the environment is always text, so it is converted.
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

# Optional numbers and efforts accept "none", which also removes a default. If the description of a
# setting says "unset" instead, "none" would be an ordinary value of it.
NoneAllowed = BeforeValidator(lambda value: None if value == "none" else value)

TABLE = ConfigDict(
    frozen=True, extra="forbid", hide_input_in_errors=True, populate_by_name=True, strict=True
)
"""The rules by which every table checks its keys."""
LIST = Field(strict=False)
"""Lets a table write a tuple as a list. Its items are still checked strictly."""


@dataclass(frozen=True, slots=True)
class About:
    """The topic of a setting, and its option on the command line.

    ``flag`` is the name of the option, by default ``--name-of-the-setting``. The option of a switch
    inverts its default. ``help`` replaces the description on the command line. ``shapes`` marks a
    knob that influences the content of an answer, so the same question with another value is a
    different request.
    """

    topic: Topic
    flag: str = ""
    metavar: str = ""
    help: str = ""
    shapes: bool = False


@dataclass(frozen=True, slots=True)
class Declaration:
    """One declared setting, the basis of its CLI option, its type hints, and its documentation."""

    name: str
    field: FieldInfo
    about: About

    @property
    def flag(self) -> str:
        """The command line option."""
        return self.about.flag or f"--{self.name.replace('_', '-')}"

    @property
    def description(self) -> str:
        """The description: one sentence without its capital and period."""
        return self.field.description or ""

    @property
    def nullable(self) -> bool:
        """Whether the setting accepts ``none``."""
        return NoneAllowed in self.field.metadata

    @property
    def is_limit(self) -> bool:
        """Whether the setting limits the spending or time of a run."""
        return self.about.topic == "limits"

    @property
    def types(self) -> tuple[object, ...]:
        """The types of the setting's values, except None: classes, or one Literal."""
        return types_of(self.field)

    @property
    def bounds(self) -> tuple[tuple[str, float], ...]:
        """The bounds of the setting, in the form of ``bounds_of``."""
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
    return tuple(kind for kind in _list_members(field.annotation) if kind is not type(None))


def _list_members(annotation: object) -> tuple[object, ...]:
    if get_origin(annotation) in (Union, UnionType):
        return get_args(annotation)
    return (annotation,)


class Mistyped:
    """Replaces a value of a wrong type, so that pydantic refuses it with its usual error.

    The file's source does not refuse the value itself, because a stronger source may override it.
    """


def mark_mistyped(settings: type[BaseModel], values: Mapping[str, object]) -> dict[str, object]:
    """Replace each value of a file by Mistyped if it does not have the type of its key.

    Values in tables stay, because each table checks its own keys.
    """
    return {
        name: Mistyped() if _is_mistyped(settings, name, value) else value
        for name, value in values.items()
    }


def _is_mistyped(settings: type[BaseModel], name: str, value: object) -> bool:
    """Return whether a value does not have the type of its setting.

    Strict and lenient validation differ for such a value. A value of the right type that is out of
    bounds is not mistyped, because pydantic's error about its bounds says more.
    """
    if name not in settings.model_fields or isinstance(value, dict | list):
        return False
    type_ = _adapt_type(settings, name)
    return _list_errors(type_, value, strict=True) != _list_errors(type_, value, strict=False)


@cache
def _adapt_type(settings: type[BaseModel], name: str) -> TypeAdapter[Any]:
    field = settings.model_fields[name]
    kind: Any = Annotated[field.annotation, *field.metadata]
    return TypeAdapter(kind)


def _list_errors(type_: TypeAdapter[Any], value: object, *, strict: bool) -> list[str]:
    try:
        type_.validate_python(value, strict=strict)
    except ValidationError as error:
        return [detail["type"] for detail in error.errors(include_input=False, include_url=False)]
    return []
