"""Folds contributions into the rows of a graph, all at once or as a change of one that stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pgs_neo4j.ingest.fold.contribution import Contribution, EntityMention, Named, Statement
from pgs_neo4j.ingest.fold.rows import (
    EntityRow,
    RelationPlace,
    RelationRow,
    entity_id,
    entity_row,
    place_of,
    relation_row,
)
from pgs_neo4j.ingest.fold.tallies import EntityTally, RelationTally
from pgs_neo4j.ingest.fold.types import assign_types

Types = Mapping[str, Mapping[str, str]]
"""For each key, which type a mention of each type counts as."""


@dataclass(slots=True)
class NameTallies:
    """The mentions of some names by key and type."""

    by_key: dict[str, dict[str, EntityTally]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, mention: EntityMention) -> None:
        """Count a mention."""
        self.of(mention.named).add(mention)

    def of(self, named: Named) -> EntityTally:
        """Return the tally of a name and type."""
        key, kind = named
        return self.by_key[key].setdefault(kind, EntityTally())

    def types(self) -> dict[str, dict[str, str]]:
        """Return which type a mention of each type counts as."""
        return {
            key: assign_types({kind: tally.count for kind, tally in own.items()})
            for key, own in self.by_key.items()
        }


@dataclass(frozen=True, slots=True)
class MentionRow:
    """A mention with the node that it belongs to."""

    entity: str
    chunk: str
    mention: EntityMention


@dataclass(frozen=True, slots=True)
class FoldedGraph:
    """Nodes by id, relationships by place, and the mentions that lead from nodes to chunks."""

    entities: Mapping[str, EntityRow]
    relations: Mapping[RelationPlace, RelationRow]
    mentions: tuple[MentionRow, ...]


def fold(contributions: Iterable[Contribution]) -> FoldedGraph:
    """Return the whole graph of all live chunks: the definition that every change must reach."""
    live = [*contributions]
    names = NameTallies()
    for contribution in live:
        for mention in contribution.mentions:
            names.add(mention)
    types = names.types()
    return FoldedGraph(
        entities=entity_rows(names, types),
        relations=relation_rows(tally_relations(live, types)),
        mentions=mention_rows(live, types),
    )


def entity_rows(names: NameTallies, types: Types) -> dict[str, EntityRow]:
    """Return the nodes of all names that are mentioned."""
    shares: dict[Named, list[EntityTally]] = defaultdict(list)
    for key, own in names.by_key.items():
        for kind, tally in sorted(own.items()):
            if kind in types[key]:
                shares[key, types[key][kind]].append(tally)
    rows = (entity_row(entity, tallies) for entity, tallies in shares.items())
    return {row.id: row for row in rows if row is not None}


def tally_relations(
    contributions: Iterable[Contribution], types: Types
) -> dict[RelationPlace, RelationTally]:
    """Return the tallies of all relations that some chunks state.

    Two statements of one chunk that fall on one relation, since their types are one, count once.
    """
    tallies: dict[RelationPlace, RelationTally] = defaultdict(RelationTally)
    for contribution in contributions:
        for place, statement in stated(contribution, types).items():
            tallies[place].add(contribution.chunk, statement)
    return dict(tallies)


def stated(contribution: Contribution, types: Types) -> dict[RelationPlace, Statement]:
    """Return the statements of a chunk by the relation that they belong to."""
    found: dict[RelationPlace, Statement] = {}
    for statement in contribution.statements:
        place = place_of(statement.source, statement.type, statement.target, types)
        if place is None:
            continue
        former = found.get(place)
        if former is None or (statement.rank, statement.keywords) < (former.rank, former.keywords):
            found[place] = statement
    return found


def relation_rows(
    tallies: Mapping[RelationPlace, RelationTally],
) -> dict[RelationPlace, RelationRow]:
    """Return the relationships of tallies that have a statement."""
    rows = ((place, relation_row(place, tally)) for place, tally in tallies.items())
    return {place: row for place, row in rows if row is not None}


def mention_rows(contributions: Iterable[Contribution], types: Types) -> tuple[MentionRow, ...]:
    """Return the mentions of some chunks with their nodes."""
    return tuple(
        MentionRow(
            entity_id((mention.key, types[mention.key][mention.type])), contribution.chunk, mention
        )
        for contribution in contributions
        for mention in contribution.mentions
    )
