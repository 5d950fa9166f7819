"""Writes the text index of partitions, by which questions find nodes.

The index is a list of segments (:mod:`pgs_neo4j.text.terms.postings`). A partition lies in one
segment, its members numbered in the order of rank. Generations that share a partition share its
segment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.database.lease import generation_lost
from pgs_neo4j.model import Partition
from pgs_neo4j.partitioning.describe.texts import MemberText, read_texts
from pgs_neo4j.partitioning.membership import Membership
from pgs_neo4j.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.partitioning.scan.view import View
from pgs_neo4j.text.terms.cells import cell_uid
from pgs_neo4j.text.terms.keywords import KeywordCounter, plain_text
from pgs_neo4j.text.terms.postings import Segment, SegmentBuilder
from pgs_neo4j.text.terms.spans import SplitTexts, split_words

# A segment ends after the partition that reaches one of these. With up to 65,536 texts, a posting
# takes a byte less. The arrays of four million postings take about 200 MB while they are sorted.
MOST_TEXTS = 60_000
MOST_POSTINGS = 4_000_000
WRITE_BYTES = 4_000_000  # of cells in one transaction


@dataclass(slots=True)
class SegmentWriter:
    """Indexes texts as they stream by, partition by partition, in the order of rank.

    ``uids`` are those of the partitions by id. ``typical`` is the mean length of the graph's texts.
    ``keywords`` counts the words of the same texts.
    """

    db: Database
    graph: str
    generation_id: str
    uids: Mapping[int, str]
    typical: float
    keywords: KeywordCounter | None = None
    builder: SegmentBuilder = field(init=False)
    firsts: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin the first segment."""
        self.builder = SegmentBuilder(self.typical)

    async def add(self, partition_id: int, texts: list[str]) -> None:
        """Index the next texts of a partition; empty ones count.

        Raises LeaseLostError.
        """
        if partition_id not in self.firsts:
            if self.builder.size >= MOST_TEXTS or self.builder.postings >= MOST_POSTINGS:
                await self.flush()
            self.firsts[partition_id] = self.builder.size
        self.builder.add(texts)
        if self.builder.full:
            await asyncio.to_thread(self._count)
            self._finish(but=partition_id)

    async def flush(self) -> None:
        """Write the segment of everything added so far. Raises LeaseLostError."""
        if not self.firsts:
            return
        await asyncio.to_thread(self._count)
        self._finish()
        segment = await asyncio.to_thread(self.builder.build)
        await self._write(segment)
        self.builder, self.firsts = SegmentBuilder(self.typical), {}

    def _count(self) -> None:
        self.builder.count(self._count_keywords if self.keywords else None)

    def _count_keywords(
        self, pieces: Sequence[str], split: SplitTexts, numbers: NDArray[np.int64]
    ) -> None:
        """Count keywords of pieces of texts; only those with markup are split again."""
        assert self.keywords is not None
        firsts = np.array(list(self.firsts.values()))
        owners = np.array(list(self.firsts))[np.searchsorted(firsts, numbers, side="right") - 1]
        plain = list(map(plain_text, pieces))
        again = np.array([text is not piece for text, piece in zip(plain, pieces, strict=True)])
        again[split.signs.texts] = True  # their words were divided for the index
        self.keywords.count(split.runs.at(~again[split.runs.texts]), owners)
        if again.any():
            marked = [text for text, chosen in zip(plain, again, strict=True) if chosen]
            self.keywords.count(split_words(marked).runs, owners[again])

    def _finish(self, but: int | None = None) -> None:
        """Let the counter of keywords finish the partitions that are complete."""
        if self.keywords is not None:
            for partition_id in self.firsts.keys() - {but}:
                self.keywords.finish(partition_id)

    async def _write(self, segment: Segment) -> None:
        name = f"s{uuid4().hex[:16]}"
        owner = {"generation": self.generation_id, "graph": self.graph, "segment": name}
        batch: list[Row] = []
        for bucket, data in segment.cells.items():
            batch.append({"uid": cell_uid(name, bucket), "data": data})
            if sum(len(cell["data"]) for cell in batch) >= WRITE_BYTES:
                await self._write_cells(owner, batch)
                batch = []
        if batch:
            await self._write_cells(owner, batch)
        places = [{"uid": self.uids[part], "first": at} for part, at in self.firsts.items()]
        rows = await self.db.write(
            queries.get("partitioning/write_segments"),
            **owner,
            size=segment.size,
            bits=segment.bits,
            partitions=places,
        )
        if not rows or rows[0]["indexed"] != len(places):
            raise generation_lost(self.graph)

    async def _write_cells(self, owner: Row, cells: list[Row]) -> None:
        rows = await self.db.write(queries.get("partitioning/write_postings"), **owner, cells=cells)
        if not rows or rows[0]["written"] != len(cells):
            raise generation_lost(self.graph)


def text_index(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    partitions: Iterable[Partition],
    keywords: KeywordCounter | None = None,
) -> SegmentWriter:
    """Return a writer of the text index of some partitions, which also counts keywords."""
    typical = float(view.sizes.mean()) if len(view.sizes) else 1.0
    uids = {part.id: part.uid for part in partitions}
    return SegmentWriter(tools.db, order.graph, order.generation_id, uids, typical, keywords)


async def index_missing(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    members: Membership,
    partitions: Sequence[Partition],
) -> None:
    """Index the partitions that have no text index yet. Raises LeaseLostError.

    These are partitions of an earlier release. ``members`` are those of all partitions.
    """
    if not (order.mapping.text or order.mapping.title):
        return
    rows = await tools.db.read(
        queries.get("partitioning/read_unindexed"), uids=[part.uid for part in partitions]
    )
    missing = set(rows[0]["uids"])
    chosen = [part for part in partitions if part.uid in missing]
    if not chosen:
        return
    index = text_index(order, tools, view, chosen)

    async def take(texts: list[MemberText]) -> None:
        for partition_id, group in groupby(texts, key=attrgetter("partition_id")):
            await index.add(partition_id, [one.whole for one in group])

    await read_texts(order, tools, view, members, [part.id for part in chosen], take)
    await index.flush()
