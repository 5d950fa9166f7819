"""Sums of what chunks say of an entity or a relation; the order of the chunks never matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pgs_neo4j.documents.fold.contribution import EntityMention, Statement
from pgs_neo4j.graph.hashes import text_hash

MOST_FRAGMENTS = 64
"""Descriptions that an entity keeps: those with the lowest hashes, an even sample."""
MOST_CHUNKS = 5
"""Chunks that a relation names: those with the lowest hashes."""


@dataclass(slots=True)
class EntityTally:
    """The mentions of one name and type: how many, how spelled, how described.

    ``sure`` counts those of a model, and ``shorts`` those that an abbreviation is defined for.
    """

    count: int = 0
    sure: int = 0
    names: Counter[str] = field(default_factory=Counter)
    shorts: Counter[str] = field(default_factory=Counter)
    fragments: dict[int, str] = field(default_factory=dict)

    def add(self, mention: EntityMention) -> None:
        """Count a mention."""
        self.count += 1
        self.sure += mention.sure
        self.names[mention.name] += 1
        if mention.short:
            self.shorts[mention.short] += 1
        self.add_fragments([mention.description])

    def add_fragments(self, texts: Iterable[str]) -> None:
        """Keep the descriptions with the lowest hashes."""
        self._keep({text_hash(text): text for text in texts if text})

    def _keep(self, fragments: Mapping[int, str]) -> None:
        self.fragments.update(fragments)
        if len(self.fragments) > MOST_FRAGMENTS:
            lowest = sorted(self.fragments)[:MOST_FRAGMENTS]
            self.fragments = {place: self.fragments[place] for place in lowest}

    def merge(self, other: EntityTally) -> None:
        """Add the mentions of another tally."""
        self.count += other.count
        self.sure += other.sure
        self.names += other.names
        self.shorts += other.shorts
        self._keep(other.fragments)

    @property
    def name(self) -> str:
        """The commonest spelling."""
        return commonest(self.names)

    @property
    def described(self) -> list[str]:
        """The descriptions, in an order that depends on nothing but them."""
        return [self.fragments[place] for place in sorted(self.fragments)]


@dataclass(slots=True)
class RelationTally:
    """The statements of one relation: how many, their weight, and the one that speaks for it."""

    count: int = 0
    weight: int = 0
    best: Statement | None = None
    chunks: dict[int, str] = field(default_factory=dict)

    def add(self, chunk: str, statement: Statement) -> None:
        """Count a statement of a chunk."""
        self.merge(RelationTally(1, statement.weight, statement, keep_lowest([chunk])))

    def merge(self, other: RelationTally) -> None:
        """Add the statements of another tally."""
        self.count += other.count
        self.weight += other.weight
        both = [one for one in (self.best, other.best) if one is not None]
        self.best = min(both, key=lambda one: (one.rank, one.keywords), default=None)
        self.chunks = _lowest({**self.chunks, **other.chunks})


def commonest(counts: Mapping[str, int]) -> str:
    """Return what is counted most; of equals, the first in the alphabet; empty without any."""
    return min(counts, key=lambda one: (-counts[one], one), default="")


def keep_lowest(chunks: Iterable[str]) -> dict[int, str]:
    """Return the chunks that a relation names, by hash in ascending order."""
    return _lowest({text_hash(chunk): chunk for chunk in chunks})


def _lowest(by_hash: Mapping[int, str]) -> dict[int, str]:
    return {place: by_hash[place] for place in sorted(by_hash)[:MOST_CHUNKS]}
