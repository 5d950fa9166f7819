"""Embeds texts and their skeletons by one embedder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.events import Progressed
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.calls.embedding import embed_counted
from pgs_neo4j.pgs.analogies.order import AnalogyOrder, AnalogyTools
from pgs_neo4j.pgs.analogies.texts import GraphText
from pgs_neo4j.search.stored_vectors import read_vectors

EMBED_BATCH = 512
PROBES = 8
"""Texts that are embedded to see whether the same embedder made the stored embeddings."""
SAME = 0.98
"""Least cosine of a stored embedding and a new one of the same text."""

Vectors = Mapping[str, NDArray[np.float64]]


async def embed_texts(
    order: AnalogyOrder, tools: AnalogyTools, texts: Sequence[GraphText]
) -> NDArray[np.float32]:
    """Return the vectors ``(n, d)`` of texts; stored ones if the same embedder made them.

    Raises ModelError and DatabaseError.
    """
    stored = await _read_own(order, tools, texts)
    fresh = [place for place, text in enumerate(texts) if text.node not in stored]
    embedded = await embed_lines(tools, [texts[place].whole for place in fresh], "texts")
    if not stored:
        return embedded
    width = len(next(iter(stored.values())))
    vectors = np.zeros((len(texts), width), np.float32)
    vectors[fresh] = embedded if fresh else np.zeros((0, width), np.float32)
    for place, text in enumerate(texts):
        if text.node in stored:
            vectors[place] = stored[text.node]
    return vectors


async def embed_lines(tools: AnalogyTools, lines: Sequence[str], what: str) -> NDArray[np.float32]:
    """Return the vectors ``(n, d)`` of some lines; ``what`` names them in events.

    Raises ModelError.
    """
    parts: list[NDArray[np.float32]] = []
    for first in range(0, len(lines), EMBED_BATCH):
        batch = lines[first : first + EMBED_BATCH]
        parts.append(unit(await embed_counted(tools.calls, tools.embedder, batch)))
        done = min(first + EMBED_BATCH, len(lines))
        tools.on_event(Progressed("analogies", done, len(lines), f"{what} embedded"))
    return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)


async def _read_own(
    order: AnalogyOrder, tools: AnalogyTools, texts: Sequence[GraphText]
) -> dict[str, NDArray[np.float64]]:
    """Return the stored vectors by node, if this embedder makes the same of the first texts."""
    embedding, stored = order.mapping.embedding, dict[str, NDArray[np.float64]]()
    if not embedding or not texts:
        return stored
    probes = texts[:PROBES]
    probed = unit(await embed_counted(tools.calls, tools.embedder, [text.whole for text in probes]))
    dimensions = probed.shape[1]
    first = await read_vectors(tools.db, [t.node for t in probes], embedding, dimensions)
    if not first or not _are_same(probes, probed, first):
        return stored
    for start in range(0, len(texts), EMBED_BATCH):
        nodes = [text.node for text in texts[start : start + EMBED_BATCH]]
        stored |= await read_vectors(tools.db, nodes, embedding, dimensions)
    return stored


def _are_same(probes: Sequence[GraphText], probed: NDArray[np.float32], stored: Vectors) -> bool:
    return all(
        float(vector @ stored[text.node]) >= SAME
        for text, vector in zip(probes, probed, strict=True)
        if text.node in stored
    )
