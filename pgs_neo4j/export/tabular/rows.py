"""Defines the rows of each table. The fields of a row's dataclass are the columns, in order.

Every column has a fixed type, so that even an empty table has typed columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding of a report, or of an answer from a search.

    ``made_by`` is the run that made the report, which may be an earlier run of the session.
    ``partition`` is empty for an answer from a search. ``place`` counts from 1 within the report.
    ``citations`` are the valid citations, and ``nodes`` are the keys of the cited nodes in the same
    order. ``misquotes`` are quotations that no cited node contains. ``doubts`` say which claims the
    cited nodes do not support.
    """

    run: str
    made_by: str
    partition: int | None
    place: int
    text: str
    supported: bool
    citations: tuple[str, ...]
    nodes: tuple[str, ...]
    invalid_citations: tuple[str, ...]
    misquotes: tuple[str, ...]
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsenceRow:
    """An absence and the result of the search for it.

    ``partitions`` are the partitions whose reports state the absence. ``searched`` counts the nodes
    that were searched for ``terms`` by ``method``, ``texts`` counts the searched nodes that have
    text, and ``count`` counts the nodes that contain the terms. ``sightings`` cite the first nodes
    that contain the terms, and ``nodes`` are the keys of these nodes.
    """

    run: str
    place: int
    text: str
    status: str
    partitions: tuple[int, ...]
    terms: tuple[str, ...]
    method: str
    searched: int
    texts: int | None
    count: int
    sightings: tuple[str, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionRow:
    """A connection between partitions.

    ``kind`` is ``connection`` or ``convergence`` for a bullet of the answer, and ``flag`` for a
    flag of a report. It is ``neighbors`` or ``words`` for converging findings of reports, whose
    texts are in ``findings``. For a flag, ``partitions`` are its source and its target, and
    ``findings`` are the target's findings about the flag. If the target reports the same thing as
    missing, the flag is an opportunity, and ``absent`` has the text of this report. ``citations``
    are the aliases in the bullet.
    """

    run: str
    kind: str
    place: int
    text: str | None
    partitions: tuple[int, ...]
    citations: tuple[str, ...]
    findings: tuple[str, ...]
    absent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    """A partition of the answer's generation, and how much of it the session had read.

    ``state`` is ``read``, ``partial``, ``unproven``, ``failed``, or ``unread``.
    ``nodes_unproven`` counts nodes that were shown without proof that the model got their text.
    """

    run: str
    partition: int
    label: str
    keywords: tuple[str, ...]
    state: str
    nodes: int
    nodes_read: int
    nodes_unproven: int
    texts: int
    texts_read: int
    pool: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A node that is cited or sighted, in its current state.

    ``citation`` is the node's name in other tables. ``text`` is empty if the node is ``gone``.
    ``changed`` is true if the node's text differs from the text that was read.
    """

    run: str
    citation: str
    partition: int
    key: str
    title: str
    labels: tuple[str, ...]
    text: str | None
    changed: bool
    gone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A summary of a recorded run.

    Times are ISO 8601. ``nodes_shown`` counts the nodes in the prompt of an answer from a search.
    Figures are empty until the run ends; ``cost`` is also empty if there are no prices.
    """

    run: str
    graph: str
    session: str
    mode: str
    status: str
    question: str
    started_at: str
    finished_at: str | None
    answered: bool
    structure_only: bool
    model: str | None
    nodes_read: int | None
    nodes_shown: int | None
    nodes_unproven: int | None
    seconds: float | None
    cost: float | None
    outcome: str | None
    error: str | None


Row = FindingRow | AbsenceRow | ConnectionRow | CoverageRow | SourceRow | RunRow
RUNS = "runs"
ROWS: Mapping[str, type[Row]] = MappingProxyType(
    {
        "findings": FindingRow,
        "absences": AbsenceRow,
        "connections": ConnectionRow,
        "coverage": CoverageRow,
        "sources": SourceRow,
        RUNS: RunRow,
    }
)
"""The row type of each table, by name. All tables except ``runs`` describe one answer."""

Kind = Literal["text", "integer", "number", "boolean"]
KINDS: dict[type, Kind] = {str: "text", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column. If ``many``, its cells are lists. If ``optional``, its cells may be empty."""

    name: str
    kind: Kind
    many: bool
    optional: bool


def columns_of(row: type[Row]) -> tuple[Column, ...]:
    """Return the columns of a table in their order."""
    hints = get_type_hints(row)
    return tuple(_make_column(field.name, hints[field.name]) for field in fields(row))


def _make_column(name: str, hint: Any) -> Column:
    optional = get_origin(hint) is UnionType
    if optional:
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    many = get_origin(hint) is tuple
    kind = KINDS[get_args(hint)[0] if many else hint]
    return Column(name=name, kind=kind, many=many, optional=optional)
