"""Computes the effect of changed chunks on the graph, only from the neighborhood of these chunks.

The result equals the fold of all live chunks at once (``fold.folding``). Very many chunks may
mention a hub, and each of these chunks mentions many other entities. So for unchanged chunks, only
the mentions and statements of names that move to another entity are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.fold.contribution import Contribution, Named, Statement
from pgs_neo4j.documents.fold.folding import (
    MentionRow,
    entity_rows,
    mention_rows,
    relation_rows,
    stated,
    tally_relations,
)
from pgs_neo4j.documents.fold.resolution import Resolution
from pgs_neo4j.documents.fold.tallies import (
    Belonging,
    EntityRow,
    RelationPlace,
    RelationRow,
    RelationTally,
    entity_id,
)
from pgs_neo4j.documents.names.index import IndexedName
from pgs_neo4j.documents.names.neighborhood import Neighborhood, read_neighborhood
from pgs_neo4j.documents.stored import read_mentioning, read_relations, read_shared

StatedBy = Mapping[str, Mapping[RelationPlace, Statement]]
"""The statements of each chunk, by the relation to which they belong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The changes to write: new states of nodes and relationships, and deletions.

    ``renamed`` maps an entity to the entity that takes over its node; renaming is the first change.
    ``unbound`` has the changed chunks that stay, whose mentions are replaced. ``moved`` has
    mentions of unchanged chunks. ``vanished`` has the ids of entities without mentions, and
    ``dropped`` has the relations without statements. ``named`` and ``unnamed`` update the index of
    names.
    """

    entities: Mapping[str, EntityRow]
    vanished: tuple[str, ...]
    relations: Mapping[RelationPlace, RelationRow]
    dropped: tuple[RelationPlace, ...]
    mentions: tuple[MentionRow, ...]
    unbound: tuple[str, ...]
    moved: tuple[MovedMentions, ...] = ()
    renamed: Mapping[Named, Named] = field(default_factory=dict)
    named: tuple[IndexedName, ...] = ()
    unnamed: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class MovedMentions:
    """The spellings of one type whose mentions move to another entity.

    ``source`` and ``target`` are the ids of the old and the new entity.
    """

    source: str
    target: str
    type: str
    names: list[str]


async def compute_change(
    db: Database,
    graph: str,
    gone: Iterable[Contribution],
    added: Iterable[Contribution],
    resolution: Resolution | None = None,
    suspects: Iterable[Named] = (),
) -> Change:
    """Return the changes when the chunks ``gone`` are removed and the chunks ``added`` are added.

    ``suspects`` are names that may have to move for another reason, for example a ruling. Raises
    DatabaseError.
    """
    leaving = {one.chunk: one for one in gone}
    coming = {one.chunk: one for one in added}
    arguments = resolution or Resolution(), leaving, coming, [*suspects]
    moving, parts = MovingNames(), dict[str, Contribution]()
    near = await read_neighborhood(db, graph, *arguments)
    while moving.add(near, [*leaving.values(), *parts.values()]):
        parts = await moving.read(db, graph, {*leaving, *coming})
        every = arguments[0], leaving | parts, coming | parts, arguments[3]
        near = await read_neighborhood(db, graph, *every)
    relations, dropped = await _change_relations(db, graph, leaving | parts, coming | parts, near)
    rows = entity_rows(near.names, near.new)
    before = _mentioned_ids(leaving | parts, near.old)
    touched = (
        before | _mentioned_ids(coming | parts, near.new) | {*map(entity_id, near.renamed.values())}
    )
    return Change(
        entities={id_: rows[id_] for id_ in sorted(touched & rows.keys())},
        vanished=tuple(sorted(before - rows.keys())),
        relations=relations,
        dropped=dropped,
        mentions=mention_rows(coming.values(), near.new),
        unbound=tuple(sorted(leaving.keys() & coming.keys())),
        moved=moved_mentions(near, parts.values()),
        renamed=near.renamed,
        named=near.named,
        unnamed=near.unnamed,
    )


def _mentioned_ids(contributions: Mapping[str, Contribution], belonging: Belonging) -> set[str]:
    """Return the ids of the entities that some chunks mention."""
    return {
        entity_id(belonging[mention.key][mention.type])
        for one in contributions.values()
        for mention in one.mentions
    }


async def _change_relations(
    db: Database,
    graph: str,
    leaving: Mapping[str, Contribution],
    coming: Mapping[str, Contribution],
    near: Neighborhood,
) -> tuple[dict[RelationPlace, RelationRow], tuple[RelationPlace, ...]]:
    """Return the new states of relations, and the relations to delete.

    If a relation only gains statements, they are added to its stored tally. If a relation loses a
    statement, its statements are counted again from the chunks that mention both of its ends. A
    relation whose source or target is new is not looked up, because it is also new.
    """
    old, new = near.old, near.new
    existing = {entity for own in old.values() for entity in own.values()}
    before = {chunk: stated(one, old) for chunk, one in leaving.items()}
    after = {chunk: stated(one, new) for chunk, one in coming.items()}
    lost = {
        place
        for chunk, own in before.items()
        for place, statement in own.items()
        if after.get(chunk, {}).get(place) != statement
    }
    tallies = _tally_gained(before, after, lost)
    grown = [
        place
        for place in tallies
        if place not in lost and existing.issuperset((place[0], place[2]))
    ]
    for place, tally in (await read_relations(db, graph, grown, near.former)).items():
        tallies[place].merge(tally)
    async for shared in read_shared(db, graph, lost, {*leaving, *coming}, near.former):
        known = [_keep_known(one, new) for one in shared.values()]
        for place, tally in tally_relations(known, new).items():
            if place in lost:
                tallies[place].merge(tally)
    rows = relation_rows(tallies)
    return rows, tuple(sorted(lost - rows.keys()))


def _tally_gained(
    before: StatedBy, after: StatedBy, lost: Container[RelationPlace]
) -> defaultdict[RelationPlace, RelationTally]:
    """Return the tallies of new statements, and for relations in ``lost``, of all statements."""
    tallies: defaultdict[RelationPlace, RelationTally] = defaultdict(RelationTally)
    for chunk, own in after.items():
        for place, statement in own.items():
            if place in lost or place not in before.get(chunk, {}):
                tallies[place].add(chunk, statement)
    return tallies


def _keep_known(contribution: Contribution, belonging: Belonging) -> Contribution:
    """Return a contribution with only those statements whose ends are in ``belonging``."""
    statements = tuple(
        one
        for one in contribution.statements
        if all(belonging.get(key, {}).get(kind) for key, kind in (one.source, one.target))
    )
    return Contribution(contribution.chunk, (), statements)


@dataclass(slots=True)
class MovingNames:
    """Names whose mentions move, each with its stored entity and its spellings.

    ``concerned`` has all names of the entities that lose or gain mentions. Names are only added to
    it.
    """

    found: dict[Named, tuple[Named, frozenset[str]]] = field(default_factory=dict)
    concerned: set[Named] = field(default_factory=set)

    def add(self, near: Neighborhood, leaving: Iterable[Contribution]) -> bool:
        """Add the moving names of a neighborhood; return whether more chunks must be read."""
        moved = near.moved
        for key, kind in moved:
            entity = near.old[key][kind]
            stored = near.former.get(entity, entity)
            self.found[key, kind] = stored, frozenset(near.stay.by_key[key][kind].names)
        if not self.found:
            return False
        keys = {mention.key for one in leaving for mention in one.mentions}
        concerned = self.concerned | _names_with(near, keys | {key for key, _ in self.found})
        grown = concerned > self.concerned
        self.concerned = concerned
        return bool(moved) or grown

    async def read(
        self, db: Database, graph: str, without: Collection[str]
    ) -> dict[str, Contribution]:
        """Return the chunks that mention moving names, reduced to the ``concerned`` names.

        Chunks in ``without`` are left out. Raises DatabaseError.
        """
        read: dict[str, Contribution] = {}
        async for some in read_mentioning(db, graph, self.found):
            read |= {
                id_: self._reduce_to_concerned(one)
                for id_, one in some.items()
                if id_ not in without
            }
        return read

    def _reduce_to_concerned(self, whole: Contribution) -> Contribution:
        mentions = tuple(one for one in whole.mentions if one.named in self.concerned)
        ends = ((one, {one.source, one.target}) for one in whole.statements)
        statements = tuple(one for one, named in ends if not named.isdisjoint(self.concerned))
        return Contribution(whole.chunk, mentions, statements)


def moved_mentions(near: Neighborhood, parts: Iterable[Contribution]) -> tuple[MovedMentions, ...]:
    """Return the mentions of unchanged chunks that will belong to another entity."""
    moved: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for one in (mention for part in parts for mention in part.mentions):
        before, after = near.old[one.key][one.type], near.new[one.key][one.type]
        if before != after:
            moved[entity_id(before), entity_id(after), one.type].add(one.name)
    return tuple(MovedMentions(*ends, sorted(moved[ends])) for ends in sorted(moved))


def _names_with(near: Neighborhood, keys: Collection[str]) -> set[Named]:
    """Return all names of the entities to which some keys belong, before or after the change."""
    belongings: tuple[Mapping[str, Mapping[str, Named]], ...] = near.old, near.new
    entities = {
        entity for one in belongings for key in keys for entity in one.get(key, {}).values()
    }
    return {
        (key, kind)
        for one in belongings
        for key, own in one.items()
        for kind, entity in own.items()
        if entity in entities
    }
