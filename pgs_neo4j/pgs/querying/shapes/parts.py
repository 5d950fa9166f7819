"""The parts of a question that has a known shape: labels, links, conditions, and an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["count", "list", "first", "top", "aggregate", "paths"]
"""``first`` is a list that is cut, while a question is read: "the first three papers"."""
Sign = Literal["=", ">", "<", ">=", "<="]


@dataclass(frozen=True, slots=True)
class Route:
    """A way from an asked node to a node with ``label``: a type, and whether it leads there."""

    type: str
    outgoing: bool
    label: str


@dataclass(frozen=True, slots=True)
class Link:
    """A node that an asked node must be connected with, by one of ``routes``.

    ``name`` is what the question calls the node, empty if any node will do. ``property`` and
    ``name`` are a property and its stored value as soon as the node has been found. A loose link
    has only a preposition and a name, as in "actors in France", so the name may as well be a value
    of the asked nodes. ``doubtful`` are routes to nodes that the words behind the name may be about
    as well; the name must not be that of such a node.
    """

    routes: tuple[Route, ...]
    name: str = ""
    property: str = ""
    is_loose: bool = False
    doubtful: tuple[Route, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a property of an asked node; on its year if ``of_year`` is true.

    A text must be found among the values of ``properties``; then one property is left.
    """

    properties: tuple[str, ...]
    sign: Sign
    value: int | float | str | bool
    of_year: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """What the asked nodes are grouped by: a property, its year, or the nodes of a link."""

    property: str = ""
    of_year: bool = False
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class End:
    """One of two nodes that paths connect: its name, and its label if the question has it."""

    name: str
    label: str = ""
    property: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A question, as far as it has been recognized.

    ``labels`` are the labels that an asked node may have. ``function`` aggregates ``measure``, by
    which a ``top`` question orders as well unless it orders by the number of nodes of ``counted``.
    ``limit`` is the number of rows that the question asks for, 0 if it names none.
    """

    kind: Kind
    labels: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    conditions: tuple[Condition, ...] = ()
    shown: str = ""
    measure: str = ""
    counted: Link | None = None
    descending: bool = True
    function: str = ""
    group: Group | None = None
    limit: int = 0
    ends: tuple[End, ...] = ()
