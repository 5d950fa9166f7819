"""The nodes and relationships that tallies stand for, as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.documents.fold.called import dump_called
from pgs_neo4j.documents.fold.contribution import WEIGHT_UNIT, Named
from pgs_neo4j.documents.fold.tallies import EntityTally, RelationTally
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.text.tokens import estimate

JOINED_FRAGMENTS, JOINED_TOKENS = 8, 1200
"""From here on, descriptions are summarized (dual-level retrieval, published thresholds)."""

LEAST_MENTIONS = 2
"""Mentions by statistics alone from which an entity belongs to the view."""

Belonging = Mapping[str, Mapping[str, Named]]
"""For each key, the entity that a mention of each type belongs to."""
RelationPlace = tuple[Named, str, Named]
"""Source, type, and target of a relation, its ends with the types of their entities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRow:
    """An entity node. ``mentions`` counts what chunks say of it, by type.

    ``viewed``: it belongs to the view. A term that one chunk alone has connects nothing.
    ``fragments_hash`` is that of its descriptions if they are too long to be joined, else empty.
    ``called`` holds the tallies of its names.
    """

    id: str
    key: str
    type: str
    name: str
    description: str
    mentions: int
    viewed: bool
    fragments_hash: str = ""
    called: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRow:
    """A RELATES relationship. ``fact`` speaks for its statements, and has its own weight.

    Weights count in steps of ``WEIGHT_UNIT``.
    """

    source: str
    target: str
    rel_type: str
    fact: str
    fact_steps: int
    keywords: tuple[str, ...]
    steps: int
    mentions: int
    chunks: tuple[str, ...]

    @property
    def weight(self) -> float:
        """The sum of the weights of its statements."""
        return self.steps / WEIGHT_UNIT

    @property
    def fact_weight(self) -> float:
        """The weight of the statement that speaks for it."""
        return self.fact_steps / WEIGHT_UNIT


def entity_id(entity: Named) -> str:
    """Return the id of an entity's node; it is unique within a graph."""
    return f"entity:{entity[1]}:{entity[0]}"


def relation_ends(place: RelationPlace) -> dict[str, str]:
    """Return what finds a relation in the graph: the ids of its ends, and its type."""
    source, kind, target = place
    return {"source": entity_id(source), "target": entity_id(target), "rel_type": kind}


def entity_row(entity: Named, tallies: Mapping[Named, EntityTally]) -> EntityRow | None:
    """Return the node of an entity from the tallies of all its names; None without a mention."""
    total = EntityTally()
    for tally in tallies.values():
        total.merge(tally)
    if not total.count:
        return None
    key, kind = entity
    fragments = total.described
    return EntityRow(
        id=entity_id(entity),
        key=key,
        type=kind,
        name=total.name,
        description=join_fragments(fragments),
        mentions=total.count,
        viewed=total.sure > 0 or total.count >= LEAST_MENTIONS,
        fragments_hash=digest(fragments) if are_long(fragments) else "",
        called=dump_called(tallies),
    )


def relation_row(place: RelationPlace, tally: RelationTally) -> RelationRow | None:
    """Return the relationship of a relation; None without a statement."""
    if tally.best is None:
        return None
    source, kind, target = place
    return RelationRow(
        source=entity_id(source),
        target=entity_id(target),
        rel_type=kind,
        fact=tally.best.fact,
        fact_steps=tally.best.weight,
        keywords=tally.best.keywords,
        steps=tally.weight,
        mentions=tally.count,
        chunks=tuple(tally.chunks[at] for at in sorted(tally.chunks)),
    )


def are_long(fragments: Sequence[str]) -> bool:
    """Whether descriptions are too many or too long to be joined as they are."""
    many = len(fragments) >= JOINED_FRAGMENTS
    return many or (len(fragments) > 1 and sum(map(estimate, fragments)) >= JOINED_TOKENS)


def join_fragments(fragments: Iterable[str]) -> str:
    """Return descriptions as one text: as many as are joined, each once."""
    joined: list[str] = []
    tokens = 0
    for fragment in fragments:
        tokens += estimate(fragment)
        if joined and (tokens > JOINED_TOKENS or len(joined) == JOINED_FRAGMENTS):
            break
        joined.append(fragment)
    return "\n".join(joined)


def place_of(source: Named, kind: str, target: Named, belonging: Belonging) -> RelationPlace | None:
    """Return where a statement belongs; None if both of its ends are one entity."""
    ends = tuple(belonging[key][own] for key, own in (source, target))
    return None if ends[0] == ends[1] else (ends[0], kind, ends[1])
