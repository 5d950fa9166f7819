"""What one chunk contributes to the graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction, Spans
from pgs_neo4j.text.extraction.names import normalize_name

WEIGHT_UNIT = 1000
"""Steps of a relation's weight: sums of whole numbers do not depend on their order."""

Named = tuple[str, str]
"""A name's key and the type that a chunk gives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMention:
    """An entity as one chunk has it; ``key`` is its normalized name.

    ``sure``: a model named it. What statistics name counts only if another chunk names it too.
    ``short`` is the abbreviation that the chunk defines for it, normalized.
    """

    key: str
    type: str
    name: str
    description: str = ""
    spans: Spans = ()
    sentences: tuple[int, ...] = ()
    sure: bool = True
    short: str = ""

    @property
    def named(self) -> Named:
        """Its key and type."""
        return self.key, self.type


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A relation as one chunk states it. ``weight`` counts in steps of ``WEIGHT_UNIT``."""

    source: Named
    target: Named
    type: str
    fact: str
    keywords: tuple[str, ...] = ()
    weight: int = WEIGHT_UNIT

    @property
    def rank(self) -> tuple[int, int, str]:
        """Orders statements of a relation: the one with the lowest rank speaks for it."""
        return -self.weight, text_hash(self.fact), self.fact


@dataclass(frozen=True)
class Contribution:
    """The mentions and statements of the chunk ``chunk``, one of each entity and relation."""

    chunk: str
    mentions: tuple[EntityMention, ...] = ()
    statements: tuple[Statement, ...] = ()

    @cached_property
    def keys(self) -> set[str]:
        """The keys of all names, also of those that only statements have."""
        ends = {key for one in self.statements for key, _ in (one.source, one.target)}
        return ends.union(mention.key for mention in self.mentions)


def contribution_of(
    chunk: str, extraction: GroundedExtraction, *, sure: bool = True
) -> Contribution:
    """Return what a chunk's extraction adds; what it says twice counts once.

    A relation needs both of its ends among the entities.
    """
    shorts = {
        (normalize_name(one.name), one.type): normalize_name(one.short)
        for one in extraction.definitions
    }
    mentions = tuple(_mentions(extraction.entities, shorts, sure=sure))
    known = {mention.named for mention in mentions}
    statements: dict[tuple[Named, str, Named], Statement] = {}
    for relation in extraction.relations:
        source = normalize_name(relation.source), relation.source_type
        target = normalize_name(relation.target), relation.target_type
        if source == target or not known >= {source, target}:
            continue
        stated = Statement(
            source=source,
            target=target,
            type=relation.type,
            fact=relation.fact,
            keywords=relation.keywords,
            weight=round(relation.weight * WEIGHT_UNIT),
        )
        place = source, relation.type, target
        former = statements.get(place)
        if former is None or stated.rank < former.rank:
            statements[place] = stated
    return Contribution(chunk, mentions, tuple(statements.values()))


def _mentions(
    entities: tuple[GroundedEntity, ...], shorts: Mapping[Named, str], *, sure: bool
) -> Iterator[EntityMention]:
    """Yield one mention of each name and type: its first spelling, and all places."""

    def named(entity: GroundedEntity) -> Named:
        return normalize_name(entity.name), entity.type

    for (key, kind), same in groupby(sorted(entities, key=named), named):
        found = [*same]
        first = min(found, key=lambda one: (one.spans[:1] or ((len(key) + 10**9, 0),), one.name))
        yield EntityMention(
            key=key,
            type=kind,
            name=first.name,
            description=max((one.description for one in found), key=lambda text: (len(text), text)),
            spans=tuple(sorted({span for one in found for span in one.spans})),
            sentences=tuple(sorted({place for one in found for place in one.sentences})),
            sure=sure or any(one.given for one in found),
            short=shorts.get((key, kind), ""),
        )
