"""Works out what a change of some chunks changes in the graph, from its neighborhood alone.

The result equals the fold of all live chunks at once (``fold.folding``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pgs_neo4j.database.connection import Database
from pgs_neo4j.ingest.fold.contribution import Contribution, Named
from pgs_neo4j.ingest.fold.folding import (
    MentionRow,
    entity_rows,
    mention_rows,
    relation_rows,
    stated,
    tally_relations,
)
from pgs_neo4j.ingest.fold.resolution import Resolution
from pgs_neo4j.ingest.fold.rows import (
    Belonging,
    EntityRow,
    RelationPlace,
    RelationRow,
    entity_id,
)
from pgs_neo4j.ingest.fold.tallies import RelationTally
from pgs_neo4j.ingest.names.index import IndexedName
from pgs_neo4j.ingest.names.neighborhood import Neighborhood, read_neighborhood
from pgs_neo4j.ingest.stored import read_mentioning, read_relations, read_shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What to write: nodes and relationships as they will be, and those that go.

    ``renamed`` are entities whose nodes become those of others, before all else. ``unbound`` are
    chunks that stay and whose mentions are replaced. ``vanished`` are ids of entities that nothing
    mentions any more. ``named`` and ``unnamed`` change the index of names.
    """

    entities: Mapping[str, EntityRow]
    vanished: tuple[str, ...]
    relations: Mapping[RelationPlace, RelationRow]
    dropped: tuple[RelationPlace, ...]
    mentions: tuple[MentionRow, ...]
    unbound: tuple[str, ...]
    renamed: Mapping[Named, Named] = field(default_factory=dict)
    named: tuple[IndexedName, ...] = ()
    unnamed: tuple[Named, ...] = ()


async def work_out(
    db: Database,
    graph: str,
    gone: Iterable[Contribution],
    added: Iterable[Contribution],
    resolution: Resolution | None = None,
    suspects: Iterable[Named] = (),
) -> Change:
    """Return what changes when the chunks ``gone`` go and ``added`` come.

    ``suspects`` are names that may belong elsewhere for another reason, as after a ruling. Raises
    DatabaseError.
    """
    leaving = {one.chunk: one for one in gone}
    coming = {one.chunk: one for one in added}
    around = resolution or Resolution(), leaving, coming, [*suspects]
    near = await read_neighborhood(db, graph, *around)
    while moved := await _moved(db, graph, near, leaving, coming):
        leaving |= moved  # they name others, which are not read yet
        coming |= moved
        near = await read_neighborhood(db, graph, *around)
    relations, dropped = await _relations(db, graph, leaving, coming, near)
    rows = entity_rows(near.names, near.new)
    before = _ids(leaving, near.old)
    touched = before | _ids(coming, near.new) | {*map(entity_id, near.renamed.values())}
    return Change(
        entities={id_: rows[id_] for id_ in sorted(touched & rows.keys())},
        vanished=tuple(sorted(before - rows.keys())),
        relations=relations,
        dropped=dropped,
        mentions=mention_rows(coming.values(), near.new),
        unbound=tuple(sorted(leaving.keys() & coming.keys())),
        renamed=near.renamed,
        named=near.named,
        unnamed=near.unnamed,
    )


def _ids(contributions: Mapping[str, Contribution], belonging: Belonging) -> set[str]:
    """Return the ids of the entities that some chunks mention."""
    return {
        entity_id(belonging[mention.key][mention.type])
        for one in contributions.values()
        for mention in one.mentions
    }


async def _moved(
    db: Database,
    graph: str,
    near: Neighborhood,
    leaving: Mapping[str, Contribution],
    coming: Mapping[str, Contribution],
) -> dict[str, Contribution]:
    """Return the chunks that stay, and whose mentions will belong to other entities."""
    former = near.former
    mentions = {
        (key, kind): (
            former.get(near.old[key][kind], near.old[key][kind]),
            near.stay.by_key[key][kind].names,
        )
        for key, kind in near.moved
    }
    found = await read_mentioning(db, graph, mentions)
    return {chunk: one for chunk, one in found.items() if chunk not in {*leaving, *coming}}


async def _relations(
    db: Database,
    graph: str,
    leaving: Mapping[str, Contribution],
    coming: Mapping[str, Contribution],
    near: Neighborhood,
) -> tuple[dict[RelationPlace, RelationRow], tuple[RelationPlace, ...]]:
    """Return the relations as they will be, and those that go.

    A relation that only gains statements adds them to what stands. One that loses any is counted
    from the chunks that mention both of its ends. One with a new end is new, and not looked for.
    """
    old, new = near.old, near.new
    standing = {entity for own in old.values() for entity in own.values()}
    lost = {place for one in leaving.values() for place in stated(one, old)}
    gained = tally_relations(coming.values(), new)
    grown = [
        place for place in gained if place not in lost and standing.issuperset((place[0], place[2]))
    ]
    tallies: dict[RelationPlace, RelationTally] = defaultdict(RelationTally, gained)
    for place, tally in (await read_relations(db, graph, grown, near.former)).items():
        tallies[place].merge(tally)
    shared = await read_shared(db, graph, lost, {*leaving, *coming}, near.former)
    known = [_within(one, new) for one in shared.values()]
    for place, tally in tally_relations(known, new).items():
        if place in lost:
            tallies[place].merge(tally)
    rows = relation_rows(tallies)
    return rows, tuple(sorted(lost - rows.keys()))


def _within(contribution: Contribution, belonging: Belonging) -> Contribution:
    """Return the statements of a chunk whose ends are both known here."""
    statements = tuple(
        one
        for one in contribution.statements
        if all(belonging.get(key, {}).get(kind) for key, kind in (one.source, one.target))
    )
    return Contribution(contribution.chunk, (), statements)
