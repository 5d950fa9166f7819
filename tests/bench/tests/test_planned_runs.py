"""A run that takes more than its plan called the most is seen, whatever it takes more of."""

from dataclasses import replace

import pytest

from pgs_neo4j.model import PlannedTotal
from tests.planned_runs import Compared

MOST = PlannedTotal(partitions=2, calls=4, input_tokens=100, output_tokens=50, cost=0.5)


@pytest.mark.parametrize("name", ["partitions", "calls", "input_tokens", "output_tokens", "cost"])
def test_one_more_of_anything_exceeds_the_most(name: str) -> None:
    assert Compared("", MOST, MOST).exceeded == ()
    more = replace(MOST, **{name: getattr(MOST, name) + 1})
    assert Compared("", more, MOST).exceeded == (name.removesuffix("_tokens"),)


def test_shares_are_those_of_the_most() -> None:
    half = PlannedTotal(partitions=1, calls=2, input_tokens=50, output_tokens=25, cost=0.25)
    assert set(Compared("", half, MOST).shares().values()) == {0.5}
    assert Compared("", PlannedTotal(), PlannedTotal()).shares()["cost"] == 0.0
