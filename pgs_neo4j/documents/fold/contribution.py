"""Computes the contribution of one chunk to the graph: its mentions and statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction, Spans
from pgs_neo4j.text.extraction.names import normalize_name

WEIGHT_UNIT = 1000
"""Steps per unit of a relation's weight. A sum of whole numbers does not depend on their order."""

Named = tuple[str, str]
"""A name's key and the type that a chunk assigns to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMention:
    """An entity in one chunk; ``key`` is its normalized name.

    ``sure`` means that a model found the entity, or that the document gives it. Any other entity
    counts only if several chunks name it. ``short`` is the normalized abbreviation that the chunk
    defines for the entity.
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
        """The key and type of the mention."""
        return self.key, self.type


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A relation in one chunk. ``weight`` is in steps; ``WEIGHT_UNIT`` steps are a weight of 1."""

    source: Named
    target: Named
    type: str
    fact: str
    keywords: tuple[str, ...] = ()
    weight: int = WEIGHT_UNIT

    @property
    def rank(self) -> tuple[int, int, str]:
        """The sort key among a relation's statements; the lowest statement provides the fact."""
        return -self.weight, text_hash(self.fact), self.fact


@dataclass(frozen=True)
class Contribution:
    """The mentions and statements of a chunk: one per entity, and one per relation."""

    chunk: str
    mentions: tuple[EntityMention, ...] = ()
    statements: tuple[Statement, ...] = ()

    @cached_property
    def keys(self) -> set[str]:
        """The keys of all names in mentions and statements."""
        ends = {key for one in self.statements for key, _ in (one.source, one.target)}
        return ends.union(mention.key for mention in self.mentions)


def contribution_of(
    chunk: str, extraction: GroundedExtraction, *, sure: bool = True
) -> Contribution:
    """Return the contribution of a chunk's extraction; repetitions count once.

    A relation is left out unless both its source and its target are among the entities.
    """
    shorts = {
        (normalize_name(one.name), one.type): normalize_name(one.short)
        for one in extraction.definitions
    }
    mentions = tuple(_make_mentions(extraction.entities, shorts, sure=sure))
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


def _make_mentions(
    entities: tuple[GroundedEntity, ...], shorts: Mapping[Named, str], *, sure: bool
) -> Iterator[EntityMention]:
    """Yield one mention per name and type, with its first spelling and all of its spans."""

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
