"""Events of the engine as they travel: small, and without whole reports."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pgs_neo4j.events import CallRetried, CallsHeld, Event, Routed, SweepFinished, UsageCounted
from pgs_neo4j.export import event_data
from pgs_neo4j.model import Answer, Coverage, Report, Routing, Sweep
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.web.runs.served_data import (
    ServedAnswer,
    ServedCoverage,
    ServedHold,
    ServedRetry,
    ServedRouting,
    ServedSweep,
    ServedUsage,
)


def told_data(event: Event, run: str = "") -> Mapping[str, object]:
    """Return the data of an event of a run, if there is one; reports travel as counts and links."""
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
                task=task, partition=partition, reason=reason, wait_s=wait_s, until=_after(wait_s)
            )
        case CallsHeld(reason, wait_s):
            return ServedHold(reason=reason, wait_s=wait_s, until=_after(wait_s))
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
    """Return how a sweep of a run ended, with the counts of its report and the link to it."""
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
    """Return the partitions that the flags of a report name, each once."""
    return sorted({flag.target for flag in report.flags if flag.target is not None})


def answer_counts(answer: Answer) -> ServedAnswer:
    """Return how a run ended; its text is fetched by its link."""
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


def _after(seconds: float) -> str:
    """Return the time after a wait that begins now."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()
