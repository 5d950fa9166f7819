"""Events as they travel: small, and with nothing that a report holds at length."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pgs_neo4j.events import (
    CallRetried,
    CallsHeld,
    Event,
    PassFinished,
    Progressed,
    Routed,
    RunStarted,
    SweepFinished,
    UsageCounted,
    Warned,
)
from pgs_neo4j.model import (
    Absence,
    Finding,
    Flag,
    Report,
    Route,
    Routing,
    Sweep,
    SweepStatus,
    Usage,
)
from pgs_neo4j.web.runs.told import told_data

REPORT = Report(
    partition=4,
    domain_state="state " * 500,
    findings=(Finding(text="It melts.", citations=()), Finding(text="It boils.", citations=())),
    flags=tuple(Flag(text="See.", target=target) for target in (7, 2, None, 7)),
    absences=(Absence(text="No date."),),
)
SWEEP = Sweep(
    partition=4, generation="g1", status=SweepStatus.ACCEPTED, report=REPORT, nodes=9,
    read=((0, 8),), passes=1, seconds=1.25, usage=Usage(calls=1),
)  # fmt: skip


def test_a_report_travels_as_counts_and_findings() -> None:
    data = told_data(SweepFinished(SWEEP))
    assert data == {
        "partition": 4, "status": "accepted", "nodes": 9, "nodes_read": 8, "passes": 1,
        "seconds": 1.25, "findings": ["It melts.", "It boils."], "flags": 4, "targets": [2, 7],
        "absences": 1, "errors": [], "report": None,
    }  # fmt: skip
    assert "state" not in json.dumps(data)
    failed = replace(SWEEP, status=SweepStatus.FAILED, report=None, errors=("no reply",))
    data = told_data(SweepFinished(failed))
    assert (data["status"], data["errors"], data["findings"]) == ("failed", ["no reply"], [])
    assert (data["flags"], data["targets"]) == (0, [])


def test_a_routing_tells_reasons_and_no_ranks() -> None:
    route = Route(partition=4, similarity=0.5, reason="near", evidence=3, matches=(1, 2))
    routing = Routing(routes=(route,), considered=9, note="so")
    assert told_data(Routed(routing)) == {
        "routes": [{"partition": 4, "similarity": 0.5, "evidence": 3, "reason": "near"}],
        "considered": 9, "broad": False, "fallback": False, "unmatched": False, "note": "so",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("event", "data"),
    [
        (RunStarted("r1", resumed=True), {"run": "r1", "resumed": True}),
        (Warned("mind"), {"message": "mind"}),
        *(
            (
                UsageCounted(Usage(calls=2, input_tokens=30, output_tokens=4, cached=1), cost),
                {"calls": 2, "tokens": 34, "cached": 1, "estimated": False, "cost": cost},
            )
            for cost in (None, 0.25)
        ),
        (
            PassFinished(4, 1, 2, None, Usage(calls=1, input_tokens=9, output_tokens=3), 0.5),
            {
                "partition": 4,
                "number": 1,
                "passes": 2,
                "error": None,
                "cost": 0.5,
                "usage": {
                    "calls": 1,
                    "input_tokens": 9,
                    "output_tokens": 3,
                    "estimated": False,
                    "cached": 0,
                },
            },
        ),
        (
            Progressed("load", 3, 0, "rows"),
            {"phase": "load", "done": 3, "total": 0, "what": "rows"},
        ),
    ],
)
def test_other_events_are_their_fields(event: Event, data: dict[str, Any]) -> None:
    assert told_data(event) == data


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        (
            CallRetried("sweep", 4, "429", 20.0),
            {"task": "sweep", "partition": 4, "reason": "429", "wait_s": 20.0},
        ),
        (CallsHeld("it asks to wait", 60.0), {"reason": "it asks to wait", "wait_s": 60.0}),
    ],
)
def test_a_wait_tells_when_it_ends(event: Event, fields: dict[str, object]) -> None:
    data = {**told_data(event)}
    left = datetime.fromisoformat(str(data.pop("until"))) - datetime.now(UTC)
    assert data == fields
    assert event.wait_s - 5 < left.total_seconds() <= event.wait_s
