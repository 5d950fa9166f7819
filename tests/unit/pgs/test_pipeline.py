"""What the synthesis shows of sweeps that were settled before it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.model import Sweep, SweepStatus
from pgs_neo4j.pgs import pipeline
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.sweeping.order import SweepResult

SWEEP = Sweep(
    partition=1,
    status=SweepStatus.ACCEPTED,
    nodes=9,
    read=((0, 4),),
    unproven=((4, 9),),
    passes=2,
    passes_accepted=2,
)


@pytest.mark.parametrize(
    ("change", "warned"),
    [
        ({}, False),
        ({"read": ((0, 9),), "unproven": ()}, False),  # it proves the rest
        ({"unproven": (), "passes_accepted": 1}, True),
        ({"read": (), "passes_accepted": 1}, True),
    ],
)
async def test_only_a_cut_is_called_a_cut_and_the_answer_has_what_is_recorded(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], warned: bool
) -> None:
    """The sweep is recorded as it is settled, so the answer must not keep an earlier state."""
    now = replace(SWEEP, **change)

    async def settle(*, again: bool = True) -> Sweep:
        return now

    async def read_coverage(run: Any) -> Read:
        return Read({})

    monkeypatch.setattr(pipeline, "_read_coverage", read_coverage)
    warnings: list[str] = []
    tools = SimpleNamespace(log=SimpleNamespace(warn=warnings.append))
    results = [SweepResult(SWEEP, settle=settle)]
    run: Any = SimpleNamespace(tools=tools, results=results, sweeps=(SWEEP,))
    await pipeline.withdraw_cut_nodes(run)
    assert run.sweeps == (now,)
    assert warnings == ([pipeline.CUT_LATE] if warned else [])
