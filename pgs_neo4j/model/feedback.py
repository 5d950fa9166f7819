"""What people thought of an answer, and what their feedback changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["accepted", "rework", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackResult:
    """The outcome of a run, and the weights that follow it.

    ``former`` is the outcome that it had before, None if it had none. ``changed`` is False if that
    was the same one. ``nodes`` and ``triplets`` count the weights. ``missing`` counts cited nodes
    that no longer exist.
    """

    run: str
    graph: str
    outcome: Outcome
    former: Outcome | None
    changed: bool
    nodes: int
    triplets: int
    missing: int
