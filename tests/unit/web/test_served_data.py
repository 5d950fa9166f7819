"""Events and reports as they travel: small events with links, and reports for who may see them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.engine import StoredRun
from pgs_neo4j.errors import UnknownSweepError, unknown_run
from pgs_neo4j.events import CallRetried, CallsHeld, Routed, RunStarted, SweepFinished, UsageCounted
from pgs_neo4j.model import (
    Absence,
    Citation,
    Finding,
    Flag,
    Quote,
    Report,
    Route,
    Routing,
    Sweep,
    SweepStatus,
    Usage,
)
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.runs.served_data import run_snapshot, told_data
from pgs_neo4j.web.shared import Serving
from tests.fakes.records import RUN, giving, stored_run
from tests.in_process import failure, in_process, serving_of

PATH = f"/api/runs/{RUN}/reports"
CITED = Citation(alias="n1", partition=4, node="k1", title="Ice", element_id="4:x:1", rank=0)
REPORT = Report(
    partition=4,
    domain_state="It is about ice.",
    findings=(
        Finding(
            text="It says “ice melts in spring” [n1, n9].",
            citations=(CITED, Citation(alias="n9", partition=4, valid=False)),
            quotes=(Quote("ice melts in spring", found=True),),
        ),
    ),
    flags=tuple(Flag(text="See.", target=target) for target in (7, 2, None, 7)),
    absences=(Absence(text="No date."),),
)
SWEEP = Sweep(
    partition=4, status=SweepStatus.PARTIAL, nodes=9, read=((0, 8),), passes=2, passes_accepted=1,
    report=REPORT, errors=("429",), seconds=1.25, generation="g1",
)  # fmt: skip
FAILED = replace(SWEEP, status=SweepStatus.FAILED, report=None)


def test_a_report_travels_as_counts_and_findings() -> None:
    data = {
        "partition": 4, "status": "partial", "nodes": 9, "nodes_read": 8,
        "nodes_unproven": 0, "passes": 2, "seconds": 1.25, "flags": 4,
        "findings": ["It says “ice melts in spring” [n1, n9]."], "targets": [2, 7],
        "absences": 1, "errors": ["429"], "report": None,
    }  # fmt: skip
    assert told_data(SweepFinished(SWEEP)) == data
    assert told_data(SweepFinished(SWEEP), RUN) == data | {"report": f"{PATH}/4"}
    nothing = {"findings": [], "flags": 0, "targets": [], "absences": 0}
    assert told_data(SweepFinished(FAILED), RUN) == data | nothing | {"status": "failed"}


def test_a_routing_tells_reasons_and_no_ranks() -> None:
    route = Route(partition=4, similarity=0.5, reason="near", evidence=3, matches=(1, 2))
    routing = Routing(routes=(route,), considered=9, note="so")
    assert told_data(Routed(routing)) == {
        "routes": [{"partition": 4, "similarity": 0.5, "evidence": 3, "reason": "near"}],
        "considered": 9, "broad": False, "fallback": False, "unmatched": False, "note": "so",
    }  # fmt: skip


def test_other_events_are_their_fields() -> None:
    assert told_data(RunStarted("r1", resumed=True)) == {"run": "r1", "resumed": True}
    usage = Usage(
        calls=2, input_tokens=30, output_tokens=4, cached=1, cache_read_tokens=20,
        cache_write_tokens=6,
    )  # fmt: skip
    counts = {
        "calls": 2, "tokens": 34, "cached": 1, "cache_read_tokens": 20, "cache_write_tokens": 6,
        "estimated": False, "cost": None,
    }  # fmt: skip
    assert told_data(UsageCounted(usage, None)) == counts


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        (CallRetried("sweep", 4, "429", 20.0),
         {"task": "sweep", "partition": 4, "reason": "429", "wait_s": 20.0}),
        (CallsHeld("it asks to wait", 60.0), {"reason": "it asks to wait", "wait_s": 60.0}),
    ],
)  # fmt: skip
def test_a_wait_tells_when_it_ends(event: CallRetried | CallsHeld, fields: dict[str, Any]) -> None:
    data = {**told_data(event)}
    left = datetime.fromisoformat(str(data.pop("until"))) - datetime.now(UTC)
    assert data == fields
    assert event.wait_s - 5 < left.total_seconds() <= event.wait_s


class Runs:
    """One run of ann's, which has read partition 4."""

    async def get(self, run: str) -> StoredRun:
        if run != RUN:
            raise unknown_run(run)
        return stored_run("ann / default", status="running")

    async def sweep(self, run: str, partition: int) -> Sweep:
        if partition != SWEEP.partition:
            raise UnknownSweepError(f"run {run} has recorded no sweep of partition {partition}")
        return SWEEP


@pytest.fixture
def serving() -> Serving:
    return serving_of(
        SimpleNamespace(runs=Runs()),
        Caller("ann", "reader", True, frozenset({"papers"})),
        Caller("bob", "operator", True),
        Caller("eve", "reader", True, frozenset({"other"})),
        Caller("owner"),
    )


async def test_a_report_is_shown_with_what_it_cites(serving: Serving) -> None:
    async with in_process(serving, "ann") as web:
        told = (await web.get(f"{PATH}/4")).json()
    (finding,) = told["findings"]
    cited = [(one["valid"], one["element_id"]) for one in finding["citations"]]
    assert cited == [(True, "4:x:1"), (False, None)]
    assert finding["quotes"] == [{"text": "ice melts in spring", "found": True}]
    assert [one["target"] for one in told["flags"]] == [7, 2, None, 7]
    assert (told["absences"], told["errors"]) == (["No date."], ["429"])
    figures = ("run", "graph", "partition", "status", "nodes", "nodes_read", "passes_accepted")
    assert [told[name] for name in figures] == [RUN, "papers", 4, "partial", 9, 8, 1]
    async with in_process(serving, "owner") as web:
        for way, status, code in (
            *((f"{PATH}/{place}", 422, "invalid") for place in ("0", "x", "99999999999")),
            *((f"/api/runs/{run}", 422, "invalid") for run in ("r1", RUN.upper(), f"{RUN}0")),
            (f"{PATH}/5", 404, "unknown_sweep"),
        ):
            assert failure(await web.get(way)) == (status, code), way


@pytest.mark.parametrize("caller", ["bob", "eve"])
async def test_a_report_of_another_tenant_is_as_unknown_as_none(
    serving: Serving, caller: str
) -> None:
    async with in_process(serving, caller) as web:
        hidden = await web.get(f"{PATH}/4")
        missing = await web.get("/api/runs/rffffffffffff/reports/4")
    assert hidden.status_code == missing.status_code == 404
    assert hidden.text.replace(RUN, "r") == missing.text.replace("rffffffffffff", "r")


async def test_a_snapshot_has_the_links_of_the_reports_so_far() -> None:
    states = {1: "accepted", 2: "partial", 3: "failed", 4: "unread"}
    sweeps = [{"partition": id_, "status": status} for id_, status in states.items()]
    sessions = SimpleNamespace(runs=giving([{"id": RUN, "sweeps": sweeps}]))
    engine: Any = SimpleNamespace(sessions=sessions)
    told = await run_snapshot(engine, await Runs().get(RUN), Caller("owner"))
    assert [one["report"] for one in told["sweeps"]] == [f"{PATH}/1", f"{PATH}/2", None, None]
