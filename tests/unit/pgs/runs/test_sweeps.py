"""A stored sweep is read back as it was, or refused if another program has changed it."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import StoredDataError
from pgs_neo4j.model import (
    Absence,
    Citation,
    DoubtedSentence,
    Finding,
    Flag,
    Report,
    Sweep,
    SweepStatus,
    Usage,
)
from pgs_neo4j.pgs.runs.sweep_rows import sweep_rows
from pgs_neo4j.pgs.runs.sweeps import read_recorded_sweeps

CITED = (Citation(alias="n1", partition=2, valid=True, node="k", title="t", rank=0),)
SWEEP = Sweep(
    partition=2,
    status=SweepStatus.PARTIAL,
    nodes=9,
    read=((0, 3), (5, 6)),
    passes=2,
    passes_accepted=1,
    report=Report(
        partition=2,
        domain_state="Ice melts.",
        findings=(Finding(text="Ice is cold.", citations=CITED),),
        flags=(Flag(text="P1: snow", target=1, citations=CITED),),
        absences=(Absence(text="Nothing on fire."),),
        struck=(DoubtedSentence(text="Ice burns.", reason="no node says so", partition=2),),
    ),
    errors=("the reply was cut",),
    usage=Usage(calls=2, input_tokens=7),
    seconds=1.5,
    generation="g1",
    without_text=(1,),
    unproven=((6, 8),),
)
BAD: tuple[object, ...] = (
    *(None, True, -1, 2**60, 1.5, float("nan"), "x", "[]", '{"calls": [1]}', b"x", ...),
    *(["x"], [float("nan")], [[1]], [True], [1.5], [None], [2**60], [-1], {"x": 1}, []),
)


def stored() -> dict[str, Any]:
    """The row that the database returns for the sweep."""
    rows = sweep_rows("r1", SWEEP)
    cited = {"cited": [{"alias": "n1", "element_id": "4:x:1"}]}
    return {
        "id": rows["sweep"]["id"],
        "partition": 2,
        "sweep": {**rows["sweep"]},
        "findings": [{**row, **cited} for row in rows["findings"]],
        "flags": [{**row, **cited} for row in rows["flags"]],
        "absences": [{**row} for row in rows["absences"]],
    }


async def read_back(row: dict[str, Any]) -> Sweep:
    """Read a row as that of a database."""

    class Rows:
        async def read(self, *_: object, **__: object) -> list[dict[str, Any]]:
            return [row]

    (sweep,) = await read_recorded_sweeps(cast(Database, Rows()), "r1", "g1")
    return sweep


async def test_a_sweep_is_read_back_equal() -> None:
    sweep = await read_back(stored())
    assert sweep.report is not None
    assert SWEEP.report is not None
    assert sweep.report.findings[0].citations[0].element_id == "4:x:1"
    assert (sweep.read, sweep.unproven, sweep.usage) == (SWEEP.read, SWEEP.unproven, SWEEP.usage)
    assert sweep.report.struck == SWEEP.report.struck
    assert sweep.report.absences == SWEEP.report.absences


@pytest.mark.parametrize("bad", BAD, ids=repr)
async def test_a_changed_property_is_refused_or_read_as_its_type(bad: object) -> None:
    """Whatever is accepted has the type that it should have; everything else is told."""
    refused = 0
    for part in ("sweep", "findings", "flags", "absences"):
        whole = stored()
        own = whole[part] if part == "sweep" else whole[part][0]
        for name in own:
            changed = own | {name: bad}
            try:
                sweep = await read_back(whole | {part: changed if part == "sweep" else [changed]})
            except StoredDataError:
                refused += 1
                continue
            assert sweep.report is not None
            assert isinstance(sweep.report.domain_state, str)
            assert all(isinstance(one.text, str) for one in sweep.report.flags)
            assert sum(last - first for first, last in sweep.read) <= sweep.nodes < 2**54
            assert all(isinstance(one, str) for one in sweep.errors)
    assert refused > 9


@pytest.mark.parametrize(
    "changed",
    [
        {"read_first": [0], "read_last": [3, 6]},
        {"read_first": [0, 5], "read_last": [3, 4]},
        {"read_first": [0, 2], "read_last": [3, 6]},
        {"read_first": [0], "read_last": [2**52]},
        {"unproven_first": [0], "unproven_last": [2**52]},
        {"struck": ["a", "b"]},
        {"status": "unknown"},
    ],
    ids=str,
)
async def test_properties_that_do_not_fit_each_other_are_refused(changed: dict[str, Any]) -> None:
    row = stored()
    with pytest.raises(StoredDataError, match="a report was changed by another program"):
        await read_back(row | {"sweep": row["sweep"] | changed})
