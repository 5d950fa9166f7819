"""What later calls show of sweeps that were settled before."""

from __future__ import annotations

from dataclasses import replace

from pgs_neo4j.model import Sweep, SweepStatus
from pgs_neo4j.pgs.sweeping.order import SweepResult
from pgs_neo4j.pgs.waves import settle_sweeps


async def test_a_sweep_is_settled_again_when_another_has_shown_more() -> None:
    """The second asks again when it is settled, which shows that the first was cut."""
    first = Sweep(partition=1, status=SweepStatus.ACCEPTED, nodes=9, read=((0, 9),))
    second = replace(first, partition=2, read=((0, 4),))
    asked: list[bool] = []

    async def settle_first(*, again: bool = True) -> Sweep:
        return replace(first, read=((0, 3),)) if asked else first

    async def settle_second(*, again: bool = True) -> Sweep:
        asked.append(again)
        return replace(second, read=((0, 8),))

    results = [SweepResult(first, settle=settle_first), SweepResult(second, settle=settle_second)]
    settled = await settle_sweeps([*results, SweepResult(second)], again=False)
    assert [one.sweep.read for one in settled] == [((0, 3),), ((0, 8),), ((0, 4),)]
    assert set(asked) == {False}
