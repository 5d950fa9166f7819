"""What the passes of a partition cost, told with the event that ends each."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from pgs_neo4j.calls.ledger import CallCost, Spent
from pgs_neo4j.model import Usage


@dataclass(slots=True)
class PassSpending:
    """The calls of each pass that no event has told yet, by its number."""

    _calls: defaultdict[int, list[CallCost]] = field(default_factory=lambda: defaultdict(list))

    def add(self, number: int, call: CallCost) -> None:
        """Add a call of a pass, which may still be in flight."""
        self._calls[number].append(call)

    def add_cached(self, number: int, usage: Usage) -> None:
        """Add a reply from the cache, which cost nothing."""
        self.add(number, CallCost(Spent(), counted=Spent(usage)))

    def take(self, number: int) -> Spent:
        """Return what the calls of a pass that have ended cost, each once.

        Those of its other half may still be in flight.
        """
        calls = self._calls.pop(number, [])
        self._calls[number] = [call for call in calls if call.counted is None]
        return sum((call.counted for call in calls if call.counted is not None), Spent())
