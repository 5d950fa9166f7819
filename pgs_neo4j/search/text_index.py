"""Reads the text index of a generation: which nodes contain which terms, and how strongly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.portions import Recent
from pgs_neo4j.text.terms.cells import PostingList, bucket_of, cell_uid, read_cell

REREADS = 3  # attempts to read an index again if a merge deletes its segments during the read
NOTHING = PostingList(np.zeros(0, np.int64), np.zeros(0, np.int64))


class SegmentRow(TypedDict):
    """A row of ``read_segments``.

    ``partitions`` has, for each partition, its id, the number of its first text, and its size.
    """

    id: str
    size: int
    bits: int
    partitions: list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class TextTable:
    """The texts in the segments of a generation, one segment after the other.

    Text ``i`` is the member of rank ``ranks[i]`` in partition ``partition_ids[i]``, which is 0 for
    a text outside the generation. Both arrays are ``(n,)``, and ``size`` is the number of texts in
    the generation. Segment ``s`` begins at text ``starts[s]``.
    """

    segments: tuple[SegmentRow, ...]
    starts: tuple[int, ...]
    partition_ids: NDArray[np.int32]
    ranks: NDArray[np.int32]
    size: int

    @classmethod
    def of(cls, segments: Sequence[SegmentRow]) -> TextTable:
        """Return the table of the texts in ``segments``."""
        sizes = [segment["size"] for segment in segments]
        starts = tuple(accumulate(sizes, initial=0))
        partition_ids, ranks = np.zeros(starts[-1], np.int32), np.zeros(starts[-1], np.int32)
        for segment, start in zip(segments, starts, strict=False):
            for partition_id, first, count in segment["partitions"]:
                partition_ids[start + first : start + first + count] = partition_id
                ranks[start + first : start + first + count] = np.arange(count)
        size = int(np.count_nonzero(partition_ids))
        return cls(tuple(segments), starts[:-1], partition_ids, ranks, size)

    @property
    def partition_count(self) -> int:
        """Number of partitions with a text index."""
        return sum(len(segment["partitions"]) for segment in self.segments)


KnownTexts = Recent[TextTable]
"""The texts of the generations that an engine used last, by generation id."""


@dataclass(frozen=True, slots=True, eq=False)
class TextIndex:
    """The entries of a generation's text index for some terms.

    ``postings`` maps each term to the texts that contain it, by their number in ``table``. It has
    only texts of the generation, and only terms that occur in at least one of them.
    """

    table: TextTable
    postings: Mapping[int, PostingList]

    @classmethod
    def of(cls, table: TextTable, cells: Mapping[str, bytes], terms: Sequence[int]) -> TextIndex:
        """Read the postings of ``terms`` from ``cells``, which maps cell uids to their data."""
        parts: dict[int, list[PostingList]] = defaultdict(list)
        for segment, start in zip(table.segments, table.starts, strict=True):
            own = table.partition_ids[start : start + segment["size"]]
            for term, found in _keep_current(_read_postings(segment, cells, terms), own).items():
                parts[term].append(PostingList(found.texts + start, found.impacts))
        postings = {term: _join_postings(found) for term, found in parts.items()}
        return cls(table, {term: found for term, found in postings.items() if len(found)})

    @property
    def partition_ids(self) -> NDArray[np.int32]:
        """Partition of each text, 0 for a text outside the generation, ``(n,)``."""
        return self.table.partition_ids

    @property
    def ranks(self) -> NDArray[np.int32]:
        """Rank of each text in its partition, ``(n,)``."""
        return self.table.ranks

    @property
    def size(self) -> int:
        """Number of texts of the generation."""
        return self.table.size

    def of_term(self, term: int) -> PostingList:
        """Return the postings of a term; empty if no text contains it."""
        return self.postings.get(term, NOTHING)


async def read_index(
    db: Database,
    generation_id: str,
    partition_count: int,
    terms: Collection[int],
    known: KnownTexts | None = None,
) -> TextIndex | None:
    """Return the entries of a generation's text index for ``terms``.

    ``known`` caches the places of texts, so that they are read only once. Returns None if a
    partition is not indexed, or if a merge deletes the segments during each attempt. Raises
    DatabaseError.
    """
    table = known.find(generation_id) if known else None
    for attempt in range(1 + REREADS):
        table = table or await read_table(db, generation_id)
        if table.partition_count < partition_count:
            if attempt:
                return None
            table = None
            continue  # A partition may have moved to another segment during the read.
        index = await read_terms(db, table, terms)
        # Only now is it certain that no cell was deleted before or during the read.
        if await _are_in_use(db, table.segments):
            if known:
                known.keep(generation_id, table)
            return index
        table = None
    return None


async def read_table(db: Database, generation_id: str) -> TextTable:
    """Return the table of the texts in a generation's text index. Raises DatabaseError."""
    rows = await db.read(queries.get("search/read_segments"), generation=generation_id)
    return TextTable.of(cast("list[SegmentRow]", rows))


async def read_terms(db: Database, table: TextTable, terms: Collection[int]) -> TextIndex:
    """Return the entries of the table's segments for ``terms``. Raises DatabaseError."""
    distinct = list(dict.fromkeys(terms))
    uids = {_cell_uid_of(segment, term) for segment in table.segments for term in distinct}
    cells = await db.read(queries.get("search/read_postings"), uids=sorted(uids))
    data = {row["uid"]: row["data"] for row in cells}
    return TextIndex.of(table, data, distinct)


async def _are_in_use(db: Database, segments: Sequence[SegmentRow]) -> bool:
    """Return whether the segments certainly still have all their cells.

    A segment and its cells are deleted only some time after its last partition has left it.
    """
    names = [segment["id"] for segment in segments]
    rows = await db.read(queries.get("search/count_segments"), segments=names)
    return bool(rows[0]["in_use"] == len(names))


def _read_postings(
    segment: SegmentRow, cells: Mapping[str, bytes], terms: Sequence[int]
) -> dict[int, PostingList]:
    """Return the postings of terms in a segment; each cell is decoded once."""
    by_cell: dict[str, list[int]] = defaultdict(list)
    for term in terms:
        by_cell[_cell_uid_of(segment, term)].append(term)
    found: dict[int, PostingList] = {}
    for uid, wanted in by_cell.items():
        if uid in cells:
            found |= read_cell(cells[uid], wanted, segment["bits"])
    return found


def _keep_current(
    postings: Mapping[int, PostingList], partition_ids: NDArray[np.int32]
) -> Mapping[int, PostingList]:
    """Return the postings of a segment without texts of other generations.

    ``partition_ids`` ``(n,)`` is 0 for such texts. Most segments have no such text.
    """
    if partition_ids.all():
        return postings
    live = {term: partition_ids[found.texts] > 0 for term, found in postings.items()}
    return {
        term: PostingList(found.texts[live[term]], found.impacts[live[term]])
        for term, found in postings.items()
    }


def _join_postings(parts: Sequence[PostingList]) -> PostingList:
    """Return the postings of a term in all segments as one list."""
    texts = np.concatenate([part.texts for part in parts])
    return PostingList(texts, np.concatenate([part.impacts for part in parts]))


def _cell_uid_of(segment: SegmentRow, term: int) -> str:
    return cell_uid(segment["id"], bucket_of(term, segment["bits"]))
