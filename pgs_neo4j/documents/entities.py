"""Lists, shows, merges, and splits the entities of a graph of documents at a user's request.

A user's rulings survive later ingestions. An entity's page explains how each of its names joined
the entity: by letters, by type, by a judgment, or by a ruling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.folding import NameTallies
from pgs_neo4j.documents.fold.resolution import (
    JUDGED,
    Judged,
    Resolver,
    VariantResolver,
    preference,
)
from pgs_neo4j.documents.fold.rulings import (
    Ruled,
    affected_names,
    changed_rulings,
    group_judged_names,
    merge_names,
    merged_into,
    merges_of,
    part_name,
    root_of,
    rulings_in_force,
    take_back_merge,
)
from pgs_neo4j.documents.fold.tallies import entity_id
from pgs_neo4j.documents.names.index import read_present
from pgs_neo4j.documents.names.neighborhood import read_called
from pgs_neo4j.documents.names.renewal import read_judgments, read_rulings
from pgs_neo4j.documents.publish.change import compute_change
from pgs_neo4j.documents.publish.publication import Publication, publish
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.browsing import (
    EntityChunk,
    EntityInfo,
    EntityName,
    EntityPage,
    EntityRelation,
)
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.name_variants import PresentName

PREFIX = "entity"
SHOWN = 50
"""Maximum chunks, and maximum relations, on an entity's page."""
NONE: Judged = MappingProxyType({})
LEADS, MERGED, APART, STRAY = "leads", "merged", "apart", "type"


async def list_entities(
    db: Database, graph: str, text: str = "", kind: str = "", limit: int = 100
) -> list[EntityInfo]:
    """Return at most ``limit`` entities, the most mentioned first. Raises DatabaseError.

    ``text`` is a part of a name, and ``kind`` is a type. Neither is case-sensitive. If empty,
    either argument matches all entities.
    """
    rows = await db.read(
        queries.get("documents/entities/list"),
        graph=graph,
        text=text.strip().lower(),
        key=normalize_name(text),
        type=kind.strip().lower(),
        limit=limit,
    )
    return [EntityInfo(**row) for row in rows]


async def read_entity(db: Database, graph: str, wanted: str) -> EntityPage:
    """Return the entity that ``wanted`` means with its names, chunks, and relations.

    Raises UsageError unless ``wanted`` means exactly one entity, and DatabaseError.
    """
    entity = await find_entity(db, graph, wanted)
    id_ = entity_id(entity)
    (row,) = await db.read(queries.get("documents/entities/read"), graph=graph, id=id_)
    counts = {"chunk_count": row.pop("chunks"), "relation_count": row.pop("relations")}
    given = {"graph": graph, "id": id_, "limit": SHOWN}
    chunks = await db.read(queries.get("documents/entities/read_mentions"), **given)
    relations = await db.read(queries.get("documents/entities/read_relations"), **given)
    return EntityPage(
        entity=EntityInfo(**row),
        names=await _read_names(db, graph, entity),
        chunks=tuple(EntityChunk(**one | {"path": tuple(one["path"])}) for one in chunks),
        relations=tuple(EntityRelation(**one) for one in relations),
        **counts,
    )


async def _read_names(db: Database, graph: str, entity: Named) -> tuple[EntityName, ...]:
    ruled = await read_rulings(db, graph)
    names = (await read_called(db, graph, [entity], (), ())).names
    judged = group_judged_names(await read_judgments(db, graph))
    joined = explain_names(names, entity, ruled, VariantResolver(), judged)
    rows = [_make_name(names, named, one) for named, one in joined.items()]
    return tuple(sorted(rows, key=lambda row: (row.id != entity_id(entity), -row.mentions, row.id)))


def _make_name(names: NameTallies, named: Named, joined: Joined) -> EntityName:
    key, kind = named
    tally = names.by_key[key][kind]
    return EntityName(
        id=entity_id(named),
        spellings=tuple(sorted(tally.names, key=lambda name: (-tally.names[name], name))),
        mentions=tally.count,
        joined=joined.how,
        to="" if joined.to == named else entity_id(joined.to),
    )


async def merge_entities(db: Database, writer: Writer, wanted: Sequence[str], into: str) -> str:
    """Merge the ``wanted`` entities into the entity ``into``, and return the id of the result.

    Raises UsageError if an entity does not exist or is already merged, LeaseLostError, and
    DatabaseError.
    """
    graph = writer.graph
    target = await find_entity(db, graph, into)
    found = [await find_entity(db, graph, one) for one in wanted]
    if target in found:
        one = wanted[found.index(target)]
        raise UsageError(f"{one!r} and {into!r} are already one entity, {entity_id(target)}")
    former = await read_rulings(db, graph)
    ruled: Ruled = former
    for entity in found:
        ruled = merge_names(ruled, entity, target)
    await _publish_rulings(db, writer, former, ruled)
    return entity_id((await read_present(db, graph, [target[0]]))[target].entity)


async def split_entity(
    db: Database, writer: Writer, wanted: str, names: Sequence[str] = ()
) -> list[str]:
    """Split names off an entity, and return the ids of the resulting entities.

    A merged name leaves together with all names that came with it, which restores the state before
    the merge. Without ``names``, all merges into the entity are undone. Raises UsageError if the
    entity or a name does not exist, LeaseLostError, and DatabaseError.
    """
    graph = writer.graph
    entity = await find_entity(db, graph, wanted)
    former = await read_rulings(db, graph)
    own = (await read_called(db, graph, [entity], (), ())).names
    resolution = writer.resolution
    joined = explain_names(own, entity, former, resolution.resolver, resolution.judged)
    ruled: Ruled = former
    for name in names:
        named = _find_name(own, entity, name)
        through = (named,) if joined[named].how == STRAY else (named, joined[named].to)
        if all(root_of(ruled, one) == root_of(former, one) for one in through):
            ruled = _split_off(ruled, through, entity)  # Else it left with an earlier name.
    if not names:
        ruled = _undo_merges(ruled, entity, wanted)
    await _publish_rulings(db, writer, former, ruled)
    after = await read_present(db, graph, [key for key, _ in joined])
    return sorted({entity_id(one.entity) for named, one in after.items() if named in joined})


def _find_name(names: NameTallies, entity: Named, wanted: str) -> Named:
    """Return the entity's name that ``wanted`` means, preferably not the leading name."""
    for key, kind in possible_names(wanted):
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


def _split_off(ruled: Ruled, through: Sequence[Named], entity: Named) -> Ruled:
    """Return rulings that split a name off its entity.

    ``through`` has the name, and then the name through which it joined the entity, if there is one.
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


def _undo_merges(ruled: Ruled, entity: Named, wanted: str) -> Ruled:
    """Return rulings without the merges into an entity."""
    merged = merged_into(ruled, root_of(ruled, entity))
    if not merged:
        raise UsageError(f"nothing was merged into {wanted!r}; name the names to split off")
    for one in merged:
        ruled = take_back_merge(ruled, one)
    return ruled


async def _publish_rulings(db: Database, writer: Writer, former: Ruled, ruled: Ruled) -> None:
    """Store rulings and publish the resulting changes, in one transaction."""
    stored, deleted = changed_rulings(former, ruled)
    resolution = replace(writer.resolution, rulings=rulings_in_force(ruled))
    suspects = affected_names(former, ruled)
    change = await compute_change(db, writer.graph, (), (), resolution, suspects)
    what = Publication(gone=(), documents=(), change=change, ruled=stored, unruled=deleted)
    await publish(db, replace(writer, resolution=resolution), what)


async def find_entity(db: Database, graph: str, wanted: str) -> Named:
    """Return the entity that ``wanted`` means: a name, ``Type:Name``, or an id.

    An id always means the entity with this id, even if another entity has a name with the same key
    and type. Raises UsageError unless exactly one entity is meant, and DatabaseError.
    """
    meant = [*possible_names(wanted)]
    query = queries.get("documents/entities/find")
    rows = await db.read(query, graph=graph, keys=sorted({key for key, _ in meant}))
    named = {(row["entity_key"], row["entity_type"]) for row in rows}
    for entity in named:
        if entity_id(entity) == wanted:
            return entity
    for key, kind in meant:
        entities = sorted(
            {
                (row["entity_key"], row["entity_type"])
                for row in rows
                if row["key"] == key
                and kind in (None, row["type"].lower(), row["entity_type"].lower())
            }
        )
        if len(entities) == 1:
            return entities[0]
        if entities:
            listed = ", ".join(map(entity_id, entities))
            raise UsageError(f"{wanted!r} matches several entities: {listed}; give the id of one")
    raise UsageError(
        f"graph {graph} has no entity {wanted!r}; 'pgs entities list --graph {graph} --text TEXT' "
        "finds entities"
    )


def possible_names(wanted: str) -> Iterator[tuple[str, str | None]]:
    """Yield the keys and types that ``wanted`` may mean, the most likely first.

    The type is in lower case, or None if any type is meant.
    """
    yield normalize_name(wanted), None
    kind, parted, name = wanted.removeprefix(f"{PREFIX}:").partition(":")
    if parted:
        yield name, kind.strip().lower()
        yield normalize_name(name), kind.strip().lower()


@dataclass(frozen=True, slots=True)
class Joined:
    """How a name joined its entity, and through which name: another one, or the name itself."""

    how: str
    to: Named


def explain_names(
    names: NameTallies, entity: Named, ruled: Ruled, resolver: Resolver, judged: Judged = NONE
) -> dict[Named, Joined]:
    """Return how each name of an entity joined the entity; ``names`` has all of these names."""
    force = rulings_in_force(ruled)
    pinned = {*force, *force.values()}
    types = names.types(pinned)
    present = names.present(types)
    leaders = [present[named] for named in sorted(present) if named == entity or named in pinned]
    return {
        (key, kind): Joined(STRAY, (key, main))
        if main != kind
        else _explain_name(present[key, kind], entity, ruled, leaders, resolver, judged)
        for key, own in types.items()
        for kind, main in own.items()
    }


def _explain_name(
    name: PresentName,
    entity: Named,
    ruled: Ruled,
    leaders: list[PresentName],
    resolver: Resolver,
    judged: Judged,
) -> Joined:
    ruling = ruled.get(name.named)
    if ruling is not None and ruling.into is not None:
        return Joined(MERGED, ruling.into)
    if ruling is not None and ruling.apart:
        return Joined(APART, name.named)
    same = judged.get(name.named, frozenset())
    kinds = {
        one.named: resolver.variant_kind(name, one) or (JUDGED if one.named in same else None)
        for one in leaders
    }
    if name.named == entity or name.named in kinds:
        return Joined(LEADS, name.named)
    fitting = {other: kind for other, kind in kinds.items() if kind is not None}
    leader = min(fitting, key=lambda other: preference(fitting[other]), default=entity)
    return Joined(fitting.get(leader, "other"), leader)
