"""Describes partitions: keywords, a quick summary, and a centroid. No model reads anything
here but an embedder, where one is configured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j import queries
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.db import Database
from pgs_neo4j.gds import GDS
from pgs_neo4j.graph.keywords import KeywordCounter
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.node_text import joined_text, shortened
from pgs_neo4j.pgs.generation import uid
from pgs_neo4j.search.embedding import Space

SUMMARY_KEYWORDS = 5
SUMMARY_TEXT = 120  # characters of the heaviest node's text, as published
DIGEST_TEXT = 4000  # characters of the heaviest nodes that stand for a partition
EMBED_BATCH = 256


@dataclass(slots=True)
class _Seen:
    """What streaming a partition's texts left behind."""

    heaviest: str
    digest: str
    mean: NDArray[np.float64] | None


async def describe(
    db: Database,
    gds: GDS,
    generation: str,
    mapping: GraphMapping,
    config: PGSConfig,
    space: Space,
    partitions: Sequence[Partition],
    dimensions: int | None,
) -> list[Partition]:
    """The same partitions with keywords, summary, and centroid.

    Texts stream by, one partition at a time. ``dimensions`` is the length of the graph's
    stored vectors, None when it stores none.
    """
    counter = KeywordCounter()
    seen: dict[int, _Seen] = {}
    for partition in partitions:
        seen[partition.id] = await _stream(db, generation, mapping, space, partition, counter)
        counter.finish(partition.id)
    keywords = counter.keywords()
    centroids = await _centroids(
        gds, generation, mapping, config, space, seen, keywords, dimensions
    )
    return [
        replace(
            partition,
            keywords=keywords.get(partition.id, ()),
            summary=_summary(keywords.get(partition.id, ()), seen[partition.id].heaviest),
            centroid=centroids.get(partition.id),
        )
        for partition in partitions
    ]


async def _stream(
    db: Database,
    generation: str,
    mapping: GraphMapping,
    space: Space,
    partition: Partition,
    counter: KeywordCounter,
) -> _Seen:
    heaviest = digest = ""
    total: NDArray[np.float64] | None = None
    batch: list[str] = []
    count = 0
    async for row in db.stream(
        queries.get("partition/read_texts"),
        partition=uid(generation, partition.id),
        text=list(mapping.text),
    ):
        text = joined_text(row["text"])
        if not text:
            continue
        counter.add(partition.id, text)
        heaviest = heaviest or text
        if len(digest) < DIGEST_TEXT:
            digest += shortened(text, DIGEST_TEXT // 4) + "\n"
        if space.kind == "texts":
            batch.append(text)
        if len(batch) == EMBED_BATCH:
            total, count = await _added(space, batch, total, count)
            batch = []
    if batch:
        total, count = await _added(space, batch, total, count)
    return _Seen(heaviest, digest, None if total is None else total / count)


async def _added(
    space: Space, batch: list[str], total: NDArray[np.float64] | None, count: int
) -> tuple[NDArray[np.float64], int]:
    assert space.embedder is not None
    vectors = np.asarray(await space.embedder.embed(batch), dtype=np.float64)
    added = vectors.sum(axis=0)
    return (added if total is None else total + added), count + len(batch)


async def _centroids(
    gds: GDS,
    generation: str,
    mapping: GraphMapping,
    config: PGSConfig,
    space: Space,
    seen: dict[int, _Seen],
    keywords: dict[int, tuple[str, ...]],
    dimensions: int | None,
) -> dict[int, NDArray[np.float32]]:
    if space.kind == "stored" and mapping.embedding and dimensions:
        return await gds.centroids(
            generation,
            mapping.embedding,
            dimensions,
            weight=(mapping.weight or "") if config.centroid == "weighted" else None,
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
