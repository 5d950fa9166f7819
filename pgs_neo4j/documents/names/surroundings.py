"""Finds the names that a change of some names can reach, and resolves them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.resolution import REACH, Resolution, resolve
from pgs_neo4j.documents.names.index import (
    Block,
    IndexedName,
    placed_blocks,
    read_candidates,
    read_present,
)
from pgs_neo4j.text.variants.likeness import PresentName

Names = Mapping[Named, PresentName]


@dataclass(slots=True)
class Surroundings:
    """The names around those that change: as they will be, and as they were.

    ``present`` are all names of some keys as they will be, ``indexed`` as the database has them;
    names of other keys stay what they are, and are read as they are met.
    """

    db: Database
    graph: str
    resolution: Resolution
    keys: set[str]
    present: dict[Named, PresentName]
    indexed: dict[Named, IndexedName]
    by_block: dict[Block, list[Named]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for name in self.present.values():
            for block in placed_blocks(name, self.resolution.resolver):
                self.by_block[block].append(name.named)

    async def entities_near(self, changed: Iterable[Named]) -> dict[Named, Named]:
        """Return the entities of all present names that changed ones can reach.

        Raises DatabaseError.
        """
        steps = dict.fromkeys(changed, 0)
        frontier = {*steps}
        for step in range(1, 2 * REACH + 1):
            if not frontier:
                break
            near = await self._variants(frontier) | await self._ruled(frontier)
            frontier = near - steps.keys()
            steps |= dict.fromkeys(frontier, step)
        local = {named: self.present[named] for named in steps if named in self.present}
        # In a thread, since many names may share a block, and the right to write must be renewed.
        entities = await asyncio.to_thread(resolve, [*local.values()], self.resolution)
        return {named: entities[named] for named in local if steps[named] <= REACH}

    async def _variants(self, names: Iterable[Named]) -> set[Named]:
        """Return the present variants of some names, as they were and as they will be."""
        resolver = self.resolution.resolver
        versions = [version for named in names for version in self._versions(named)]
        blocks = {name: placed_blocks(name, resolver) for name in versions}
        wanted = {block for own in blocks.values() for block in own}
        self._add(await read_candidates(self.db, self.graph, wanted))
        return {
            named
            for name, own in blocks.items()
            for block in own
            for named in self.by_block.get(block, ())
            if named != name.named and resolver.variant_kind(name, self.present[named])
        }

    async def _ruled(self, names: Iterable[Named]) -> set[Named]:
        """Return the present names that a ruling or a judgment connects with some names."""
        wanted = {*names}
        rulings, judged = self.resolution.rulings, self.resolution.judged
        groups = {rulings.get(named, named) for named in wanted}
        mates = {named for named, into in rulings.items() if into in groups} | groups
        same = {other for named in wanted & judged.keys() for other in judged[named]}
        unread = {key for key, _ in same | (mates & self.resolution.pinned)} - self.keys
        self._add(await read_present(self.db, self.graph, unread))
        return (mates | same) & self.present.keys()

    def _versions(self, named: Named) -> list[PresentName]:
        """Return a name as it was and as it will be."""
        before, after = self.indexed.get(named), self.present.get(named)
        both = [before.name if before else None, after]
        return [*dict.fromkeys(one for one in both if one is not None)]

    def _add(self, found: Mapping[Named, IndexedName]) -> None:
        """Take in names of other keys, which do not change."""
        for named, one in found.items():
            if named[0] in self.keys or named in self.present:
                continue
            self.indexed[named] = one
            self.present[named] = one.name
            for block in placed_blocks(one.name, self.resolution.resolver):
                self.by_block[block].append(named)
