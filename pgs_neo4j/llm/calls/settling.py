"""Finds out before the first paid sweep whether later calls of a run will be accepted.

A model that does not exist, an effort that it refuses, or a key that may not use it would otherwise
show only after all sweeps are paid. One call with a few tokens shows it before.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pgs_neo4j.llm.protocol import LLM, reply_signature
from pgs_neo4j.model import Effort, Prompt

# Some interfaces refuse less, and a small model that loses the thread stops here.
ROOM = 16
PROMPT = Prompt(
    task="settling", system="You answer with one word.", user="Are you ready?", question=""
)


@dataclass(frozen=True, slots=True)
class UpcomingCall:
    """A kind of call that a run will make: of which model, with which effort, and how."""

    llm: LLM
    effort: Effort | None
    stream: bool


@dataclass(slots=True)
class Settlements:
    """The kinds of calls that endpoints have answered."""

    _answered: set[tuple[str, Effort | None, bool]] = field(default_factory=set)

    def add(self, llm: LLM, effort: Effort | None, *, stream: bool) -> None:
        """Note that such a call was answered."""
        self._answered.add((reply_signature(llm), effort, stream))

    def know(self, call: UpcomingCall) -> bool:
        """Return whether such a call was answered before."""
        return (reply_signature(call.llm), call.effort, call.stream) in self._answered

    def forget(self, llm: LLM) -> None:
        """Forget the answers of a model, because another one has its name now."""
        gone = reply_signature(llm)
        self._answered = {known for known in self._answered if known[0] != gone}
