"""Converts runs to JSON data: events, without whole reports, and snapshots.

A snapshot is the state of a run in the database, for readers that missed events.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TypedDict

from pgs_neo4j.engine import PGS, StoredRun
from pgs_neo4j.events import CallRetried, CallsHeld, Event, Routed, SweepFinished, UsageCounted
from pgs_neo4j.export import event_data
from pgs_neo4j.model import Answer, Coverage, Report, Routing, Sweep, Task
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.web.access.callers import Caller

RUN_FIELDS = (
    *("question", "mode", "status", "started_at", "finished_at", "seconds", "error", "thesis"),
    *("nodes_read", "nodes_unproven", "model", "cost", "outcome", "calls"),
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
)
REPORTED = ("accepted", "partial")
"""Statuses of sweeps that have a report."""
SWEEP_FIELDS = (
    "partition",
    "status",
    "nodes",
    "nodes_read",
    "nodes_unproven",
    "passes",
    "seconds",
    "findings",
)


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
    """The contexts of a run's models are known; ``contexts`` has them in words, by model."""

    contexts: dict[str, str]


class ServedRouting(TypedDict):
    """The partitions to sweep were chosen; each route has its reason."""

    routes: list[ServedRoute]
    considered: int
    broad: bool
    fallback: bool
    unmatched: bool
    note: str


class ServedSweep(TypedDict):
    """The sweep of a partition ended.

    Of its report, the event has counts and the texts of findings. ``report`` is the link to the
    whole report, null if there is no report. ``targets`` are the partitions that its flags name.
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
    """The state of the run, sent instead of events that are no longer kept.

    It has the fields that ``GET /api/runs/{run}`` returns, and always these.
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


def told_data(event: Event, run: str = "") -> Mapping[str, object]:
    """Return the data of an event; reports are replaced by counts and links.

    ``run`` is the id of the run for the links; it is empty for events of jobs.
    """
    match event:
        case Routed(routing):
            return routing_data(routing)
        case SweepFinished(sweep):
            return sweep_counts(sweep, run)
        case UsageCounted(usage, cost):
            return ServedUsage(
                calls=usage.calls,
                tokens=usage.tokens,
                cached=usage.cached,
                cache_read_tokens=usage.cache_read_tokens,
                cache_write_tokens=usage.cache_write_tokens,
                estimated=usage.estimated,
                cost=plain_data(cost),
            )
        case CallRetried(task, partition, reason, wait_s):
            return ServedRetry(
                task=task,
                partition=partition,
                reason=reason,
                wait_s=wait_s,
                until=_time_after(wait_s),
            )
        case CallsHeld(reason, wait_s):
            return ServedHold(reason=reason, wait_s=wait_s, until=_time_after(wait_s))
    data = event_data(event)
    return {
        name: value
        for name, value in data.items()
        if name != "kind" and (name, value) != ("run", None)
    }


def routing_data(routing: Routing) -> ServedRouting:
    """Return the chosen partitions with their reasons."""
    return {
        "routes": [
            {
                "partition": route.partition,
                "similarity": plain_data(route.similarity),
                "evidence": route.evidence,
                "reason": route.reason,
            }
            for route in routing.routes
        ],
        "considered": routing.considered,
        "broad": routing.broad,
        "fallback": routing.fallback,
        "unmatched": routing.unmatched,
        "note": routing.note,
    }


def sweep_counts(sweep: Sweep, run: str = "") -> ServedSweep:
    """Return the result of a sweep, with counts of its report and the link to the report."""
    report = sweep.report
    return {
        "partition": sweep.partition,
        "status": str(sweep.status),
        "nodes": sweep.nodes,
        "nodes_read": sweep.nodes_read,
        "nodes_unproven": sweep.nodes_unproven,
        "passes": sweep.passes,
        "seconds": plain_data(sweep.seconds),
        "findings": [finding.text for finding in report.findings] if report else [],
        "flags": len(report.flags) if report else 0,
        "targets": flag_targets(report) if report else [],
        "absences": len(report.absences) if report else 0,
        "errors": list(sweep.errors),
        "report": report_link(run, sweep.partition) if run and report else None,
    }


def report_link(run: str, partition: int) -> str:
    """Return the path of a report."""
    return f"/api/runs/{run}/reports/{partition}"


def flag_targets(report: Report) -> list[int]:
    """Return the partitions that the flags of a report name, sorted and without duplicates."""
    return sorted({flag.target for flag in report.flags if flag.target is not None})


def answer_counts(answer: Answer) -> ServedAnswer:
    """Return the result of a run without the answer's text, which clients fetch by its link."""
    return {
        "run": answer.run,
        "answer": answer.run,
        "partial": answer.partial,
        "stopped": answer.stopped,
        "thesis": answer.synthesis.thesis,
        "coverage": coverage_counts(answer.coverage),
        "own_coverage": coverage_counts(answer.own_coverage),
        "calls": answer.usage.calls,
        "tokens": answer.usage.tokens,
        "cached": answer.usage.cached,
        "cache_read_tokens": answer.usage.cache_read_tokens,
        "cache_write_tokens": answer.usage.cache_write_tokens,
        "cost": plain_data(answer.cost),
    }


def coverage_counts(coverage: Coverage) -> ServedCoverage:
    """Return coverage in partitions and nodes."""
    return {
        "partitions_swept": coverage.partitions_swept,
        "partitions_total": coverage.partitions_total,
        "nodes_read": coverage.nodes_read,
        "nodes_unproven": coverage.nodes_unproven,
        "nodes_total": coverage.nodes_total,
    }


def _time_after(seconds: float) -> str:
    """Return the UTC time ``seconds`` from now, in ISO format."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


async def run_snapshot(pgs: PGS, stored: StoredRun, caller: Caller) -> Json:
    """Return a recorded run with the sweeps recorded so far."""
    runs = await pgs.sessions.runs(stored.session, stored.graph)
    shown = next((one for one in runs if one.get("id") == stored.id), {})
    facts = {name: plain_data(stored.properties.get(name)) for name in RUN_FIELDS}
    return {
        "run": stored.id,
        "graph": stored.graph,
        "session": caller.own_session(stored.session),
        "generation": stored.generation,
        "state": "silent" if stored.silent else stored.status,
        "answered": bool(stored.properties.get("details")),
        **facts,
        "sweeps": [_shorten_sweep(stored.id, sweep) for sweep in shown.get("sweeps") or ()],
    }


def _shorten_sweep(run: str, sweep: Json) -> Json:
    """Return the main fields of a sweep, with the link to its report if there is one."""
    fields: Json = {name: plain_data(sweep.get(name)) for name in SWEEP_FIELDS if name in sweep}
    reported = sweep.get("status") in REPORTED
    return fields | {"report": report_link(run, sweep["partition"]) if reported else None}
