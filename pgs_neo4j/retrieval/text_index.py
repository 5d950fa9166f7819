"""Reads the text index of a generation: which nodes hold some terms, and how strongly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.text.terms.cells import PostingList, bucket_of, cell_uid, read_cell

REREADS = 3  # of an index whose segments are merged away while it is read
NOTHING = PostingList(np.zeros(0, np.int64), np.zeros(0, np.int64))


class SegmentRow(TypedDict):
    """A row of ``read_segments``; ``partitions`` holds id, first number, and size."""

    id: str
    size: int
    bits: int
    partitions: list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class TextIndex:
    """What the text index of a generation holds of some terms.

    Text ``i`` is the member of rank ``ranks[i]`` of partition ``partition_ids[i]``. That is 0 for a
    text that is in none of the generation. Both are ``(n,)``. ``postings`` has only texts of the
    generation, and only terms that any of them holds.
    """

    partition_ids: NDArray[np.int64]
    ranks: NDArray[np.int64]
    postings: Mapping[int, PostingList]

    @classmethod
    def of(
        cls, segments: Sequence[SegmentRow], cells: Mapping[str, bytes], terms: Sequence[int]
    ) -> TextIndex:
        """Read the postings of ``terms`` from ``cells``, which are by uid."""
        size = sum(segment["size"] for segment in segments)
        partition_ids, ranks = np.zeros(size, np.int64), np.zeros(size, np.int64)
        parts: dict[int, list[PostingList]] = defaultdict(list)
        start = 0
        for segment in segments:
            own = partition_ids[start : start + segment["size"]]
            for partition_id, first, count in segment["partitions"]:
                own[first : first + count] = partition_id
                ranks[start + first : start + first + count] = np.arange(count)
            for term, found in _live(_read(segment, cells, terms), own).items():
                parts[term].append(PostingList(found.texts + start, found.impacts))
            start += segment["size"]
        postings = {term: _joined(found) for term, found in parts.items()}
        return cls(partition_ids, ranks, {t: found for t, found in postings.items() if len(found)})

    @property
    def size(self) -> int:
        """Number of texts of the generation."""
        return int(np.count_nonzero(self.partition_ids))

    def of_term(self, term: int) -> PostingList:
        """Return the postings of a term; empty if no text holds it."""
        return self.postings.get(term, NOTHING)


async def read_index(
    db: Database, generation_id: str, partition_count: int, terms: Collection[int]
) -> TextIndex | None:
    """Return what the text index of a generation holds of ``terms``.

    None if one of its partitions is not indexed, or if its segments are merged away whenever they
    are read. Raises DatabaseError.
    """
    for attempt in range(1 + REREADS):
        segments = await read_segments(db, generation_id)
        if sum(len(segment["partitions"]) for segment in segments) < partition_count:
            if attempt:
                return None
            continue  # a partition may have moved to another segment during the read
        index = await read_terms(db, segments, terms)
        if await _are_in_use(db, segments):
            return index
    return None


async def read_segments(db: Database, generation_id: str) -> list[SegmentRow]:
    """Return the segments of a generation's text index. Raises DatabaseError."""
    rows = await db.read(queries.get("retrieval/read_segments"), generation=generation_id)
    return cast("list[SegmentRow]", rows)


async def read_terms(
    db: Database, segments: Sequence[SegmentRow], terms: Collection[int]
) -> TextIndex:
    """Return what some segments hold of ``terms``. Raises DatabaseError."""
    distinct = list(dict.fromkeys(terms))
    uids = {_uid(segment, term) for segment in segments for term in distinct}
    cells = await db.read(queries.get("retrieval/read_postings"), uids=sorted(uids))
    data = {row["uid"]: bytes(row["data"]) for row in cells}
    return TextIndex.of(segments, data, distinct)


async def _are_in_use(db: Database, segments: Sequence[SegmentRow]) -> bool:
    """Return whether some segments surely had all their cells until now.

    A segment is deleted, with its cells, only some time after its last partition has left it.
    """
    names = [segment["id"] for segment in segments]
    rows = await db.read(queries.get("retrieval/count_segments"), segments=names)
    return bool(rows[0]["in_use"] == len(names))


def _read(
    segment: SegmentRow, cells: Mapping[str, bytes], terms: Sequence[int]
) -> dict[int, PostingList]:
    """Return the postings of terms in a segment, each cell read once."""
    by_cell: dict[str, list[int]] = defaultdict(list)
    for term in terms:
        by_cell[_uid(segment, term)].append(term)
    found: dict[int, PostingList] = {}
    for uid, wanted in by_cell.items():
        if uid in cells:
            found |= read_cell(cells[uid], wanted, segment["bits"])
    return found


def _live(
    postings: Mapping[int, PostingList], partition_ids: NDArray[np.int64]
) -> Mapping[int, PostingList]:
    """Return the postings of a segment, without texts of other generations.

    ``partition_ids`` ``(n,)`` are 0 for these. Most segments have none.
    """
    if partition_ids.all():
        return postings
    live = {term: partition_ids[found.texts] > 0 for term, found in postings.items()}
    return {
        term: PostingList(found.texts[live[term]], found.impacts[live[term]])
        for term, found in postings.items()
    }


def _joined(parts: Sequence[PostingList]) -> PostingList:
    """Return the postings of a term in all segments."""
    texts = np.concatenate([part.texts for part in parts])
    return PostingList(texts, np.concatenate([part.impacts for part in parts]))


def _uid(segment: SegmentRow, term: int) -> str:
    return cell_uid(segment["id"], bucket_of(term, segment["bits"]))
