"""Folds contributions into the rows of a graph, all at once or as a change of one that stands."""

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
"""For each key, which type a mention of each type counts as."""
STRAY_MOST = 2
"""Mentions of a type that may be a slip. Few, so that little moves when it turns out to be none."""
STRAY_RATIO = 3
"""Times that the commonest type of the name is mentioned more often, at least."""


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
        """Also count the mentions of other tallies."""
        for key, own in other.by_key.items():
            for kind, tally in own.items():
                self.of((key, kind)).merge(tally)

    def with_contributions(self, contributions: Iterable[Contribution]) -> NameTallies:
        """Return these tallies with what some chunks add."""
        total = NameTallies()
        total.merge(self)
        for one in contributions:
            for mention in one.mentions:
                total.add(mention)
        return total

    def types(self, pinned: Container[Named] = ()) -> dict[str, dict[str, str]]:
        """Return which type a mention of each type counts as; that of a pinned name is its own."""
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
        """Return the present names, each with all that its mentions tell of it."""
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


def fold(
    contributions: Iterable[Contribution], resolution: Resolution | None = None
) -> FoldedGraph:
    """Return the whole graph of all live chunks: the definition that every change must reach."""
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
    """Return the entity of each key and type, from that of the name that it counts as."""
    return {
        key: {kind: entities[key, main] for kind, main in own.items()} for key, own in types.items()
    }


def entity_rows(names: NameTallies, belonging: Belonging) -> dict[str, EntityRow]:
    """Return the nodes of all names that are mentioned."""
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

    Two statements of one chunk that fall on one relation, since their ends are one, count once.
    """
    tallies: dict[RelationPlace, RelationTally] = defaultdict(RelationTally)
    for contribution in contributions:
        for place, statement in stated(contribution, belonging).items():
            tallies[place].add(contribution.chunk, statement)
    return dict(tallies)


def stated(contribution: Contribution, belonging: Belonging) -> dict[RelationPlace, Statement]:
    """Return the statements of a chunk by the relation that they belong to."""
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
    """Return the type of the entity that mentions of each type belong to.

    A stray type joins the commonest one. Others stay apart: Paris the person and Paris the city are
    two entities. ``counts`` has the mentions by type; those without any are left out.
    """
    present = {kind: count for kind, count in counts.items() if count > 0}
    if not present:
        return {}
    most, main = min((-count, kind) for kind, count in present.items())
    return {
        kind: main if count <= STRAY_MOST and count * STRAY_RATIO <= -most else kind
        for kind, count in present.items()
    }
