"""Merges and splits entities as people rule: what they rule outlasts later ingestions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.change import work_out
from pgs_neo4j.documents.entities.finding import find_entity, readings
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.folding import NameTallies
from pgs_neo4j.documents.fold.joining import STRAY, explain_names
from pgs_neo4j.documents.fold.rows import entity_id
from pgs_neo4j.documents.fold.rulings import (
    Ruled,
    changed_rulings,
    merge_names,
    merged_into,
    merges_of,
    names_concerned,
    part_name,
    root_of,
    rulings_in_force,
    take_back_merge,
)
from pgs_neo4j.documents.names.called import read_called
from pgs_neo4j.documents.names.index import read_present
from pgs_neo4j.documents.names.renewal import read_rulings
from pgs_neo4j.documents.publish import Publication, publish
from pgs_neo4j.documents.writer import Writer
from pgs_neo4j.errors import UsageError


async def merge_entities(db: Database, writer: Writer, wanted: Sequence[str], into: str) -> str:
    """Make entities one, and return its id: the first ones belong with ``into``.

    Raises UsageError if one of them is not there, LeaseLostError, and DatabaseError.
    """
    graph = writer.graph
    target = await find_entity(db, graph, into)
    found = [await find_entity(db, graph, one) for one in wanted]
    if target in found:
        one = wanted[found.index(target)]
        raise UsageError(f"{one!r} and {into!r} are one entity already, {entity_id(target)}")
    former = await read_rulings(db, graph)
    ruled: Ruled = former
    for entity in found:
        ruled = merge_names(ruled, entity, target)
    await _rule(db, writer, former, ruled)
    return entity_id((await read_present(db, graph, [target[0]]))[target].entity)


async def split_entity(
    db: Database, writer: Writer, wanted: str, names: Sequence[str] = ()
) -> list[str]:
    """Part names from an entity, and return the ids of the entities that it is then.

    A name that was merged into it goes with all that came with it, so that what was before the
    merge is there again. Without names, all merges into it are taken back. Raises UsageError for
    an entity and a name that are not there, LeaseLostError, and DatabaseError.
    """
    graph = writer.graph
    entity = await find_entity(db, graph, wanted)
    former = await read_rulings(db, graph)
    own = (await read_called(db, graph, [entity], (), ())).names
    resolution = writer.resolution
    joined = explain_names(own, entity, former, resolution.resolver, resolution.judged)
    ruled: Ruled = former
    for name in names:
        named = _meant(own, entity, name)
        through = (named,) if joined[named].how == STRAY else (named, joined[named].to)
        if all(root_of(ruled, one) == root_of(former, one) for one in through):
            ruled = _part(ruled, through, entity)  # else it parted with another of the names
    if not names:
        ruled = _part_merged(ruled, entity, wanted)
    await _rule(db, writer, former, ruled)
    after = await read_present(db, graph, [key for key, _ in joined])
    return sorted({entity_id(one.entity) for named, one in after.items() if named in joined})


def _meant(names: NameTallies, entity: Named, wanted: str) -> Named:
    """Return which of an entity's names is meant; not the one that leads it, if it may be."""
    for key, kind in readings(wanted):
        found = [(key, own) for own in names.by_key.get(key, {}) if kind in (None, own.lower())]
        others = [named for named in found if named != entity]
        if len(others) > 1:
            listed = ", ".join(map(entity_id, sorted(others)))
            raise UsageError(f"{wanted!r} may be several names: {listed}; name one of these")
        if found:
            return (others or found)[0]
    raise UsageError(
        f"{entity_id(entity)} has no name {wanted!r}; 'pgs entities show' lists its names"
    )


def _part(ruled: Ruled, through: Sequence[Named], entity: Named) -> Ruled:
    """Return rulings by which a name is of another entity than the rest.

    ``through`` are the name and the one that it follows.
    """
    named = through[0]
    for one in through:
        if len([*merges_of(ruled, one)]) > 1:
            return take_back_merge(ruled, one)
    if named == entity:
        raise UsageError(
            f"{entity_id(named)} is the leading name of its entity; name the names to split off "
            "instead"
        )
    return part_name(ruled, named)


def _part_merged(ruled: Ruled, entity: Named, wanted: str) -> Ruled:
    """Return rulings without the merges into an entity."""
    merged = merged_into(ruled, root_of(ruled, entity))
    if not merged:
        raise UsageError(f"nothing was merged into {wanted!r}; name the names to split off")
    for one in merged:
        ruled = take_back_merge(ruled, one)
    return ruled


async def _rule(db: Database, writer: Writer, former: Ruled, ruled: Ruled) -> None:
    """Store rulings, and publish what they change, in one transaction."""
    stored, deleted = changed_rulings(former, ruled)
    resolution = replace(writer.resolution, rulings=rulings_in_force(ruled))
    suspects = names_concerned(former, ruled)
    change = await work_out(db, writer.graph, (), (), resolution, suspects)
    what = Publication(gone=(), documents=(), change=change, ruled=stored, unruled=deleted)
    await publish(db, replace(writer, resolution=resolution), what)
