"""Every event has a stable kind and becomes plain data."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import get_args

from pgs_neo4j.events import (
    ContextsKnown,
    Event,
    PassFinished,
    Routed,
    RunStarted,
    SweepFinished,
    SweepStarted,
)
from pgs_neo4j.export import event_data
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
from pgs_neo4j.text.json_data import json_text

CITED = Citation(alias="n1", partition=4, node="k", title="t", element_id="4:x:1", rank=0)
SWEEP = Sweep(
    partition=4,
    status=SweepStatus.ACCEPTED,
    nodes=2,
    read=((0, 2),),
    report=Report(partition=4, findings=(Finding(text="x [n1]", citations=(CITED,)),)),
)
FIELDS = """
call_retried: task partition reason wait_s
calls_held: reason wait_s
checked: absences contradicted flags convergences
contexts: contexts
pass_finished: partition number passes error usage cost
phase_finished: phase seconds detail
phase_started: phase
progressed: phase done total what
reply_grew: task partition tokens
reply_rejected: partition number passes reason
routed: routing
run_started: run resumed
search_answered: text
step_started: phase step
sweep_finished: sweep
sweep_started: partition nodes passes keywords
text_streamed: text
usage: usage cost model
warned: message
"""


def test_kinds_and_fields_of_events_stay_and_no_field_hides_kind_or_run() -> None:
    """What reads the lines of a run depends on them."""
    names = {kind: [field.name for field in fields(kind)] for kind in get_args(Event)}
    told = sorted(f"{kind.kind}: {' '.join(names[kind])}" for kind in names)
    assert told == FIELDS.strip().split("\n")
    assert not any({"kind", "run"} & set(names[kind]) for kind in names if kind is not RunStarted)


def test_an_event_is_its_kind_its_run_and_its_fields() -> None:
    usage = Usage(calls=1, input_tokens=9, output_tokens=3)
    assert event_data(PassFinished(4, 1, 2, None, usage, None), "r1") == {
        "kind": "pass_finished", "run": "r1", "partition": 4, "number": 1, "passes": 2,
        "error": None, "cost": None,
        "usage": {
            "calls": 1, "input_tokens": 9, "output_tokens": 3, "estimated": False, "cached": 0,
            "cache_read_tokens": 0, "cache_write_tokens": 0,
        },
    }  # fmt: skip
    route = Route(partition=4, similarity=0.5, reason="near")
    routed = event_data(Routed(Routing(routes=(route,), considered=9)), "r1")
    assert routed["routing"]["routes"] == [
        {"partition": 4, "similarity": 0.5, "reason": "near", "evidence": 0, "matches": []}
    ]
    assert event_data(SweepStarted(4, 2, 1, ("ammonia",)), "r1")["keywords"] == ["ammonia"]
    assert json.loads(json_text(routed)) == routed
    known = event_data(ContextsKnown((("m", "4,096 tokens"), ("n", "unknown"))), "r1")
    assert known["contexts"] == {"m": "4,096 tokens", "n": "unknown"}


def test_a_finished_sweep_has_the_keys_of_an_export_and_no_element_id() -> None:
    data = event_data(SweepFinished(SWEEP), "r1")
    assert (data["kind"], data["run"]) == ("sweep_finished", "r1")
    assert data["sweep"]["status"] == "accepted"
    (finding,) = data["sweep"]["report"]["findings"]
    assert finding["citations"] == [
        {"partition": 4, "alias": "n1", "node": "k", "title": "t", "valid": True}
    ]
    assert "element_id" not in json.dumps(data)
