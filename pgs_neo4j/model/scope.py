"""A scope: what the nodes have in common that an engine sees."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import TypeAlias

from pgs_neo4j.errors import ScopeError

ScopeValue: TypeAlias = str | int | float | bool

JOINT = "~"
"""The sign between a graph's name and the digest of its scope. No name of a graph contains it."""
DIGITS = 12
LARGEST = 2**63 - 1
"""The largest integer that Neo4j stores; the smallest is ``-LARGEST - 1``."""


UNOPENED = "unopened"
"""The view of an engine that opens a view for each graph, as long as it has opened none."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A property of nodes and relationships, and the texts between which its value must lie.

    ``low`` belongs to the range, ``high`` does not. What lacks the property is within all bounds.
    """

    name: str
    low: str
    high: str


def _make_suffix(values: tuple[tuple[str, ScopeValue], ...], view: str) -> str:
    if not values and not view:
        return ""
    parts: list[object] = [[name, type(value).__name__, value] for name, value in values]
    text = json.dumps([*parts, view] if view else parts)
    return JOINT + sha256(text.encode()).hexdigest()[:DIGITS]


@dataclass(frozen=True, slots=True)
class Scope:
    """The values of a scope, by property in alphabetical order; made by ``make_scope``.

    An engine with a scope sees only nodes that have all of its values. Its graphs, with their
    partitions, sessions, and runs, are separate from the graphs of other scopes, even from those
    with the same name. Without values, there is no scope, and the engine sees all nodes.

    ``view`` is the id of a view, which has relationships to all of its nodes; the engine sees no
    others. ``bounds`` limit the relationships that it sees, and the nodes that a view gets.

    ``suffix`` follows the names of the scope's graphs in the database. It contains a digest of the
    values and the view, and none of the values; without values and a view, it is empty.
    """

    values: tuple[tuple[str, ScopeValue], ...] = ()
    view: str = ""
    bounds: tuple[Bound, ...] = ()
    suffix: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "suffix", _make_suffix(self.values, self.view))

    def __bool__(self) -> bool:
        return bool(self.values or self.view)

    def __repr__(self) -> str:
        """Name the properties, but none of their values, because these may name a customer."""
        return f"Scope({', '.join(name for name, _ in self.values)})"

    @property
    def base(self) -> Scope:
        """The same scope without its view."""
        return Scope(self.values) if self.view or self.bounds else self

    @property
    def digest(self) -> str:
        """The digest of the values, for logs and metrics; empty without values."""
        return self.suffix.removeprefix(JOINT)

    def as_dict(self) -> dict[str, ScopeValue]:
        """Return the values by property, as the parameter ``$scope`` of statements."""
        return dict(self.values)

    def as_bounds(self) -> list[dict[str, str]]:
        """Return the bounds of relationships, as the parameter ``$valid`` of statements."""
        return [asdict(bound) for bound in self.bounds]

    def join(self, other: Scope) -> Scope:
        """Return the scope that has the values of both, without a view.

        Raises ScopeError if the values contradict.
        """
        values = self.as_dict()
        for name, value in other.values:
            if values.setdefault(name, value) != value:
                raise ScopeError(f"the scope has another value for {name} already")
        return Scope(tuple(sorted(values.items())))

    def qualify(self, graph: str) -> str:
        """Return a graph's name in the database. An empty name stays empty."""
        return graph + self.suffix if graph else graph

    def unqualify(self, stored: str) -> str | None:
        """Return a graph's name without its scope; None if the graph belongs to another scope."""
        name, joint, digest = stored.partition(JOINT)
        return name if joint + digest == self.suffix else None


NO_SCOPE = Scope()


def make_scope(values: Mapping[str, object] | None) -> Scope:
    """Check the values of a scope and return it; without values, return ``NO_SCOPE``.

    Values are texts, numbers, or booleans. A number without a fraction counts as an integer,
    because Neo4j compares 7 and 7.0 as equal. Raises ScopeError.
    """
    if values is None:
        return NO_SCOPE
    checked = {_check_property(name): _check_value(name, value) for name, value in values.items()}
    return Scope(tuple(sorted(checked.items())))


def _check_property(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or not _is_encodable(name):
        raise ScopeError("a scope names a property without a name; write PROPERTY=VALUE")
    return name


def _check_value(name: str, value: object) -> ScopeValue:
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        if not -LARGEST - 1 <= value <= LARGEST:
            raise ScopeError(f"the scope's {name} has more than 64 bits, which Neo4j cannot store")
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, str) and value.strip() and _is_encodable(value):
        return value
    raise ScopeError(
        f"the scope's {name} is {_describe(value)}; give it a text, a number, or a boolean"
    )


def _describe(value: object) -> str:
    """Describe a value that a scope cannot have, without the value."""
    if value is None:
        return "null"
    if isinstance(value, float):
        return "not a finite number"
    if isinstance(value, str):
        return "text that is not valid Unicode" if value.strip() else "an empty text"
    return f"of type {type(value).__name__}"


def _is_encodable(text: str) -> bool:
    """Return whether a text has no single surrogates, which the database cannot store."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
