"""Renews the index of names if another resolver made this index, or if a purge removed it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.folding import NameTallies
from pgs_neo4j.documents.fold.resolution import Resolution, Resolver, VariantResolver, resolve
from pgs_neo4j.documents.fold.rulings import Judgment, Ruling, group_judged_names, rulings_in_force
from pgs_neo4j.documents.fold.tallies import EntityTally
from pgs_neo4j.documents.names.index import IndexedName, create_name_indexes, name_row
from pgs_neo4j.documents.publish.change import compute_change
from pgs_neo4j.documents.publish.publication import Publication, mapping_of, publish
from pgs_neo4j.documents.publish.writer import (
    Writer,
    hold_documents,
    read_type_labels,
    writing_lost_error,
)
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.extraction.names import normalize_name

BATCH = 5000
"""Number of names that one transaction stores or deletes."""
SUSPECTS = 200
"""Number of names to resolve per publication. It is small, because all chunks that mention these
names are read."""


@asynccontextmanager
async def hold_with_resolved_names(
    db: Database, graph: str, label: str, describer: str = "", resolver: Resolver | None = None
) -> AsyncIterator[Writer]:
    """Hold the right to write the documents of a graph, with all of its names resolved.

    Raises UsageError if ``resolver`` is None but a user's resolver resolved the graph's names,
    BusyError, LeaseLostError, and DatabaseError.
    """
    async with hold_documents(db, graph, label, describer) as held:
        rulings = rulings_in_force(await read_rulings(db, graph))
        judged = group_judged_names(await read_judgments(db, graph))
        resolution = Resolution(resolver or VariantResolver(), rulings, judged)
        view = (label, *mapping_of(label).labels)
        types = await read_type_labels(db, graph, view)
        writer = replace(held, resolution=resolution, types=types)
        await renew_names(db, writer, given=resolver is not None)
        yield writer


async def read_rulings(db: Database, graph: str) -> dict[Named, Ruling]:
    """Return the users' rulings on the names of a graph. Raises DatabaseError."""
    rows = await db.read(queries.get("documents/names/read_rulings"), graph=graph)
    return {(row["key"], row["type"]): _make_ruling(row) for row in rows}


async def read_judgments(db: Database, graph: str) -> list[Judgment]:
    """Return the model's judgments on pairs of a graph's names. Raises DatabaseError."""
    rows = await db.read(queries.get("documents/names/read_judgments"), graph=graph)
    return [
        Judgment((row["key"], row["type"]), (row["other_key"], row["type"]), same=row["same"])
        for row in rows
    ]


async def renew_names(db: Database, writer: Writer, *, given: bool) -> None:
    """Resolve all names again, unless the writer's rules already resolved them.

    The signature of the rules is stored last, so an interrupted renewal starts again next time.
    Raises UsageError if no resolver is ``given`` but a user's resolver resolved the names,
    LeaseLostError, and DatabaseError.
    """
    resolution, held = writer.resolution, {"graph": writer.graph, "holder": writer.holder}
    signature = resolution.resolver.signature
    rows = await db.read(queries.get("documents/names/read_resolver"), graph=writer.graph)
    if not given and any(row["own"] for row in rows):
        raise UsageError(
            f"the names of graph {writer.graph} were resolved by your own resolver; pass it as "
            "resolver= in Python or set ingest_resolver to it, or pass VariantResolver() to "
            "resolve all names again"
        )
    if any(row["resolver"] == signature for row in rows):
        return
    await create_name_indexes(db)
    query = queries.get("documents/names/delete_names")
    while any(row["deleted"] for row in await db.write(query, **held, limit=BATCH)):
        pass
    present = await _read_present_names(db, writer.graph)
    stored, suspects = await asyncio.to_thread(present.compare_with, resolution)
    query = queries.get("documents/names/write_names")
    for first in range(0, len(stored), BATCH):
        some = stored[first : first + BATCH]
        rows = [name_row(one, resolution.resolver) for one in some]
        if not await db.write(query, **held, rows=rows):
            raise writing_lost_error(writer.graph)
    for first in range(0, len(suspects), SUSPECTS):
        names = suspects[first : first + SUSPECTS]
        change = await compute_change(db, writer.graph, (), (), resolution, names)
        await publish(db, writer, Publication(gone=[], documents=[], change=change))
    own = signature != VariantResolver().signature
    await db.write(queries.get("documents/names/set_resolver"), **held, resolver=signature, own=own)


@dataclass(slots=True)
class _PresentNames:
    """The names in a graph's mentions, and the present entity of each name."""

    names: NameTallies = field(default_factory=NameTallies)
    entities: dict[Named, Named] = field(default_factory=dict)

    def compare_with(self, resolution: Resolution) -> tuple[list[IndexedName], list[Named]]:
        """Return the names to store with their present entities, and the names that must move."""
        types = self.names.types(resolution.pinned)
        present = self.names.present(types)
        entities = resolve(present.values(), resolution)
        stored = {named: IndexedName(name, self.entities[named]) for named, name in present.items()}
        suspects: set[Named] = set()
        for (key, kind), entity in self.entities.items():
            main = key, types[key][kind]
            if entity != entities[main]:
                suspects.add(main)
            if entity != self.entities[main]:  # Until this type moves, it needs a name of its own.
                tally: EntityTally = self.names.by_key[key][kind]
                name = NameTallies({key: {kind: tally}}).present({key: {kind: kind}})[key, kind]
                stored.setdefault((key, kind), IndexedName(name, entity))
                suspects.add((key, kind))
        return [stored[named] for named in sorted(stored)], sorted(suspects)


def _make_ruling(row: Row) -> Ruling:
    merged = row["into_key"] is not None and row["into_type"] is not None
    return Ruling((row["into_key"], row["into_type"]) if merged else None, row["apart"])


async def _read_present_names(db: Database, graph: str) -> _PresentNames:
    """Return the names of all entities.

    The size of the result depends on the number of names, not of mentions.
    """
    present = _PresentNames()
    for row in await db.read(queries.get("documents/names/read_mentioned_names"), graph=graph):
        named = normalize_name(row["name"]), row["type"]
        tally = present.names.of(named)
        tally.count += row["count"]
        tally.sure += row["count"] if row["sure"] else 0
        tally.names[row["name"]] += row["count"]
        tally.shorts.update({row["short"]: row["count"]} if row["short"] else {})
        present.entities[named] = row["entity_key"], row["entity_type"]
    return present
