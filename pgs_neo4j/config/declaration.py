"""Declares a setting's details beyond type, default, bounds, and description."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Literal, Union, get_args, get_origin

from pydantic import BeforeValidator
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
