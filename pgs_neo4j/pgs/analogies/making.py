"""Makes the analogies of a graph: buys skeletons, embeds them, finds pairs, and links nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.lease import hold_lease
from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.events import PhaseFinished, PhaseStarted, Progressed
from pgs_neo4j.graph.pairs import Pairs, find_pairs
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.calls.budget import Stop, StopKind
from pgs_neo4j.llm.calls.embedding import embed_counted
from pgs_neo4j.model import Analogies, Analogy
from pgs_neo4j.pgs.analogies.buying import SkeletonBuyer, adopt_skeletons, clear_links
from pgs_neo4j.pgs.analogies.texts import (
    AnalogyOrder,
    AnalogyTools,
    GraphText,
    check_analogies,
    read_texts,
)
from pgs_neo4j.search.nodes import read_vectors
from pgs_neo4j.text.shown import counted, unproven_prompts

BATCH = 5_000  # links in one statement
BEST = 10
WAIT_S = 60.0
"""Longest wait for another job on the graph, in seconds, before links are written."""
EMBED_BATCH = 512  # texts in one call of the embedder
PROBES = 8
"""Texts to embed, to test whether the same embedder made the stored embeddings."""
SAME = 0.98
"""Minimum cosine between a stored and a new embedding of the same text in this test."""
Vectors = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class _Compared:
    """The texts that have a skeleton, and the pairs among them, as positions in ``texts``."""

    texts: Sequence[GraphText]
    pairs: Pairs


async def make_analogies(order: AnalogyOrder, tools: AnalogyTools) -> Analogies:
    """Make the analogies of a graph, and replace its existing analogies.

    Each reply is stored when it arrives, so that a later call can continue after a crash or a
    limit. If a limit is reached, only the texts that have a skeleton are compared. The schema must
    exist. Raises ConfigError, NoTextError, ModelError, DatabaseError, and BusyError.
    """
    check_analogies(order, tools)
    began = perf_counter()
    tools.on_event(PhaseStarted("analogies"))
    texts = await read_texts(order, tools)
    kept = await adopt_skeletons(tools.db, order.graph, (text.key for text in texts))
    wanted = len({text.key for text in texts})
    buyer = SkeletonBuyer(order, tools, dict(kept), wanted)
    await buyer.buy_all(texts)
    compared = await _compare(order, tools, texts, buyer.skeletons)
    missing = sum(text.key not in buyer.skeletons for text in texts)
    links = await _replace_links(order, tools, compared, buyer)
    spent = tools.calls.spent()
    seconds = perf_counter() - began
    tools.on_event(PhaseFinished("analogies", seconds, counted(links, "link")))
    return Analogies(
        graph=order.graph,
        model=tools.llm.name,
        embedder=tools.embedder.name,
        texts=len(texts),
        kept=sum(text.key in kept for text in texts),
        plain=_count_plain(texts, buyer.skeletons),
        missing=missing,
        commonplace=len(compared.pairs.commonplace),
        links=links,
        best=_list_best(compared),
        usage=spent.usage,
        cost=spent.cost,
        seconds=seconds,
        stopped=_word_stop(buyer.stop) if buyer.stop else "",
        warnings=(
            *_word_warnings(texts, missing, buyer.stop, tools.calls.uncounted),
            *tools.calls.take_lessons(tools.embedder),
        ),
    )


def _count_plain(texts: Sequence[GraphText], skeletons: Mapping[str, str]) -> int:
    return sum(skeletons.get(text.key) == "" for text in texts)


async def _compare(
    order: AnalogyOrder,
    tools: AnalogyTools,
    texts: Sequence[GraphText],
    skeletons: Mapping[str, str],
) -> _Compared:
    """Compare the texts that have a mechanism.

    ``find_pairs`` also counts texts without a mechanism when it decides what is commonplace.
    """
    described = [text for text in texts if skeletons.get(text.key)]
    raw = await embed_texts(order, tools, described)
    distinct = {
        line: place
        for place, line in enumerate(dict.fromkeys(_list_skeletons(described, skeletons)))
    }
    lines = await embed_lines(tools, [*distinct], "skeletons")
    rows = (
        lines[[distinct[line] for line in _list_skeletons(described, skeletons)]]
        if described
        else lines
    )
    pairs = await asyncio.to_thread(find_pairs, raw, rows, nodes=len(texts))
    return _Compared(described, pairs)


def _list_skeletons(texts: Sequence[GraphText], skeletons: Mapping[str, str]) -> list[str]:
    return [skeletons[text.key] for text in texts]


async def embed_texts(
    order: AnalogyOrder, tools: AnalogyTools, texts: Sequence[GraphText]
) -> NDArray[np.float32]:
    """Return the vectors ``(n, d)`` of texts. Uses stored vectors if the same embedder made them.

    Raises ModelError and DatabaseError.
    """
    stored = await _read_stored(order, tools, texts)
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
    """Embed lines and return their vectors ``(n, d)``; ``what`` names the lines in events.

    Raises ModelError.
    """
    parts: list[NDArray[np.float32]] = []
    for first in range(0, len(lines), EMBED_BATCH):
        batch = lines[first : first + EMBED_BATCH]
        parts.append(unit(await embed_counted(tools.calls, tools.embedder, batch)))
        done = min(first + EMBED_BATCH, len(lines))
        tools.on_event(Progressed("analogies", done, len(lines), f"{what} embedded"))
    return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)


async def _read_stored(
    order: AnalogyOrder, tools: AnalogyTools, texts: Sequence[GraphText]
) -> dict[str, NDArray[np.float64]]:
    """Return the stored vectors by node; empty unless this embedder made them.

    It did if its vectors of the first few texts nearly equal the stored vectors.
    """
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


async def _replace_links(
    order: AnalogyOrder, tools: AnalogyTools, compared: _Compared, buyer: SkeletonBuyer
) -> int:
    """Write new links beside the current links, make them current, and delete the former links.

    Returns the number of links written.
    """
    db, graph, making = tools.db, order.graph, uuid4().hex
    rows, written = [*_make_rows(compared)], 0
    async with hold_lease(db, graph, seconds=order.config.lease_s, wait_s=WAIT_S):
        await clear_links(db, graph)
        for first in range(0, len(rows), BATCH):
            answer = await db.write(
                queries.get("pgs/analogies/write_links"),
                graph=graph,
                making=making,
                labels=list(order.mapping.labels),
                rows=rows[first : first + BATCH],
            )
            written += answer[0]["written"]
            tools.on_event(Progressed("analogies", first, len(rows), "links written"))
        figures = {
            "model": tools.llm.name,
            "embedder": tools.embedder.name,
            "texts": buyer.wanted,
            "links": written,
        }
        query = queries.get("pgs/analogies/merge_analogies")
        if not await db.write(query, graph=graph, making=making, figures=figures):
            await clear_links(db, graph)
            raise UnknownGraphError(f"graph {graph} was just removed; nothing was linked")
        await clear_links(db, graph)
    return written


def _make_rows(compared: _Compared) -> Iterator[Row]:
    pairs, texts = compared.pairs, compared.texts
    for place, delta in enumerate(pairs.delta.tolist()):
        yield {
            "first": texts[int(pairs.first[place])].node,
            "second": texts[int(pairs.second[place])].node,
            "delta": delta,
            "skeleton": float(pairs.skeleton[place]),
            "raw": float(pairs.raw[place]),
        }


def _list_best(compared: _Compared) -> tuple[Analogy, ...]:
    """Return the pairs whose skeletons are much more similar than their texts, best first."""
    pairs, texts = compared.pairs, compared.texts
    order = np.argsort(-pairs.delta, kind="stable")[:BEST].tolist()
    return tuple(
        Analogy(
            first=texts[int(pairs.first[place])].title,
            second=texts[int(pairs.second[place])].title,
            skeleton=float(pairs.skeleton[place]),
            raw=float(pairs.raw[place]),
        )
        for place in order
    )


def _word_warnings(
    texts: Sequence[GraphText], missing: int, stop: Stop | None, uncounted: int
) -> Iterator[str]:
    if not texts:
        yield "no node of the graph has text"
    elif missing and stop is None:
        yield (
            f"{counted(missing, 'text')} got no skeleton, since the replies lacked it; run it "
            "again to ask once more"
        )
    if shortened := sum(text.shortened for text in texts):
        yield f"the model saw only the beginning of {counted(shortened, 'text')}"
    if unproven := unproven_prompts(uncounted):
        yield unproven


def _word_stop(stop: Stop) -> str:
    if stop.kind is StopKind.DEADLINE:
        return "the time limit (run_timeout_s) was reached"
    return stop.text.partition("; what was read")[0]
