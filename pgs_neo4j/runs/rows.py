"""Rows of the queries that read runs, sweeps, and cited nodes back."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class NodeRow(TypedDict):
    """A cited node now, with the properties of its mapping.

    ``title`` and ``key`` are None, and ``text`` is empty, where the mapping names no property.
    """

    rank: int
    element_id: str
    labels: list[str]
    title: object
    key: object
    text: list[object]


class CitedRow(NodeRow):
    """A row of ``read_cited``: a node that a synthesis cites."""

    partition: int
    alias: str


class SourceRow(NodeRow):
    """A row of ``read_sources``.

    ``hash`` is the hash of the text that was read.
    """

    partition: int
    hash: int


class BulletCitation(NodeRow):
    """A node that a bullet cites."""

    alias: str


class StoredBullet(TypedDict):
    """A finding or a flag.

    ``citations`` is JSON, None if one of the first releases stored it.
    """

    place: int
    text: str
    citations: str | None
    cited: list[BulletCitation]


class StoredFinding(StoredBullet):
    """A finding.

    ``quotes`` is JSON, None if one of the first releases stored it.
    """

    quotes: str


class StoredFlag(StoredBullet):
    """An outbound flag."""

    target: int | None


class StoredAbsence(TypedDict):
    """An absence."""

    place: int
    text: str


class StoredSweep(TypedDict):
    """The properties of a sweep.

    Earlier releases lack those that are not required.
    """

    status: str
    nodes: int
    read_first: list[int]
    read_last: list[int]
    passes: int
    passes_accepted: int
    errors: list[str]
    domain_state: NotRequired[str | None]
    usage: NotRequired[str | None]
    seconds: NotRequired[float | None]
    wave: NotRequired[int | None]
    without_text: NotRequired[list[int]]


class RecordedSweepRow(TypedDict):
    """A row of ``read_sweeps``: a sweep with its bullets, in any order."""

    id: str
    partition: int
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
