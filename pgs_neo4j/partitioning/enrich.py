"""Describes partitions: keywords, a quick summary, and a centroid. No model reads anything
here but an embedder, where one is configured."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.portions import in_order, portions
from pgs_neo4j.gds import compute_centroids
from pgs_neo4j.model import Partition
from pgs_neo4j.partitioning.attempt import Attempt
from pgs_neo4j.partitioning.membership import Membership
from pgs_neo4j.partitioning.scan.view import View
from pgs_neo4j.retrieval.space import Space
from pgs_neo4j.text.keywords import KeywordCounter
from pgs_neo4j.text.node_text import joined_text, shortened

SUMMARY_KEYWORDS = 5
SUMMARY_TEXT = 120  # characters of the heaviest node's text, as published
DIGEST_TEXT = 4000  # characters of the heaviest nodes that stand for a partition
EMBED_BATCH = 256


@dataclass(slots=True)
class _Seen:
    """What a partition's texts left behind."""

    heaviest: str = ""
    digest: str = ""
    total: NDArray[np.float64] | None = None
    count: int = 0

    def show(self, text: str) -> None:
        self.heaviest = self.heaviest or text
        if len(self.digest) < DIGEST_TEXT:
            self.digest += shortened(text, DIGEST_TEXT // 4) + "\n"

    def add(self, vectors: NDArray[np.float64]) -> None:
        added = vectors.sum(axis=0)
        self.total = added if self.total is None else self.total + added
        self.count += len(vectors)

    @property
    def mean(self) -> NDArray[np.float64] | None:
        return None if self.total is None else self.total / self.count


async def describe(
    attempt: Attempt,
    generation: str,
    found: View,
    members: Membership,
    partitions: Sequence[Partition],
    others: Sequence[Partition] = (),
    common: Collection[str] = (),
) -> tuple[list[Partition], frozenset[str]]:
    """The same partitions with keywords, summary, and centroid, and the words that are too
    common to be keywords.

    Texts come by in portions, partition by partition, heaviest node first. ``partitions`` may
    be some of a generation only; ``others`` are the rest, which are described already, and
    ``common`` the words that were left out of their keywords.
    """
    if not partitions:
        return [], frozenset(common)
    counter = KeywordCounter()
    seen: dict[int, _Seen] = {part.id: _Seen() for part in partitions}
    if attempt.mapping.text:
        await _read_texts(attempt, found, members, seen, counter)
    left_out = counter.common([part.keywords for part in others]) | frozenset(common)
    keywords = counter.keywords(left_out)
    vectors = await _centroids(
        attempt, generation, seen, keywords, found.embedding_dimensions, partial=bool(others)
    )
    described = [
        replace(
            partition,
            keywords=keywords.get(partition.id, ()),
            summary=_summary(keywords.get(partition.id, ()), seen[partition.id].heaviest),
            centroid=vectors.get(partition.id),
        )
        for partition in partitions
    ]
    return described, left_out


async def _read_texts(
    attempt: Attempt,
    found: View,
    members: Membership,
    seen: dict[int, _Seen],
    counter: KeywordCounter,
) -> None:
    """Show every text of the wanted partitions to what is seen of them, and count its words."""
    order = np.lexsort((members.rank, members.partition))
    order = order[np.isin(members.partition[order], list(seen))]
    sizes = found.sizes[np.searchsorted(found.ids, members.nodes[order])]
    wanted = (order[part] for part in portions(sizes))
    reader = _Reader(attempt.space, seen, counter)

    async def read(places: NDArray[np.int64]) -> list[tuple[int, str]]:
        ids = members.nodes[places].tolist()
        rows = await attempt.db.read(
            queries.get("partitioning/read_texts"), ids=ids, text=list(attempt.mapping.text)
        )
        texts = dict(zip(rows[0]["ids"], rows[0]["texts"], strict=True))
        parts = members.partition[places].tolist()
        return [(p, joined_text(texts.get(i, ()))) for p, i in zip(parts, ids, strict=True)]

    await in_order((read(places) for places in wanted), reader.take)
    await reader.end()


@dataclass(slots=True)
class _Reader:
    """Takes texts in the order of partitions; a partition ends when the next one begins."""

    space: Space
    seen: dict[int, _Seen]
    counter: KeywordCounter
    partition: int | None = None
    batch: list[str] = field(default_factory=list)

    async def take(self, texts: list[tuple[int, str]]) -> None:
        for partition, text in texts:
            if partition != self.partition:
                await self.end()
                self.partition = partition
            if not text:
                continue
            self.counter.add(partition, text)
            self.seen[partition].show(text)
            if self.space.kind == "texts":
                self.batch.append(text)
            if len(self.batch) == EMBED_BATCH:
                await self._embed()

    async def end(self) -> None:
        """The partition has no more texts."""
        if self.partition is not None:
            await self._embed()
            self.counter.finish(self.partition)

    async def _embed(self) -> None:
        if self.batch and self.partition is not None:
            assert self.space.embedder is not None
            vectors = np.asarray(await self.space.embedder.embed(self.batch), dtype=np.float64)
            self.seen[self.partition].add(vectors)
            self.batch = []


async def _centroids(
    attempt: Attempt,
    generation: str,
    seen: dict[int, _Seen],
    keywords: dict[int, tuple[str, ...]],
    dimensions: int | None,
    *,
    partial: bool,
) -> dict[int, NDArray[np.float32]]:
    space, mapping = attempt.space, attempt.mapping
    if space.kind == "stored" and mapping.embedding and dimensions:
        return await compute_centroids(
            attempt.gds,
            generation,
            mapping.embedding,
            dimensions,
            weight=(mapping.weight or "") if attempt.config.centroid == "weighted" else None,
            partition_ids=list(seen) if partial else (),
            concurrency=1,
        )
    if space.kind == "texts":
        means = {part: found.mean for part, found in seen.items() if found.mean is not None}
        return {part: mean.astype(np.float32) for part, mean in means.items() if mean.any()}
    if space.kind == "digests" and space.embedder is not None:
        parts = [part for part, found in seen.items() if found.digest]
        texts = [f"{', '.join(keywords.get(p, ()))}\n{seen[p].digest}" for p in parts]
        vectors = await space.embedder.embed(texts) if texts else np.empty((0, 0))
        return dict(zip(parts, np.asarray(vectors, dtype=np.float32), strict=True))
    return {}


def _summary(keywords: Sequence[str], heaviest: str) -> str:
    topics = ", ".join(keywords[:SUMMARY_KEYWORDS])
    opening = shortened(heaviest, SUMMARY_TEXT)
    return ". ".join(part for part in (topics, opening) if part)
