"""What ends calls is noted as a stop or an error; what concerns one call alone is not."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import pytest

from pgs_neo4j.errors import (
    BudgetError,
    DatabaseError,
    DeadlineError,
    ModelOutputError,
    ModelUnavailableError,
    PromptTooLongError,
    StoppedError,
)
from pgs_neo4j.llm.calls.outcome import noting_end
from pgs_neo4j.llm.calls.stop import Stop, StopKind


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


@dataclass(slots=True)
class Told:
    stopped: str = ""
    error: str = ""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelOutputError("cut off"), Told()),
        (PromptTooLongError("too long"), Told()),
        (BudgetError("max_calls"), Told(stopped="max_calls")),
        (ModelUnavailableError("gone"), Told(error="gone")),
    ],
)
def test_the_end_of_calls_is_noted_and_an_error_of_the_database_is_not_caught(
    error: Exception, told: Told
) -> None:
    noted = Told()
    with noting_end(noted):
        raise error
    assert noted == told
    with pytest.raises(DatabaseError, match="away"), noting_end(noted):
        raise DatabaseError("away")
