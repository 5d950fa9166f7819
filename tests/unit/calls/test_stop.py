"""A stop says which limit was reached, and raises the error of that kind."""

from __future__ import annotations

import pickle

import pytest

from pgs_neo4j.calls.stop import Stop, StopKind
from pgs_neo4j.errors import BudgetError, DeadlineError, StoppedError


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DeadlineError("no time for this budget"), StopKind.DEADLINE),
        (BudgetError("no money"), StopKind.BUDGET),
    ],
)
def test_a_stop_keeps_kind_and_text_of_its_error(error: StoppedError, kind: StopKind) -> None:
    stop = Stop.from_error(error)
    assert stop == Stop(kind, str(error))
    again = stop.to_error("nothing was read: ")
    assert type(again) is type(error)
    assert str(again) == f"nothing was read: {error}"
    assert pickle.loads(pickle.dumps(stop)) == stop
