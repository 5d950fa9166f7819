"""Stores the present names of a graph in the database, indexed by key and by block.

The nodes of names belong to pgs: a purge removes them, and the next ingestion makes them again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.resolution import MOST_BLOCKS, Resolver
from pgs_neo4j.text.name_variants import PresentName

Block = tuple[int, str]
"""The position of a block in the tuple of a name's blocks, and the block itself."""

_PLACES = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True, slots=True)
class IndexedName:
    """A present name, and the entity to which it belongs."""

    name: PresentName
    entity: Named

    @property
    def row(self) -> Row:
        """The stored properties of the name, except its blocks."""
        name = self.name
        traits = {"s": name.sure, "p": name.proper, "c": name.capitals, "b": name.brief}
        return {
            "key": name.key,
            "type": name.type,
            "traits": "".join(letter for letter, has in traits.items() if has),
            "short": name.short,
            "entity_key": self.entity[0],
            "entity_type": self.entity[1],
        }


async def create_name_indexes(db: Database) -> None:
    """Create the indexes by which names are found. Raises DatabaseError."""
    await db.write(queries.get("documents/names/create_key_index"))
    await db.write(queries.get("documents/names/create_first_index"))
    await db.write(queries.get("documents/names/create_second_index"))
    await db.write(queries.get("documents/names/create_third_index"))
    await db.write(queries.get("documents/names/create_fourth_index"))
    await db.write(queries.get("documents/names/create_fifth_index"))


async def read_present(db: Database, graph: str, keys: Iterable[str]) -> dict[Named, IndexedName]:
    """Return the present names with the given keys. Raises DatabaseError."""
    wanted = sorted({*keys})
    query = queries.get("documents/names/read_present")
    rows = await db.read(query, graph=graph, keys=wanted) if wanted else []
    return _index_by_name(name for row in rows for name in row["names"])


async def read_all_present(db: Database, graph: str) -> dict[Named, IndexedName]:
    """Return all present names of a graph. Raises DatabaseError."""
    return _index_by_name(
        await db.read(queries.get("documents/names/read_all_present"), graph=graph)
    )


async def read_candidates(
    db: Database, graph: str, blocks: Iterable[Block]
) -> dict[Named, IndexedName]:
    """Return the present names with one of these blocks, which may be variants.

    Raises DatabaseError.
    """
    by_place: dict[str, list[str]] = {place: [] for place in _PLACES}
    for place, block in sorted({*blocks}):
        by_place[_PLACES[place]].append(block)
    if not any(by_place.values()):
        return {}
    query = queries.get("documents/names/read_candidates")
    return _index_by_name(await db.read(query, graph=graph, **by_place))


def placed_blocks(name: PresentName, resolver: Resolver) -> list[Block]:
    """Return the blocks of a name, each with its position."""
    blocks = resolver.blocks(name)[:MOST_BLOCKS]
    return [(place, block) for place, block in enumerate(blocks) if block is not None]


def name_row(indexed: IndexedName, resolver: Resolver) -> Row:
    """Return the stored properties of a name; the value None removes a property."""
    blocks: Row = {f"block_{place + 1}": None for place in range(MOST_BLOCKS)}
    blocks |= {f"block_{at + 1}": block for at, block in placed_blocks(indexed.name, resolver)}
    return indexed.row | {"short": indexed.name.short or None} | blocks


def _index_by_name(rows: Iterable[Row]) -> dict[Named, IndexedName]:
    found = (
        IndexedName(
            PresentName(
                key=row["key"],
                type=row["type"],
                sure="s" in row["traits"],
                proper="p" in row["traits"],
                capitals="c" in row["traits"],
                brief="b" in row["traits"],
                short=row["short"],
            ),
            (row["entity_key"], row["entity_type"]),
        )
        for row in rows
    )
    return {one.name.named: one for one in found}
