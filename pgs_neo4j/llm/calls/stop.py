"""The reasons for which a run stops buying model calls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pgs_neo4j.errors import BudgetError, DeadlineError, StoppedError, WaitError


class StopKind(StrEnum):
    """The limit of a run that was reached."""

    BUDGET = "budget"
    DEADLINE = "deadline"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Stop:
    """The limit that a run reached, and one sentence about it.

    ``least`` is the smallest limit of that kind under which the call would have been made.
    """

    kind: StopKind
    text: str
    least: float | None = None

    @classmethod
    def from_error(cls, error: StoppedError) -> Stop:
        """Return the stop that an error reports."""
        kinds = {DeadlineError: StopKind.DEADLINE, WaitError: StopKind.WAIT}
        least = error.least if isinstance(error, BudgetError) else None
        return cls(kinds.get(type(error), StopKind.BUDGET), str(error), least)

    def to_error(self, prefix: str = "") -> StoppedError:
        """Return the error of this kind; ``prefix`` comes before its text."""
        kinds = {StopKind.DEADLINE: DeadlineError, StopKind.WAIT: WaitError}
        return kinds.get(self.kind, BudgetError)(f"{prefix}{self.text}")

    @property
    def final(self) -> bool:
        """Whether not even the synthesis may be called."""
        return self.kind is StopKind.WAIT
