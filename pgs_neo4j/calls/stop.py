"""The reasons for which a run stops buying model calls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pgs_neo4j.errors import BudgetError, DeadlineError, StoppedError


class StopKind(StrEnum):
    """The limit of a run that was reached."""

    BUDGET = "budget"
    DEADLINE = "deadline"


@dataclass(frozen=True, slots=True)
class Stop:
    """The limit that a run reached, and one sentence about it."""

    kind: StopKind
    text: str

    @classmethod
    def from_error(cls, error: StoppedError) -> Stop:
        """Return the stop that an error reports."""
        late = isinstance(error, DeadlineError)
        return cls(StopKind.DEADLINE if late else StopKind.BUDGET, str(error))

    def to_error(self, prefix: str = "") -> StoppedError:
        """Return the error of this kind; ``prefix`` comes before its text."""
        kind = DeadlineError if self.kind is StopKind.DEADLINE else BudgetError
        return kind(f"{prefix}{self.text}")
