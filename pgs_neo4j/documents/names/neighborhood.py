"""Reads all that a change of some chunks can touch: names, entities, and what they are called.

What entities are called stands on their nodes; only where it does not hold are mentions read. The
names that a changed name can reach, by variants, rulings, and judgments, are resolved with it.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.fold.contribution import Contribution, Named
from pgs_neo4j.documents.fold.folding import NameTallies, Types, belonging_of
from pgs_neo4j.documents.fold.resolution import REACH, Resolution, resolve
from pgs_neo4j.documents.fold.tallies import Belonging, entity_id, load_called
from pgs_neo4j.documents.names.index import (
    Block,
    IndexedName,
    placed_blocks,
    read_candidates,
    read_present,
)
from pgs_neo4j.documents.stored import CalledEntities, read_names
from pgs_neo4j.text.name_variants import PresentName


@dataclass(slots=True, kw_only=True)
class Neighborhood:
    """Names with all names of their entities, before and after a change.

    ``stay`` counts what neither goes nor comes, ``names`` what there will be. ``old`` and ``new``
    tell the entity of each key and type, and ``indexed`` what the index holds. ``renamed`` are
    entities whose nodes become those of others; ``old`` has them under their new names.
    """

    stay: NameTallies = field(default_factory=NameTallies)
    names: NameTallies = field(default_factory=NameTallies)
    types: Types = field(default_factory=dict)
    old: dict[str, dict[str, Named]] = field(default_factory=dict)
    new: Belonging = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    indexed: dict[Named, IndexedName] = field(default_factory=dict)
    wanted: dict[Named, IndexedName] = field(default_factory=dict)
    renamed: dict[Named, Named] = field(default_factory=dict)

    @property
    def moved(self) -> list[Named]:
        """Names and types whose mentions that stay will belong to another entity."""
        return [
            (key, kind)
            for key, own in sorted(self.stay.by_key.items())
            for kind in sorted(own)
            if own[kind].count and self.old[key][kind] != self.new[key][kind]
        ]

    @property
    def former(self) -> dict[Named, Named]:
        """The stored names of the entities whose nodes are renamed, by their new ones."""
        return {after: before for before, after in self.renamed.items()}

    @property
    def named(self) -> tuple[IndexedName, ...]:
        """Names to store, since they are new, or say or lead to something else."""
        return tuple(
            one for named, one in sorted(self.wanted.items()) if self.indexed.get(named) != one
        )

    @property
    def unnamed(self) -> tuple[Named, ...]:
        """Names that nothing mentions any more."""
        return tuple(sorted(self.indexed.keys() - self.wanted.keys()))


async def read_neighborhood(
    db: Database,
    graph: str,
    resolution: Resolution,
    leaving: Mapping[str, Contribution],
    coming: Mapping[str, Contribution],
    suspects: Iterable[Named],
) -> Neighborhood:
    """Return what a change touches, with each name where it will belong. Raises DatabaseError.

    It holds an entity with all of its names, and a name with all of its types, so that nothing in
    it depends on what was not read.
    """
    found = Neighborhood()
    suspected = {*suspects}
    keys = {key for one in (*leaving.values(), *coming.values()) for key in one.keys}
    keys |= {key for key, _ in suspected}
    while keys:
        await _gather(db, graph, found, keys, leaving)
        found.names = found.stay.with_contributions(coming.values())
        found.types = found.names.types(resolution.pinned)
        keys = await _resolve(db, graph, found, resolution, suspected)
    for one in leaving.values():
        for key, kind in (mention.named for mention in one.mentions):
            found.old.setdefault(key, {}).setdefault(kind, (key, kind))  # nothing stands of it
    found.renamed = renamed_entities(found.stay, found.old, found.new)
    for own in found.old.values() if found.renamed else ():
        own |= {kind: found.renamed.get(entity, entity) for kind, entity in own.items()}
    return found


async def _gather(
    db: Database,
    graph: str,
    found: Neighborhood,
    keys: set[str],
    leaving: Mapping[str, Contribution],
) -> None:
    """Read names by key, their entities, and all other names of these."""
    entities = {one.entity for one in found.indexed.values()}
    leaves = {mention.key for one in leaving.values() for mention in one.mentions}
    while keys:
        found.keys |= keys
        indexed = await read_present(db, graph, keys)
        found.indexed |= indexed
        unread = {one.entity for one in indexed.values()} - entities
        entities |= unread
        losing = {one.entity for (key, _), one in found.indexed.items() if key in leaves}
        called = await read_called(db, graph, unread, leaving.keys(), losing)
        found.stay.merge(called.names)
        for (key, kind), entity in called.entities.items():
            found.old.setdefault(key, {})[kind] = entity
        keys = {key for key, _ in called.entities} - found.keys


async def read_called(
    db: Database,
    graph: str,
    entities: Iterable[Named],
    gone: Collection[str],
    losing: Container[Named],
) -> CalledEntities:
    """Return what ``read_names`` would, from the tallies that nodes keep where they hold.

    Mentions are counted again for entities that are ``losing`` some, and for nodes whose tallies
    are missing or wrong, as after a change of the graph by hand. Raises DatabaseError.
    """
    wanted = sorted({*entities})
    names = NameTallies()
    owners: dict[Named, Named] = {}
    ids = [entity_id(entity) for entity in wanted if entity not in losing]
    query = queries.get("documents/names/read_called")
    rows = await db.read(query, graph=graph, entities=ids) if ids else []
    for row in (entity for whole in rows for entity in whole["entities"]):
        entity = row["entity_key"], row["entity_type"]
        tallies = load_called(row["called"] or "", row["mentions"])
        for named, tally in (tallies or {}).items():
            owners[named] = entity
            names.of(named).merge(tally)
    held = {*owners.values()}
    counted = await read_names(db, graph, (one for one in wanted if one not in held), gone)
    names.merge(counted.names)
    return CalledEntities(names, owners | {**counted.entities})


async def _resolve(
    db: Database,
    graph: str,
    found: Neighborhood,
    resolution: Resolution,
    suspects: set[Named],
) -> set[str]:
    """Decide where each name belongs; return keys that have to be read for it."""
    present = found.names.present(found.types)
    changed = {
        named
        for named in {*present, *found.indexed}
        if named not in found.indexed or present.get(named) != found.indexed[named].name
    }
    entities = {named: found.indexed[named].entity for named in present.keys() - changed}
    around = Surroundings(db, graph, resolution, found.keys, {**present}, {**found.indexed})
    near = await around.entities_near(changed | suspects)
    entities |= {named: entity for named, entity in near.items() if named in present}
    far = {
        named: entity
        for named, entity in near.items()
        if named not in present and around.indexed[named].entity != entity
    }
    keys = {named[0] for named in (*far, *far.values(), *entities.values())} - found.keys
    if not keys:
        found.wanted = {
            named: IndexedName(name, entities[named]) for named, name in present.items()
        }
        found.new = belonging_of(found.types, entities)
    return keys


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
        """Return the entities of all present names that ``changed`` names can reach.

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


def renamed_entities(stay: NameTallies, old: Belonging, new: Belonging) -> dict[Named, Named]:
    """Return the entities whose nodes become those of others, each with that other one.

    A node goes where most of its staying mentions belong, unless another brings more there. One
    whose id is taken gets an id that another one leaves. The result does not depend on any order.
    """
    brought: Counter[tuple[Named, Named]] = Counter()
    for key, own in stay.by_key.items():
        for kind, tally in own.items():
            if tally.count:
                brought[old[key][kind], new[key][kind]] += tally.count
    if all(before == after for before, after in brought):
        return {}
    placed = _best_places(brought)
    taken, standing = (
        {*placed.values()},
        {entity for own in old.values() for entity in own.values()},
    )
    homeless = sorted(entity for entity in standing & taken if entity not in placed)
    left = sorted(placed.keys() - taken)
    placed |= dict(zip(homeless, left, strict=False))
    return {before: after for before, after in sorted(placed.items()) if before != after}


def _best_places(brought: Mapping[tuple[Named, Named], int]) -> dict[Named, Named]:
    """Return one place for each entity and one entity for each place, most mentions first."""
    placed: dict[Named, Named] = {}
    taken: set[Named] = set()
    for before, after in sorted(
        brought, key=lambda pair: (-brought[pair], pair[0] != pair[1], pair)
    ):
        if before not in placed and after not in taken:
            placed[before] = after
            taken.add(after)
    return placed
