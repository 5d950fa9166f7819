"""Every event has a stable kind and becomes plain data."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import get_args

import pytest

from pgs_neo4j.events import (
    CallRetried,
    CallsHeld,
    Event,
    PassFinished,
    PhaseFinished,
    PhaseStarted,
    Progressed,
    ReportsChecked,
    Routed,
    RunStarted,
    SearchAnswered,
    StepStarted,
    SweepFinished,
    SweepStarted,
    TextStreamed,
    UsageCounted,
    Warned,
)
from pgs_neo4j.export import data_listener, event_data
from pgs_neo4j.model import (
    Citation,
    Finding,
    Report,
    Route,
    Routing,
    Sweep,
    SweepStatus,
    Usage,
)
from pgs_neo4j.text.json_data import Json, json_text

CITED = Citation(alias="n1", partition=4, node="k", title="t", element_id="4:x:1", rank=0)
SWEEP = Sweep(
    partition=4,
    status=SweepStatus.ACCEPTED,
    nodes=2,
    read=((0, 2),),
    report=Report(partition=4, findings=(Finding(text="x [n1]", citations=(CITED,)),)),
)
ROUTING = Routing(routes=(Route(partition=4, similarity=0.5, reason="near"),), considered=9)
EVENTS: list[tuple[Event, str, Json]] = [
    (PhaseStarted("route"), "phase_started", {"phase": "route"}),
    (
        PhaseFinished("route", 0.25, "9 partitions"),
        "phase_finished",
        {"phase": "route", "seconds": 0.25, "detail": "9 partitions"},
    ),
    (StepStarted("partition", "split"), "step_started", {"phase": "partition", "step": "split"}),
    (
        Progressed("load", 3, 0, "rows"),
        "progressed",
        {"phase": "load", "done": 3, "total": 0, "what": "rows"},
    ),
    (RunStarted("r1", resumed=False), "run_started", {"run": "r1", "resumed": False}),
    (
        Routed(ROUTING),
        "routed",
        {
            "routing": {
                "routes": [
                    {
                        "partition": 4,
                        "similarity": 0.5,
                        "reason": "near",
                        "evidence": 0,
                        "matches": [],
                    }
                ],
                "considered": 9,
                "best_similarity": None,
                "broad": False,
                "fallback": False,
                "note": "",
                "unmatched": False,
            }
        },
    ),
    (
        SweepStarted(4, 2, 1, ("ammonia",)),
        "sweep_started",
        {"partition": 4, "nodes": 2, "passes": 1, "keywords": ["ammonia"]},
    ),
    (
        PassFinished(4, 1, 2, None, Usage(calls=1, input_tokens=9, output_tokens=3), None),
        "pass_finished",
        {
            "partition": 4,
            "number": 1,
            "passes": 2,
            "error": None,
            "usage": {
                "calls": 1,
                "input_tokens": 9,
                "output_tokens": 3,
                "estimated": False,
                "cached": 0,
            },
            "cost": None,
        },
    ),
    (
        CallRetried("sweep", 4, "429", 2.5),
        "call_retried",
        {"task": "sweep", "partition": 4, "reason": "429", "wait_s": 2.5},
    ),
    (
        UsageCounted(Usage(calls=2, input_tokens=30), 0.5, "m"),
        "usage",
        {
            "usage": {
                "calls": 2,
                "input_tokens": 30,
                "output_tokens": 0,
                "estimated": False,
                "cached": 0,
            },
            "cost": 0.5,
            "model": "m",
        },
    ),
    (
        ReportsChecked(absences=4, contradicted=1, flags=2, convergences=3),
        "checked",
        {"absences": 4, "contradicted": 1, "flags": 2, "convergences": 3},
    ),
    (CallsHeld("why", 12.0), "calls_held", {"reason": "why", "wait_s": 12.0}),
    (TextStreamed("## Thesis"), "text_streamed", {"text": "## Thesis"}),
    (SearchAnswered("n1"), "search_answered", {"text": "n1"}),
    (Warned("mind"), "warned", {"message": "mind"}),
]


@pytest.mark.parametrize(("event", "kind", "data"), EVENTS)
def test_an_event_is_its_kind_its_run_and_its_fields(event: Event, kind: str, data: Json) -> None:
    serial = event_data(event, "r1")
    assert serial == {"kind": kind, "run": "r1", **data}
    assert json.loads(json_text(serial)) == serial


def test_a_finished_sweep_has_the_keys_of_an_export_and_no_element_id() -> None:
    data = event_data(SweepFinished(SWEEP), "r1")
    assert (data["kind"], data["run"]) == ("sweep_finished", "r1")
    assert data["sweep"]["status"] == "accepted"
    (finding,) = data["sweep"]["report"]["findings"]
    assert finding["citations"] == [
        {"partition": 4, "alias": "n1", "node": "k", "title": "t", "valid": True}
    ]
    assert "element_id" not in json.dumps(data)


def test_every_event_is_tried_here_and_no_field_hides_kind_or_run() -> None:
    tried = {type(event) for event, _, _ in EVENTS} | {SweepFinished}
    kinds = get_args(Event)
    assert tried == set(kinds)
    assert len({kind.kind for kind in kinds}) == len(kinds)
    names = {field.name for kind in kinds if kind is not RunStarted for field in fields(kind)}
    assert not names & {"kind", "run"}


def test_a_listener_adds_the_run_once_it_is_recorded() -> None:
    sent: list[Json] = []
    listen = data_listener(sent.append)
    for event in (PhaseStarted("partition"), RunStarted("r1", resumed=True), Warned("mind")):
        listen(event)
    assert [(data["kind"], data["run"]) for data in sent] == [
        ("phase_started", None),
        ("run_started", "r1"),
        ("warned", "r1"),
    ]
