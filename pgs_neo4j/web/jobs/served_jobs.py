"""The data of the events of a job, where the engine's events have other fields."""

from __future__ import annotations

from typing import Literal, TypedDict

JobKind = Literal["repartition", "ingest", "demo"]


class ServedJob(TypedDict):
    """The job began. Its ``kind`` is ``repartition``, ``ingest``, or ``demo``."""

    job: str
    graph: str
    kind: JobKind


class ServedDocument(TypedDict):
    """What became of a document."""

    id: str
    state: str
    chunks: int
    reason: str
    note: str


class ServedJobEnd(TypedDict):
    """The job has done what it was to do, or a limit stopped it. Last event.

    ``record`` is the id of what ``GET /api/jobs`` lists. ``states`` counts what became of
    documents, and ``documents`` names the first of them, those that failed before the others.
    """

    record: str
    outcome: str
    states: dict[str, int]
    documents: list[ServedDocument]
    notes: list[str]
    cost: float | None


class ServedJobFailure(TypedDict):
    """The job failed. Last event."""

    error: str
    code: str
    fix: str


class ServedJobCancelled(TypedDict):
    """The job was cancelled, or the server stops. Last event."""

    job: str


class ServedJobStop(TypedDict):
    """The server stops, and cancels the job."""

    job: str
