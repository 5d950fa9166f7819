"""Reads of chunks that stay only what concerns the names that move to another entity.

A hub may be mentioned by very many chunks, each of which mentions many others. What these say of
others neither goes nor comes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.fold.contribution import Contribution, Named
from pgs_neo4j.documents.fold.rows import entity_id
from pgs_neo4j.documents.names.neighborhood import Neighborhood
from pgs_neo4j.documents.stored import read_mentioning


@dataclass(frozen=True, slots=True)
class MovedMentions:
    """Mentions by spelling and type that leave one entity for another; both by id."""

    source: str
    target: str
    type: str
    names: list[str]


@dataclass(slots=True)
class MovingNames:
    """Names whose mentions move, each with its stored entity and its spellings.

    ``concerned`` are all names of the entities that lose or gain any; it only grows.
    """

    found: dict[Named, tuple[Named, frozenset[str]]] = field(default_factory=dict)
    concerned: set[Named] = field(default_factory=set)

    def add(self, near: Neighborhood, leaving: Iterable[Contribution]) -> bool:
        """Add the names that move in a neighborhood; return whether more is to be read."""
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
        """Return what concerns them of the chunks that mention them. Raises DatabaseError."""
        read: dict[str, Contribution] = {}
        async for some in read_mentioning(db, graph, self.found):
            read |= {id_: self._part(one) for id_, one in some.items() if id_ not in without}
        return read

    def _part(self, whole: Contribution) -> Contribution:
        mentions = tuple(one for one in whole.mentions if one.named in self.concerned)
        ends = ((one, {one.source, one.target}) for one in whole.statements)
        statements = tuple(one for one, named in ends if not named.isdisjoint(self.concerned))
        return Contribution(whole.chunk, mentions, statements)


def moved_mentions(near: Neighborhood, parts: Iterable[Contribution]) -> tuple[MovedMentions, ...]:
    """Return the mentions of some chunks that stay, and that will belong to another entity."""
    moved: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for one in (mention for part in parts for mention in part.mentions):
        before, after = near.old[one.key][one.type], near.new[one.key][one.type]
        if before != after:
            moved[entity_id(before), entity_id(after), one.type].add(one.name)
    return tuple(MovedMentions(*ends, sorted(moved[ends])) for ends in sorted(moved))


def _names_with(near: Neighborhood, keys: Collection[str]) -> set[Named]:
    """Return all names of the entities that some keys belong to, or will belong to."""
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
