"""What ends calls is noted, what concerns one call alone is not, and nothing else is caught."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pgs_neo4j.calls.outcome import noting_end
from pgs_neo4j.errors import (
    BudgetError,
    DatabaseError,
    ModelOutputError,
    ModelUnavailableError,
    PromptTooLongError,
)


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
def test_the_end_of_calls_is_noted(error: Exception, told: Told) -> None:
    noted = Told()
    with noting_end(noted):
        raise error
    assert noted == told


def test_an_error_of_the_database_is_not_caught() -> None:
    with pytest.raises(DatabaseError, match="away"), noting_end(Told()):
        raise DatabaseError("away")
