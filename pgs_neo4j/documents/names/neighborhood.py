"""Reads all names and entities that a change of some chunks can affect.

The nodes of entities store the tallies of their names. Mentions are read only if these tallies are
not valid. A changed name is resolved together with all names that it can reach by variants,
rulings, and judgments.
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

    ``stay`` counts the mentions that the change does not touch, and ``names`` counts all mentions
    after the change. ``old`` and ``new`` map each key and type to its entity. ``indexed`` has the
    names that the index contains, and ``wanted`` has the names that it should contain. ``renamed``
    maps an entity to the entity that takes over its node; ``old`` has renamed entities under their
    new names.
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
        """The names and types whose untouched mentions move to another entity."""
        return [
            (key, kind)
            for key, own in sorted(self.stay.by_key.items())
            for kind in sorted(own)
            if own[kind].count and self.old[key][kind] != self.new[key][kind]
        ]

    @property
    def former(self) -> dict[Named, Named]:
        """The stored names of renamed entities, by their new names."""
        return {after: before for before, after in self.renamed.items()}

    @property
    def named(self) -> tuple[IndexedName, ...]:
        """The names to store, because they are new, or their features or their entity changed."""
        return tuple(
            one for named, one in sorted(self.wanted.items()) if self.indexed.get(named) != one
        )

    @property
    def unnamed(self) -> tuple[Named, ...]:
        """The names to delete, because nothing mentions them anymore."""
        return tuple(sorted(self.indexed.keys() - self.wanted.keys()))


async def read_neighborhood(
    db: Database,
    graph: str,
    resolution: Resolution,
    leaving: Mapping[str, Contribution],
    coming: Mapping[str, Contribution],
    suspects: Iterable[Named],
) -> Neighborhood:
    """Return everything that a change affects, with the future entity of each name.

    The result has each entity with all of its names, and each name with all of its types. So no
    part of it depends on data that was not read. Raises DatabaseError.
    """
    found = Neighborhood()
    suspected = {*suspects}
    keys = {key for one in (*leaving.values(), *coming.values()) for key in one.keys}
    keys |= {key for key, _ in suspected}
    while keys:
        await _gather_names(db, graph, found, keys, leaving)
        found.names = found.stay.with_contributions(coming.values())
        found.types = found.names.types(resolution.pinned)
        keys = await _resolve_names(db, graph, found, resolution, suspected)
    for one in leaving.values():
        for key, kind in (mention.named for mention in one.mentions):
            # If the graph does not contain the name, the name counts as an entity of its own.
            found.old.setdefault(key, {}).setdefault(kind, (key, kind))
    found.renamed = renamed_entities(found.stay, found.old, found.new)
    for own in found.old.values() if found.renamed else ():
        own |= {kind: found.renamed.get(entity, entity) for kind, entity in own.items()}
    return found


async def _gather_names(
    db: Database,
    graph: str,
    found: Neighborhood,
    keys: set[str],
    leaving: Mapping[str, Contribution],
) -> None:
    """Read the names with some keys, their entities, and all other names of these entities."""
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
    """Return the same as ``read_names``, but from the tallies on the nodes if these are valid.

    Mentions are counted again for entities that are ``losing`` mentions, and for nodes with missing
    or wrong tallies, for example after a manual change of the graph. Raises DatabaseError.
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


async def _resolve_names(
    db: Database,
    graph: str,
    found: Neighborhood,
    resolution: Resolution,
    suspects: set[Named],
) -> set[str]:
    """Decide the entity of each name, or return the keys that must be read before that."""
    present = found.names.present(found.types)
    changed = {
        named
        for named in {*present, *found.indexed}
        if named not in found.indexed or present.get(named) != found.indexed[named].name
    }
    entities = {named: found.indexed[named].entity for named in present.keys() - changed}
    surroundings = Surroundings(db, graph, resolution, found.keys, {**present}, {**found.indexed})
    near = await surroundings.entities_near(changed | suspects)
    entities |= {named: entity for named, entity in near.items() if named in present}
    far = {
        named: entity
        for named, entity in near.items()
        if named not in present and surroundings.indexed[named].entity != entity
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
    """The names around the changed names, before and after the change.

    ``present`` has all names with the ``keys`` after the change, and ``indexed`` has their stored
    state. Names with other keys do not change, and are read when they are reached.
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
            near = await self._find_variants(frontier) | await self._find_ruled(frontier)
            frontier = near - steps.keys()
            steps |= dict.fromkeys(frontier, step)
        local = {named: self.present[named] for named in steps if named in self.present}
        # Many names may share a block, so resolving can take long. In a thread, it does not block
        # the event loop, which must renew the right to write.
        entities = await asyncio.to_thread(resolve, [*local.values()], self.resolution)
        return {named: entities[named] for named in local if steps[named] <= REACH}

    async def _find_variants(self, names: Iterable[Named]) -> set[Named]:
        """Return the present variants of names, in their forms before and after the change."""
        resolver = self.resolution.resolver
        versions = [version for named in names for version in self._list_versions(named)]
        blocks = {name: placed_blocks(name, resolver) for name in versions}
        wanted = {block for own in blocks.values() for block in own}
        self._add_unchanged(await read_candidates(self.db, self.graph, wanted))
        return {
            named
            for name, own in blocks.items()
            for block in own
            for named in self.by_block.get(block, ())
            if named != name.named and resolver.variant_kind(name, self.present[named])
        }

    async def _find_ruled(self, names: Iterable[Named]) -> set[Named]:
        """Return the present names that rulings or judgments connect with some names."""
        wanted = {*names}
        rulings, judged = self.resolution.rulings, self.resolution.judged
        groups = {rulings.get(named, named) for named in wanted}
        mates = {named for named, into in rulings.items() if into in groups} | groups
        same = {other for named in wanted & judged.keys() for other in judged[named]}
        unread = {key for key, _ in same | (mates & self.resolution.pinned)} - self.keys
        self._add_unchanged(await read_present(self.db, self.graph, unread))
        return (mates | same) & self.present.keys()

    def _list_versions(self, named: Named) -> list[PresentName]:
        """Return the forms of a name before and after the change, only once if they are equal."""
        before, after = self.indexed.get(named), self.present.get(named)
        both = [before.name if before else None, after]
        return [*dict.fromkeys(one for one in both if one is not None)]

    def _add_unchanged(self, found: Mapping[Named, IndexedName]) -> None:
        """Add names of other keys, which do not change."""
        for named, one in found.items():
            if named[0] in self.keys or named in self.present:
                continue
            self.indexed[named] = one
            self.present[named] = one.name
            for block in placed_blocks(one.name, self.resolution.resolver):
                self.by_block[block].append(named)


def renamed_entities(stay: NameTallies, old: Belonging, new: Belonging) -> dict[Named, Named]:
    """Return the entities whose nodes become other entities, each with the other entity.

    The node of an entity becomes the entity to which most of its untouched mentions move, unless
    another node brings more mentions to that entity. If a node loses its id to another node in
    this way, it gets an id that is free. The result does not depend on any order.
    """
    brought: Counter[tuple[Named, Named]] = Counter()
    for key, own in stay.by_key.items():
        for kind, tally in own.items():
            if tally.count:
                brought[old[key][kind], new[key][kind]] += tally.count
    if all(before == after for before, after in brought):
        return {}
    placed = _assign_places(brought)
    taken, existing = (
        {*placed.values()},
        {entity for own in old.values() for entity in own.values()},
    )
    homeless = sorted(entity for entity in existing & taken if entity not in placed)
    left = sorted(placed.keys() - taken)
    placed |= dict(zip(homeless, left, strict=False))
    return {before: after for before, after in sorted(placed.items()) if before != after}


def _assign_places(brought: Mapping[tuple[Named, Named], int]) -> dict[Named, Named]:
    """Assign each old entity at most one new entity, and vice versa, most mentions first."""
    placed: dict[Named, Named] = {}
    taken: set[Named] = set()
    for before, after in sorted(
        brought, key=lambda pair: (-brought[pair], pair[0] != pair[1], pair)
    ):
        if before not in placed and after not in taken:
            placed[before] = after
            taken.add(after)
    return placed
