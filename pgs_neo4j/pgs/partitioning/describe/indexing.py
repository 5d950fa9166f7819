"""Reads the texts of members, and writes the text index that questions search.

The index is a list of segments (:mod:`pgs_neo4j.text.terms.postings`). Each partition is in one
segment, which numbers its members in the order of rank. Generations that share a partition share
its segment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import TypedDict, cast
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.lease import generation_lost
from pgs_neo4j.database.portions import in_order, portions
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import together
from pgs_neo4j.model import Partition
from pgs_neo4j.pgs.partitioning.membership import Membership
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.pgs.partitioning.view import View
from pgs_neo4j.text.node_text import searched_text
from pgs_neo4j.text.normal_form import normal_form
from pgs_neo4j.text.terms.cells import cell_uid
from pgs_neo4j.text.terms.postings import Segment, SegmentBuilder, TextBatch

# A segment ends after the partition that reaches one of these limits. With up to 65,536 texts, a
# posting takes one byte less. Four million postings take about 200 MB while they are sorted.
MOST_TEXTS = 60_000
MOST_POSTINGS = 4_000_000
WRITE_BYTES = 4_000_000  # bytes of cells in one transaction
# A question reads a cell of each segment, so more small segments than this are merged.
MOST_SMALL = 16
# Maximum bits of a small segment, which has about a sixth of the postings of a full one.
SMALL_BITS = 8


@dataclass(frozen=True, slots=True)
class MemberText:
    """The text of a member of a partition. ``title`` is empty if the text contains it."""

    partition_id: int
    title: str
    text: str

    @property
    def normal(self) -> MemberText:
        """The member with title and text in normal form, as they are indexed."""
        return replace(self, title=normal_form(self.title), text=normal_form(self.text))

    @property
    def whole(self) -> str:
        """Title and text."""
        return f"{self.title}\n{self.text}" if self.title else self.text

    @property
    def body(self) -> int:
        """The position in ``whole`` where the text begins."""
        return len(self.title) + 1 if self.title else 0


async def read_texts(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    members: Membership,
    partition_ids: Collection[int],
    take: Callable[[list[MemberText]], Awaitable[None]],
) -> None:
    """Pass the texts of some partitions to ``take``, in portions.

    All members of a partition arrive in the order of rank, with or without a text.
    """
    mapping = order.mapping
    title = mapping.other_titles  # the other title properties are already read as text
    ranked = np.lexsort((members.rank, members.partition_ids))
    wanted = ranked[np.isin(members.partition_ids[ranked], list(partition_ids))]
    sizes = view.sizes[np.searchsorted(view.ids, members.nodes[wanted])]

    async def read(places: NDArray[np.int64]) -> list[MemberText]:
        """Return the texts of the members at ``places`` ``(k,)``."""
        ids = members.nodes[places].tolist()
        rows = await tools.db.read(
            queries.get("pgs/partitioning/describe/read_texts"),
            ids=ids,
            text=mapping.text_properties,
            title=title,
            facts=mapping.facts,
        )
        columns = zip(rows[0]["ids"], rows[0]["titles"], rows[0]["texts"], strict=True)
        found = {i: (searched_text(own), searched_text(text)) for i, own, text in columns}
        parts = members.partition_ids[places].tolist()
        return [MemberText(p, *found.get(i, ("", ""))) for p, i in zip(parts, ids, strict=True)]

    await in_order((read(wanted[part]) for part in portions(sizes)), take)


class SegmentSize(TypedDict):
    """A row of ``read_segment_sizes``: the number of texts of some partitions in a segment."""

    id: str
    bits: int
    texts: int
    uids: list[str]


Use = Callable[[TextBatch, NDArray[np.int64], NDArray[np.int64]], None]
"""Receives a batch, and for each piece ``(k,)`` its partition and where the node's text begins."""


@dataclass(slots=True)
class SegmentWriter:
    """Indexes texts as they arrive, partition by partition, in the order of rank.

    ``uids`` are the uids of the partitions by id. ``typical`` is the mean length of the graph's
    texts. ``use`` also gets the words of the texts, so that texts are split only once.
    """

    db: Database
    graph: str
    generation_id: str
    uids: Mapping[int, str]
    typical: float
    use: Use | None = None
    builder: SegmentBuilder = field(init=False)
    firsts: dict[int, int] = field(default_factory=dict)
    _bodies: list[int] = field(default_factory=list)
    _counted: tuple[TextBatch, NDArray[np.int64], NDArray[np.int64]] | None = None

    def __post_init__(self) -> None:
        """Begin the first segment."""
        self.builder = SegmentBuilder(self.typical)

    async def add(self, partition_id: int, members: Iterable[MemberText]) -> None:
        """Index the next members of a partition. Members without a text also get a number.

        Raises LeaseLostError.
        """
        if partition_id not in self.firsts:
            if self.builder.size >= MOST_TEXTS or self.builder.postings >= MOST_POSTINGS:
                await self.flush()
            self.firsts[partition_id] = self.builder.size
        members = [member.normal for member in members]
        self.builder.add([member.whole for member in members])
        self._bodies += [member.body for member in members]
        if self.builder.full:
            await self._count()

    async def flush(self) -> None:
        """Write a segment with all members added so far. Raises LeaseLostError."""
        if not self.firsts:
            return
        await self._count()
        segment, _ = await together(asyncio.to_thread(self.builder.build), self._use_counted())
        await self._write(segment)
        self.builder, self.firsts, self._bodies = SegmentBuilder(self.typical), {}, []

    async def _count(self) -> None:
        """Count the terms of the waiting texts, and pass on the previous batch at the same time."""
        for pieces, numbers in self.builder.take_waiting():
            batch, _ = await together(
                asyncio.to_thread(self.builder.count, pieces, numbers), self._use_counted()
            )
            firsts = np.array(list(self.firsts.values()))
            places = np.searchsorted(firsts, numbers, side="right") - 1
            bodies = np.array(self._bodies[numbers[0] : numbers[-1] + 1])[numbers - numbers[0]]
            self._counted = batch, np.array(list(self.firsts))[places], bodies

    async def _use_counted(self) -> None:
        counted, self._counted = self._counted, None
        if self.use is not None and counted is not None:
            await asyncio.to_thread(self.use, *counted)

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
            queries.get("pgs/partitioning/describe/write_segments"),
            **owner,
            size=segment.size,
            bits=segment.bits,
            cells=len(segment.cells),
            partitions=places,
        )
        if not rows or rows[0]["indexed"] != len(places):
            raise generation_lost(self.graph)

    async def _write_cells(self, owner: Row, cells: list[Row]) -> None:
        rows = await self.db.write(
            queries.get("pgs/partitioning/describe/write_postings"), **owner, cells=cells
        )
        if not rows or rows[0]["written"] != len(cells):
            raise generation_lost(self.graph)


def text_index(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    partitions: Iterable[Partition],
    use: Use | None = None,
) -> SegmentWriter:
    """Return a writer of the text index of some partitions."""
    typical = float(view.sizes.mean()) if len(view.sizes) else 1.0
    uids = {part.id: part.uid for part in partitions}
    return SegmentWriter(tools.db, order.graph, order.generation_id, uids, typical, use)


async def merge_segments(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    members: Membership,
    partitions: Sequence[Partition],
) -> None:
    """Merge small segments if there are too many. Each refresh adds one.

    The partitions of the smallest segments are indexed again. They leave their old segments when
    the new one is complete. ``members`` are the members of all partitions. Raises LeaseLostError.
    """
    if not (order.mapping.has_text or order.mapping.has_title):
        return
    uids = [part.uid for part in partitions]
    sizes = await tools.db.read(
        queries.get("pgs/partitioning/describe/read_segment_sizes"), uids=uids
    )
    wanted = choose_scattered(cast("list[SegmentSize]", sizes))
    chosen = [part for part in partitions if part.uid in wanted]
    if not chosen:
        return
    index = text_index(order, tools, view, chosen)

    async def take(texts: list[MemberText]) -> None:
        for partition_id, group in groupby(texts, key=attrgetter("partition_id")):
            await index.add(partition_id, group)

    await read_texts(order, tools, view, members, [part.id for part in chosen], take)
    await index.flush()


def choose_scattered(segments: Sequence[SegmentSize]) -> set[str]:
    """Return the uids of the partitions in the smallest segments, if too many segments are small.

    At least half of the small segments are merged, so that the next refreshes need not merge. The
    smallest come first, so that few texts are indexed again.
    """
    small = [s for s in segments if s["bits"] <= SMALL_BITS and s["texts"] < MOST_TEXTS // 2]
    if len(small) <= MOST_SMALL:
        return set()
    small.sort(key=lambda segment: (segment["texts"], segment["id"]))
    merged = small[: len(small) - MOST_SMALL // 2]
    return {uid for segment in merged for uid in segment["uids"]}
