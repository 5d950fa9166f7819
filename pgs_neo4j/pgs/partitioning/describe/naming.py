"""Finds terms and labels of partitions, which tell them apart."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import Partition
from pgs_neo4j.model.graph import LABEL_JOINT
from pgs_neo4j.pgs.partitioning.describe.label_check import improve_labels
from pgs_neo4j.text.terms.keywords import KeywordCounter
from pgs_neo4j.text.terms.labels import Labels, Scored, pack_counts, score_words, unpack_counts

WORD_ROWS = 1000  # partitions whose counts are written at once, about a kilobyte each


@dataclass(frozen=True, slots=True)
class Names:
    """Scored words and labels of partitions, by id."""

    scored: Mapping[int, Scored]
    labels: Mapping[int, tuple[str, ...]]


async def name_partitions(
    db: Database,
    generation_id: str,
    counter: KeywordCounter,
    partitions: Sequence[Partition],
    others: Sequence[Partition],
) -> Names:
    """Name ``partitions``, whose text index is complete; store their counts for later.

    ``others`` keep the labels that they have. Raises DatabaseError.
    """
    for partition_id in counter.unfinished:
        counter.finish(partition_id)
    counted = counter.counts()
    counts = {part.id: counted.get(part.id, Counter()) for part in partitions}
    await _store(db, partitions, counts)
    rest = await _read(db, others)
    fixed = {part.id: tuple(part.label.split(LABEL_JOINT)) for part in others if part.label}
    scored = await asyncio.to_thread(_score, counter, counts, rest)
    labels = Labels(scored, {**dict.fromkeys(rest, ()), **fixed})
    await improve_labels(db, generation_id, labels)
    return Names(scored, labels.chosen)


def _score(
    counter: KeywordCounter,
    counts: Mapping[int, Counter[str]],
    rest: Mapping[int, Counter[str]],
) -> dict[int, Scored]:
    holders = counter.holders.of(sorted({word for words in counts.values() for word in words}))
    for words in rest.values():
        holders.update(words)
    return score_words({**rest, **counts}, holders)


async def _store(
    db: Database, partitions: Sequence[Partition], counts: Mapping[int, Counter[str]]
) -> None:
    rows = [{"uid": part.uid, "words": pack_counts(counts[part.id])} for part in partitions]
    for start in range(0, len(rows), WORD_ROWS):
        batch = rows[start : start + WORD_ROWS]
        await db.write(queries.get("pgs/partitioning/write_word_counts"), rows=batch)


async def _read(db: Database, others: Sequence[Partition]) -> dict[int, Counter[str]]:
    """Return the counts of partitions that were described before."""
    stored: list[Row] = []
    if others:
        uids = [part.uid for part in others]
        stored = await db.read(queries.get("pgs/partitioning/read_word_counts"), uids=uids)
    earlier = {row["uid"]: unpack_counts(row["words"]) for row in stored}
    # A graph that is removed just now has no partitions any more.
    return {part.id: earlier.get(part.uid, Counter()) for part in others}
