"""Finds the partitions whose texts match a question, and the units above them."""

from __future__ import annotations

from itertools import islice

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import FoundUnit, Partition
from pgs_neo4j.search.evidence import MOST_NODES, count_votes
from pgs_neo4j.search.paths.own_index import OwnIndex, score_nodes
from pgs_neo4j.search.paths.walk import Hits
from pgs_neo4j.search.text_index import read_index
from pgs_neo4j.text.claims.marking import strike
from pgs_neo4j.text.terms.postings import terms_of


async def find_units(
    db: Database, own: OwnIndex | None, question: str, k: int, *, sessions: str = ""
) -> Hits:
    """Return the ``k`` partitions whose texts match best, and every unit above them.

    A partition's score is its evidence relative to the best partition's. The score of a unit sums
    the scores of the found partitions below it. ``domain_state`` comes only from runs in sessions
    whose names begin with ``sessions``. Raises DatabaseError.
    """
    if own is None:
        return Hits("no partitions to compare")
    terms, generation = terms_of(question), own.generation
    index = await read_index(db, generation.id, generation.partition_count, terms, own.texts)
    if index is None:
        return Hits("no text index of the partitions")
    scored = score_nodes(index, terms, [part.id for part in own.partitions], MOST_NODES)
    votes = count_votes([place.partition for place in scored], [*scored.values()])
    best = dict(islice(votes.items(), k))
    if not best:
        return Hits("text index of the partitions")
    most = max(best.values())
    rows = await db.read(
        queries.get("search/paths/read_unit_states"),
        generation=generation.id,
        prefix=sessions,
        partitions=list(best),
    )
    by_id = {part.id: part for part in own.partitions}
    units = [_make_partition_unit(by_id[row["id"]], row, best[row["id"]] / most) for row in rows]
    units += _make_upper_units(rows, {number: vote / most for number, vote in best.items()})
    units.sort(key=lambda unit: (unit.level, -unit.score, unit.id))
    return Hits("text index of the partitions", things=tuple(units))


def _make_partition_unit(part: Partition, row: Row, score: float) -> FoundUnit:
    return FoundUnit(
        level=0,
        id=part.id,
        label=part.label or ", ".join(part.topics[:3]),
        titles=part.titles,
        size=part.size,
        score=score,
        abstract=part.gist,
        domain_state=strike(row["domain_state"]).strip(),
        run=row["run"],
    )


def _make_upper_units(rows: list[Row], scores: dict[int, float]) -> list[FoundUnit]:
    units: dict[tuple[int, int], tuple[Row, float]] = {}
    for row in rows:
        for unit in row["above"]:
            place = (unit["level"], unit["id"])
            before = units[place][1] if place in units else 0.0
            units[place] = (unit, before + scores[row["id"]])
    return [
        FoundUnit(
            level=level,
            id=number,
            label=unit["label"] or "",
            titles=tuple(unit["titles"] or ()),
            size=unit["size"],
            score=score,
        )
        for (level, number), (unit, score) in units.items()
    ]
