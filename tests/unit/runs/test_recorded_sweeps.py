"""A recorded sweep reads back equal to the one that was recorded."""

from typing import Any, cast

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import (
    Absence,
    Citation,
    Finding,
    Flag,
    GraphMapping,
    Quote,
    Report,
    Sweep,
    SweepStatus,
    Usage,
)
from pgs_neo4j.runs.runs import Handle
from pgs_neo4j.runs.session import record_sweep
from pgs_neo4j.runs.sweeps import recorded_sweeps

CITED = Citation(alias="n1", partition=4, node="k", title="t", rank=0, element_id="4:x:1")
INVALID = Citation(alias="n9", partition=4, valid=False)
REPORT = Report(
    partition=4,
    domain_state="Read.",
    findings=(
        Finding(
            text="It says “x” [n1]", citations=(CITED, INVALID), quotes=(Quote("x", found=True),)
        ),
        Finding(text="It says “y”", quotes=(Quote("y", found=False),)),
    ),
    flags=(Flag(text="P2: see [n1]", target=2, citations=(CITED,)), Flag(text="somewhere")),
    absences=(Absence(text="no tea"), Absence(text="no milk")),
)
USAGE = Usage(calls=2, input_tokens=9, output_tokens=3, estimated=True, cached=1)


class Memory:
    """A database that gives the rows of `read_sweeps` for what `write_sweeps` was given."""

    def __init__(self) -> None:
        self.written: dict[str, Any] = {}

    async def write(self, _query: object, **parameters: Any) -> list[dict[str, Any]]:
        self.written = parameters
        return [{"id": parameters["sweep"]["id"]}]

    async def read(self, _query: object, **_parameters: Any) -> list[dict[str, Any]]:
        row = self.written
        cited = [{"alias": "n1", "element_id": "4:x:1"}]
        return [
            {
                "id": row["sweep"]["id"],
                "partition": row["partition"],
                "sweep": row["sweep"],
                # The database gives the bullets in any order.
                "findings": [{**each, "cited": cited} for each in reversed(row["findings"])],
                "flags": [{**each, "cited": cited} for each in reversed(row["flags"])],
                "absences": list(reversed(row["absences"])),
            }
        ]


@pytest.mark.parametrize(
    ("status", "report", "errors"),
    [
        (SweepStatus.ACCEPTED, REPORT, ()),
        (SweepStatus.PARTIAL, REPORT, ("429", "the report was cut off")),
        (SweepStatus.FAILED, None, ("its nodes are gone",)),
    ],
)
async def test_a_recorded_sweep_reads_back_equal(
    status: SweepStatus, report: Report | None, errors: tuple[str, ...]
) -> None:
    sweep = Sweep(
        partition=4,
        status=status,
        nodes=9,
        read=((0, 3), (5, 9)) if report else (),
        passes=2,
        passes_accepted=1,
        report=report,
        errors=errors,
        usage=USAGE,
        seconds=1.23456789,
        generation="g1",
        wave=2,
    )
    db = cast("Database", Memory())
    await record_sweep(db, Handle("r1", "holder"), sweep)
    (stored,) = await recorded_sweeps(db, "r1", "g1", GraphMapping())
    assert stored == sweep
    if report is not None:
        assert stored.report is not None
        handles = [citation.element_id for citation in stored.report.citations]
        assert handles == ["4:x:1", None, "4:x:1"]
