"""Rows of the queries that read runs, sweeps, and cited nodes back."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from pgs_neo4j.database.stored_data import Count


class SourceRow(TypedDict):
    """A row of ``read_sources`` or ``read_shown``: a node now, with the properties of its mapping.

    ``title`` and ``key`` are None, and ``text`` is empty, where the mapping names no property.
    ``hash`` is the hash of the text that was read.
    """

    partition: int
    rank: int
    hash: int
    element_id: str
    labels: list[str]
    title: object
    key: object
    text: list[object]


class CitedNode(TypedDict):
    """A node that a bullet cites, if it is still in the graph."""

    alias: str
    element_id: str


class CitedRow(CitedNode):
    """A row of ``read_cited``: a node that a synthesis cites."""

    partition: int


class StoredBullet(TypedDict):
    """A finding or a flag; ``citations`` is JSON."""

    place: Count
    text: str
    citations: str
    cited: list[CitedNode]


class StoredFinding(StoredBullet):
    """A finding; ``quotes`` is JSON, and ``doubts`` is None where none were looked for."""

    quotes: str
    doubts: list[str] | None


class StoredFlag(StoredBullet):
    """An outbound flag."""

    target: Count | None


class StoredAbsence(TypedDict):
    """An absence."""

    place: Count
    text: str


class StoredSweep(TypedDict):
    """The properties of a sweep; one that failed has no ``domain_state``. ``usage`` is JSON."""

    status: Literal["accepted", "partial", "failed", "unread"]
    nodes: Count
    read_first: list[Count]
    read_last: list[Count]
    passes: Count
    passes_accepted: Count
    errors: list[str]
    domain_state: NotRequired[str | None]
    struck: list[str]
    struck_reasons: list[str]
    usage: str
    seconds: Annotated[float, Field(allow_inf_nan=False)]
    wave: Count
    without_text: list[Count]
    unproven_first: list[Count]
    unproven_last: list[Count]


class RecordedSweepRow(TypedDict):
    """A row of ``read_sweeps``: a sweep with its bullets, in any order."""

    id: str
    partition: Count
    sweep: StoredSweep
    findings: list[StoredFinding]
    flags: list[StoredFlag]
    absences: list[StoredAbsence]


class UnsynthesizedRow(RecordedSweepRow):
    """A row of ``read_unsynthesized``.

    ``current``: the run's generation is still the current one.
    """

    run: str
    current: bool


class RunRow(TypedDict):
    """A row of ``run_by_id``; ``generation`` is None when its partitions are gone."""

    run: dict[str, Any]
    session: str
    graph: str
    generation: str | None
    current: bool
    silent: bool
