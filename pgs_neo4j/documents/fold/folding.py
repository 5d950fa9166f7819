"""Folds contributions into the rows of a graph, all at once or as a change to a stored graph."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from pgs_neo4j.documents.fold.contribution import Contribution, EntityMention, Named, Statement
from pgs_neo4j.documents.fold.resolution import Resolution, resolve
from pgs_neo4j.documents.fold.tallies import (
    Belonging,
    EntityRow,
    EntityTally,
    RelationPlace,
    RelationRow,
    RelationTally,
    commonest,
    entity_id,
    entity_row,
    place_of,
    relation_row,
)
from pgs_neo4j.text.name_variants import PresentName, present_name

Types = Mapping[str, Mapping[str, str]]
"""For each key, a map from the type of a mention to the type that this mention counts as."""
STRAY_MOST = 2
"""Maximum number of mentions of a type that counts as a mistake. The limit is low, so that only few
mentions have to move if the type later proves to be right."""
STRAY_RATIO = 3
"""Minimum ratio of a name's mentions with its commonest type to those with a mistaken type."""


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

    def merge(self, other: NameTallies) -> None:
        """Add the mentions of other tallies."""
        for key, own in other.by_key.items():
            for kind, tally in own.items():
                self.of((key, kind)).merge(tally)

    def with_contributions(self, contributions: Iterable[Contribution]) -> NameTallies:
        """Return new tallies that also count the mentions in some contributions."""
        total = NameTallies()
        total.merge(self)
        for one in contributions:
            for mention in one.mentions:
                total.add(mention)
        return total

    def types(self, pinned: Container[Named] = ()) -> dict[str, dict[str, str]]:
        """Return the type that the mentions of each type count as; a pinned name keeps its type."""
        return {
            key: {
                kind: kind if (key, kind) in pinned else main
                for kind, main in assign_types(
                    {kind: tally.count for kind, tally in own.items()}
                ).items()
            }
            for key, own in self.by_key.items()
        }

    def present(self, types: Types) -> dict[Named, PresentName]:
        """Return the present names; a name has the features that all its mentions share."""
        shares: dict[Named, list[EntityTally]] = defaultdict(list)
        for key, own in types.items():
            for kind, main in own.items():
                shares[key, main].append(self.by_key[key][kind])
        return {
            (key, kind): present_name(
                key,
                kind,
                [spelling for tally in tallies for spelling in tally.names],
                sure=any(tally.sure for tally in tallies),
                short=commonest(sum((tally.shorts for tally in tallies), Counter())),
            )
            for (key, kind), tallies in shares.items()
        }


@dataclass(frozen=True, slots=True)
class MentionRow:
    """A mention, the id of its entity's node, and its chunk."""

    entity: str
    chunk: str
    mention: EntityMention


@dataclass(frozen=True, slots=True)
class FoldedGraph:
    """Nodes by id, relationships by place, and the mentions that connect nodes with chunks."""

    entities: Mapping[str, EntityRow]
    relations: Mapping[RelationPlace, RelationRow]
    mentions: tuple[MentionRow, ...]


def fold(
    contributions: Iterable[Contribution], resolution: Resolution | None = None
) -> FoldedGraph:
    """Return the graph of all live chunks. Any sequence of changes must give the same graph."""
    live = [*contributions]
    resolution = resolution or Resolution()
    names = NameTallies()
    for contribution in live:
        for mention in contribution.mentions:
            names.add(mention)
    types = names.types(resolution.pinned)
    entities = resolve(names.present(types).values(), resolution)
    belonging = belonging_of(types, entities)
    return FoldedGraph(
        entities=entity_rows(names, belonging),
        relations=relation_rows(tally_relations(live, belonging)),
        mentions=mention_rows(live, belonging),
    )


def belonging_of(types: Types, entities: Mapping[Named, Named]) -> dict[str, dict[str, Named]]:
    """Return the entity of each key and type; ``types`` has the types that they count as."""
    return {
        key: {kind: entities[key, main] for kind, main in own.items()} for key, own in types.items()
    }


def entity_rows(names: NameTallies, belonging: Belonging) -> dict[str, EntityRow]:
    """Return the nodes of all mentioned names, by id."""
    shares: dict[Named, dict[Named, EntityTally]] = defaultdict(dict)
    for key, own in names.by_key.items():
        for kind, tally in own.items():
            if kind in belonging[key] and tally.count:
                shares[belonging[key][kind]][key, kind] = tally
    rows = (entity_row(entity, tallies) for entity, tallies in shares.items())
    return {row.id: row for row in rows if row is not None}


def tally_relations(
    contributions: Iterable[Contribution], belonging: Belonging
) -> dict[RelationPlace, RelationTally]:
    """Return the tallies of all relations that some chunks state.

    If ends of relations are merged, two statements of a chunk may state the same relation. Then
    only the better statement counts.
    """
    tallies: dict[RelationPlace, RelationTally] = defaultdict(RelationTally)
    for contribution in contributions:
        for place, statement in stated(contribution, belonging).items():
            tallies[place].add(contribution.chunk, statement)
    return dict(tallies)


def stated(contribution: Contribution, belonging: Belonging) -> dict[RelationPlace, Statement]:
    """Return the best statement of a chunk for each relation."""
    found: dict[RelationPlace, Statement] = {}
    for statement in contribution.statements:
        place = place_of(statement.source, statement.type, statement.target, belonging)
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


def mention_rows(
    contributions: Iterable[Contribution], belonging: Belonging
) -> tuple[MentionRow, ...]:
    """Return the mentions of some chunks with their nodes."""
    return tuple(
        MentionRow(entity_id(belonging[mention.key][mention.type]), contribution.chunk, mention)
        for contribution in contributions
        for mention in contribution.mentions
    )


def assign_types(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the type of entity to which the mentions of each type belong.

    A rare type counts as a mistake, and its mentions join the commonest type. Other types stay
    apart: Paris the person and Paris the city are two entities. ``counts`` has the number of
    mentions by type. Types without mentions are left out.
    """
    present = {kind: count for kind, count in counts.items() if count > 0}
    if not present:
        return {}
    most, main = min((-count, kind) for kind, count in present.items())
    return {
        kind: main if count <= STRAY_MOST and count * STRAY_RATIO <= -most else kind
        for kind, count in present.items()
    }
