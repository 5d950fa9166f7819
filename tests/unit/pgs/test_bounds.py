"""No run takes more than the most of its plan, whatever its model replies."""

import pytest

from pgs_neo4j.model import PlannedMost
from pgs_neo4j.pgs.bounds import Reading, sum_largest
from tests.forecasts import MODES, try_graph


@pytest.mark.parametrize("mode", MODES)
async def test_nothing_exceeds_the_most_of_a_plan(mode: str) -> None:
    tried = [await try_graph(seed, mode) for seed in range(12)]
    outcomes = [one for one in tried if one is not None]
    assert len(outcomes) > 6
    assert [one for one in outcomes if one.exceeded] == []


@pytest.mark.parametrize("mode", MODES)
async def test_a_budget_of_the_most_ends_no_run(mode: str) -> None:
    tried = [await try_graph(seed, mode, bounded=True) for seed in range(12, 20)]
    outcomes = [one for one in tried if one is not None]
    assert len(outcomes) > 3
    assert [one for one in outcomes if one.stopped or one.exceeded] == []


async def test_what_a_plan_calls_likely_is_near_to_what_a_usual_run_takes() -> None:
    tried = [await try_graph(seed, "usual") for seed in range(20, 40)]
    outcomes = [one for one in tried if one is not None]
    assert len(outcomes) > 9
    assert [one for one in outcomes if not all(one.hits().values())] == []
    assert all(one.likely.calls == one.used.calls for one in outcomes)


def test_the_most_of_any_two_has_the_largest_of_each_kind() -> None:
    slow = Reading(PlannedMost(calls=9, input_tokens=1, output_tokens=5, cost=1.0), 3)
    long = Reading(PlannedMost(calls=1, input_tokens=90, output_tokens=6, cost=2.0), 4)
    wide = Reading(PlannedMost(calls=2, input_tokens=80, output_tokens=9, cost=9.0), 5)
    assert sum_largest([slow, long, wide], 2) == Reading(
        PlannedMost(calls=11, input_tokens=170, output_tokens=15, cost=11.0), 9
    )
    free = Reading(PlannedMost(calls=1, cost=None), 0)
    assert sum_largest([slow, free], 1).most.cost is None
    assert sum_largest([], 3) == Reading()
