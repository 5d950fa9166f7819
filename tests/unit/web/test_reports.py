"""The report of one sweep: told by a link, and shown to those who may see its run."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.engine import StoredRun
from pgs_neo4j.errors import UnknownRunError, UnknownSweepError
from pgs_neo4j.events import SweepFinished
from pgs_neo4j.model import (
    Absence,
    Citation,
    Finding,
    Flag,
    Quote,
    Report,
    Sweep,
    SweepStatus,
)
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.runs.board import LiveRun
from pgs_neo4j.web.runs.snapshots import run_snapshot
from pgs_neo4j.web.shared import Serving
from tests.fakes.records import RUN, stored_run
from tests.in_process import in_process, serving_of

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
    flags=(Flag(text="P2: see.", target=2, citations=(CITED,)),),
    absences=(Absence(text="No date."),),
)
SWEEP = Sweep(
    partition=4, status=SweepStatus.PARTIAL, nodes=9, read=((0, 8),), passes=2, passes_accepted=1,
    report=REPORT, errors=("429",), seconds=1.5, generation="g1",
)  # fmt: skip
ANN = Caller("ann", "reader", True, frozenset({"papers"}))
BOB = Caller("bob", "operator", True)
EVE = Caller("eve", "reader", True, frozenset({"other"}))
OWNER = Caller("owner")


class Runs:
    """One run of ann's, which has read partition 4."""

    async def get(self, run: str) -> StoredRun:
        if run != RUN:
            raise UnknownRunError(f"there is no run {run}")
        return stored_run("ann / default", status="running")

    async def sweep(self, run: str, partition: int) -> Sweep:
        if partition != SWEEP.partition:
            raise UnknownSweepError(f"run {run} has recorded no sweep of partition {partition}")
        return SWEEP


@pytest.fixture
def serving() -> Serving:
    return serving_of(SimpleNamespace(runs=Runs()), ANN, BOB, EVE, OWNER)


async def test_a_report_is_shown_with_what_it_cites(serving: Serving) -> None:
    async with in_process(serving, "ann") as web:
        told = (await web.get(f"{PATH}/4")).json()
    (finding,) = told["findings"]
    assert told["domain_state"] == "It is about ice."
    assert [(one["valid"], one["element_id"]) for one in finding["citations"]] == [
        (True, "4:x:1"),
        (False, None),
    ]
    assert finding["quotes"] == [{"text": "ice melts in spring", "found": True}]
    assert [(one["target"], one["text"]) for one in told["flags"]] == [(2, "P2: see.")]
    assert (told["absences"], told["errors"]) == (["No date."], ["429"])
    figures = ("run", "graph", "partition", "status", "nodes", "nodes_read", "passes_accepted")
    assert [told[name] for name in figures] == [RUN, "papers", 4, "partial", 9, 8, 1]
    async with in_process(serving, "owner") as web:
        for place, status in (("5", 404), ("0", 422), ("x", 422), ("99999999999", 422)):
            refused = await web.get(f"{PATH}/{place}")
            code = "unknown_sweep" if status == 404 else "invalid"
            assert (refused.status_code, refused.json()["code"]) == (status, code), place


@pytest.mark.parametrize("caller", ["bob", "eve"])
async def test_a_report_of_another_tenant_is_as_unknown_as_none(
    serving: Serving, caller: str
) -> None:
    async with in_process(serving, caller) as web:
        hidden = await web.get(f"{PATH}/4")
        missing = await web.get("/api/runs/rffffffffffff/reports/4")
    assert hidden.status_code == missing.status_code == 404
    assert hidden.text.replace(RUN, "r") == missing.text.replace("rffffffffffff", "r")


@pytest.mark.parametrize(
    ("report", "link"), [(REPORT, f"{PATH}/4"), (None, None)], ids=["report", "none"]
)
async def test_the_event_of_a_sweep_has_the_link_of_its_report(
    report: Report | None, link: str | None
) -> None:
    run = LiveRun(RUN, OWNER, "papers", "default", "Why?")
    status = SweepStatus.ACCEPTED if report else SweepStatus.FAILED
    run.hear(SweepFinished(Sweep(partition=4, status=status, nodes=9, report=report)))
    assert json.loads(run.log.entries[0].data)["report"] == link


async def test_a_snapshot_has_the_links_of_the_reports_so_far() -> None:
    async def listed(session: str, graph: str) -> list[dict[str, Any]]:
        states = {1: "accepted", 2: "partial", 3: "failed", 4: "unread"}
        sweeps = [{"partition": id_, "status": status} for id_, status in states.items()]
        return [{"id": RUN, "sweeps": sweeps}]

    engine: Any = SimpleNamespace(sessions=SimpleNamespace(runs=listed))
    told = await run_snapshot(engine, await Runs().get(RUN), OWNER)
    assert [one["report"] for one in told["sweeps"]] == [f"{PATH}/1", f"{PATH}/2", None, None]
