"""Works out what a change of some chunks changes in the graph, from its neighborhood alone.

The result equals the fold of all live chunks at once (``fold.folding``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pgs_neo4j.database.connection import Database
from pgs_neo4j.ingest.fold.contribution import Contribution, Named
from pgs_neo4j.ingest.fold.folding import (
    MentionRow,
    NameTallies,
    Types,
    entity_rows,
    mention_rows,
    relation_rows,
    stated,
    tally_relations,
)
from pgs_neo4j.ingest.fold.rows import EntityRow, RelationPlace, RelationRow
from pgs_neo4j.ingest.fold.tallies import RelationTally
from pgs_neo4j.ingest.stored import read_mentioning, read_names, read_relations, read_shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What to write: nodes and relationships as they will be, and those that go.

    ``unbound`` are chunks that stay and whose mentions are replaced. ``vanished`` are ids of
    entities that nothing mentions any more.
    """

    entities: Mapping[str, EntityRow]
    vanished: tuple[str, ...]
    relations: Mapping[RelationPlace, RelationRow]
    dropped: tuple[RelationPlace, ...]
    mentions: tuple[MentionRow, ...]
    unbound: tuple[str, ...]


async def work_out(
    db: Database, graph: str, gone: Iterable[Contribution], added: Iterable[Contribution]
) -> Change:
    """Return what changes when the chunks ``gone`` go and ``added`` come. Raises DatabaseError."""
    leaving = {one.chunk: one for one in gone}
    coming = {one.chunk: one for one in added}
    stay = await read_names(db, graph, _chunks_by_key(leaving, coming))
    moved = await _moved(db, graph, stay, leaving, coming)
    if moved:  # they name others, which are not read yet
        leaving |= moved
        coming |= moved
        stay = await read_names(db, graph, _chunks_by_key(leaving, coming))
    before, after = _with(stay, leaving), _with(stay, coming)
    old, new = before.types(), after.types()
    entities = entity_rows(after, new)
    relations, dropped = await _relations(db, graph, leaving, coming, old, new)
    return Change(
        entities=entities,
        vanished=tuple(sorted(entity_rows(before, old).keys() - entities.keys())),
        relations=relations,
        dropped=dropped,
        mentions=mention_rows(coming.values(), new),
        unbound=tuple(sorted(leaving.keys() & coming.keys())),
    )


def _chunks_by_key(
    leaving: Mapping[str, Contribution], coming: Mapping[str, Contribution]
) -> dict[str, list[str]]:
    """Return, for each name concerned, the chunks that leave it."""
    chunks: dict[str, list[str]] = {key: [] for one in coming.values() for key in one.keys}
    for one in leaving.values():
        for key in one.keys:
            chunks.setdefault(key, []).append(one.chunk)
    return chunks


def _with(stay: NameTallies, contributions: Mapping[str, Contribution]) -> NameTallies:
    """Return the tallies of some names with what some chunks add."""
    total = NameTallies()
    for key, own in stay.by_key.items():
        for kind, tally in own.items():
            total.of((key, kind)).merge(tally)
    for one in contributions.values():
        for mention in one.mentions:
            total.add(mention)
    return total


async def _moved(
    db: Database,
    graph: str,
    stay: NameTallies,
    leaving: Mapping[str, Contribution],
    coming: Mapping[str, Contribution],
) -> dict[str, Contribution]:
    """Return the chunks that stay, and whose mentions will belong to other nodes.

    They mention a name with a type that joins another one, or parts from it. Such types are rare in
    their name, so these are few chunks.
    """
    old, new = _with(stay, leaving).types(), _with(stay, coming).types()
    names: list[Named] = [
        (key, kind)
        for key, own in sorted(stay.by_key.items())
        for kind in sorted(own)
        if own[kind].count and old[key][kind] != new[key][kind]
    ]
    found = await read_mentioning(db, graph, names)
    return {chunk: one for chunk, one in found.items() if chunk not in {*leaving, *coming}}


async def _relations(
    db: Database,
    graph: str,
    leaving: Mapping[str, Contribution],
    coming: Mapping[str, Contribution],
    old: Types,
    new: Types,
) -> tuple[dict[RelationPlace, RelationRow], tuple[RelationPlace, ...]]:
    """Return the relations as they will be, and those that go.

    A relation that only gains statements adds them to what stands. One that loses any is counted
    from the chunks that mention both of its ends.
    """
    lost = {place for one in leaving.values() for place in stated(one, old)}
    gained = tally_relations(coming.values(), new)
    grown = [place for place in gained if place not in lost]
    tallies: dict[RelationPlace, RelationTally] = defaultdict(RelationTally, gained)
    for place, tally in (await read_relations(db, graph, grown)).items():
        tallies[place].merge(tally)
    shared = await read_shared(db, graph, lost, {*leaving, *coming})
    known = [_within(one, new) for one in shared.values()]
    for place, tally in tally_relations(known, new).items():
        if place in lost:
            tallies[place].merge(tally)
    rows = relation_rows(tallies)
    return rows, tuple(sorted(lost - rows.keys()))


def _within(contribution: Contribution, types: Types) -> Contribution:
    """Return the statements of a chunk whose ends are both known here."""
    statements = tuple(
        one
        for one in contribution.statements
        if all(types.get(key, {}).get(kind) for key, kind in (one.source, one.target))
    )
    return Contribution(contribution.chunk, (), statements)
