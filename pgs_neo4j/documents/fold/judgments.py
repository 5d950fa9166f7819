"""What a model judged on pairs of names: whether both name the same thing.

A judgment makes one name a variant of the other, as letters do. So it chains no names, has no
order, and gives way to what people rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.resolution import Judged


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a model said of two names of one type, the first in the alphabet first."""

    one: Named
    other: Named
    same: bool

    @property
    def pair(self) -> tuple[Named, Named]:
        """Both names."""
        return self.one, self.other


def mates_of(judgments: Iterable[Judgment]) -> Judged:
    """Return for each name those that name the same thing."""
    mates: dict[Named, set[Named]] = defaultdict(set)
    for judgment in judgments:
        if judgment.same:
            mates[judgment.one].add(judgment.other)
            mates[judgment.other].add(judgment.one)
    return {named: frozenset(others) for named, others in mates.items()}
