"""The data of the events that the server sends, where the engine's events have other fields."""

from __future__ import annotations

from typing import TypedDict

from pgs_neo4j.model import Task


class ServedCoverage(TypedDict):
    """Coverage in partitions and nodes."""

    partitions_swept: int
    partitions_total: int
    nodes_read: int
    nodes_unproven: int
    nodes_total: int


class ServedRoute(TypedDict):
    """A chosen partition, and why."""

    partition: int
    similarity: float | None
    evidence: int
    reason: str


class ServedAccepted(TypedDict):
    """The question was accepted as a run."""

    run: str
    graph: str
    question: str


class ServedQueued(TypedDict):
    """The run waits; ``place`` is its place in the queue, from 1."""

    place: int


class ServedContexts(TypedDict):
    """What the models of a run can take is known; ``contexts`` has it in words, by model."""

    contexts: dict[str, str]


class ServedRouting(TypedDict):
    """The partitions to sweep were chosen; each route tells why."""

    routes: list[ServedRoute]
    considered: int
    broad: bool
    fallback: bool
    unmatched: bool
    note: str


class ServedSweep(TypedDict):
    """The sweep of a partition ended; its report travels as counts and texts of findings.

    ``report`` is the link to the whole report, null without one. ``targets`` are the partitions
    that its flags name.
    """

    partition: int
    status: str
    nodes: int
    nodes_read: int
    nodes_unproven: int
    passes: int
    seconds: float
    findings: list[str]
    flags: int
    targets: list[int]
    absences: int
    errors: list[str]
    report: str | None


class ServedRetry(TypedDict):
    """A model call failed, and is made again at the time ``until``, after ``wait_s`` seconds."""

    task: Task
    partition: int | None
    reason: str
    wait_s: float
    until: str


class ServedHold(TypedDict):
    """No model call is made before the time ``until``, for ``wait_s`` seconds."""

    reason: str
    wait_s: float
    until: str


class ServedUsage(TypedDict):
    """A model call ended; the figures are those of the whole run so far."""

    calls: int
    tokens: int
    cached: int
    cache_read_tokens: int
    cache_write_tokens: int
    estimated: int
    cost: float | None


class ServedSnapshot(TypedDict):
    """Takes the place of events that are no longer kept.

    It has what ``GET /api/runs/{run}`` returns; these fields always.
    """

    run: str
    graph: str
    question: str
    state: str


class ServedAnswer(TypedDict):
    """The run ended with an answer, ``partial`` if a limit cut it short. Last event."""

    run: str
    answer: str
    partial: bool
    stopped: str
    thesis: str
    coverage: ServedCoverage
    own_coverage: ServedCoverage
    calls: int
    tokens: int
    cached: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost: float | None


class ServedFailure(TypedDict):
    """The run ended with an error, and can be resumed. Last event."""

    run: str
    error: str
    code: str
    fix: str


class ServedEnd(TypedDict):
    """The run was cancelled, and can be resumed. Last event."""

    run: str


class ServedStop(TypedDict):
    """The server stops, and cancels the run."""

    run: str
