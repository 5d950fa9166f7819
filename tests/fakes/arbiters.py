"""Arbiters that judge by rule, for tests of ingestion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.documents.enrich.arbiter import ShownName
from pgs_neo4j.graph.hashes import text_hash

Shown = tuple[ShownName, ShownName]


def by_hash(one: ShownName, other: ShownName) -> bool | None:
    """Judge two names by their hash, so that the result is the same in any order and run."""
    return text_hash(one.name.lower() + other.name.lower()) % 3 > 0


@dataclass
class RuledArbiter:
    """Judges by a function of both names. For some names, it raises an error."""

    rule: Callable[[ShownName, ShownName], bool | None] = by_hash
    errors: dict[str, Exception] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    calls: int = 0

    async def judge(self, pairs: Sequence[Shown]) -> list[bool | None]:
        self.calls += 1
        for name in (one.name for pair in pairs for one in pair):
            if name in self.errors:
                raise self.errors[name]
        self.asked += [(one.name, other.name) for one, other in pairs]
        return [self.rule(one, other) for one, other in pairs]
