"""Makes the analogies of a graph: skeletons, vectors, pairs, and the links between nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from uuid import uuid4

import numpy as np

from pgs_neo4j.database import queries
from pgs_neo4j.database.lease import hold_lease
from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.events import PhaseFinished, PhaseStarted, Progressed
from pgs_neo4j.graph.scores.pairs import Pairs, find_pairs
from pgs_neo4j.llm.calls.stop import Stop, StopKind
from pgs_neo4j.model import Analogies, Analogy
from pgs_neo4j.pgs.analogies.buying import SkeletonBuyer
from pgs_neo4j.pgs.analogies.order import AnalogyOrder, AnalogyTools, check_analogies
from pgs_neo4j.pgs.analogies.store import adopt_skeletons, clear_links
from pgs_neo4j.pgs.analogies.texts import GraphText, read_texts
from pgs_neo4j.pgs.analogies.vectors import embed_lines, embed_texts
from pgs_neo4j.text.shown import counted, unproven_prompts

BATCH = 5_000
BEST = 10
WAIT_S = 60.0
"""Longest wait for another job on the graph before links are written."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """The texts that have a skeleton, and the pairs among them."""

    texts: Sequence[GraphText]
    pairs: Pairs


async def make_analogies(order: AnalogyOrder, tools: AnalogyTools) -> Analogies:
    """Make the analogies of a graph, in place of those that it has.

    Skeletons are kept as they come, so that another call continues after a crash or a limit. With
    a limit reached, the texts that have a skeleton are compared. The schema must exist. Raises
    ConfigError, NoTextError, ModelError, DatabaseError, and BusyError.
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
        best=_best(compared),
        usage=spent.usage,
        cost=spent.cost,
        seconds=seconds,
        stopped=_say_stop(buyer.stop) if buyer.stop else "",
        warnings=(
            *_warnings(texts, missing, buyer.stop, tools.calls.uncounted),
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
    """Compare the texts that have a mechanism; how common one is counts among all texts."""
    told = [text for text in texts if skeletons.get(text.key)]
    raw = await embed_texts(order, tools, told)
    distinct = {line: place for place, line in enumerate(dict.fromkeys(_lines(told, skeletons)))}
    lines = await embed_lines(tools, [*distinct], "skeletons")
    rows = lines[[distinct[line] for line in _lines(told, skeletons)]] if told else lines
    pairs = await asyncio.to_thread(find_pairs, raw, rows, nodes=len(texts))
    return _Compared(told, pairs)


def _lines(told: Sequence[GraphText], skeletons: Mapping[str, str]) -> list[str]:
    return [skeletons[text.key] for text in told]


async def _replace_links(
    order: AnalogyOrder, tools: AnalogyTools, compared: _Compared, buyer: SkeletonBuyer
) -> int:
    """Write links beside the current ones, make them current, and delete the former ones.

    Returns how many were written.
    """
    db, graph, making = tools.db, order.graph, uuid4().hex
    rows, written = [*_rows(compared)], 0
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


def _rows(compared: _Compared) -> Iterator[Row]:
    pairs, texts = compared.pairs, compared.texts
    for place, delta in enumerate(pairs.delta.tolist()):
        yield {
            "first": texts[int(pairs.first[place])].node,
            "second": texts[int(pairs.second[place])].node,
            "delta": delta,
            "skeleton": float(pairs.skeleton[place]),
            "raw": float(pairs.raw[place]),
        }


def _best(compared: _Compared) -> tuple[Analogy, ...]:
    """Return the pairs whose skeletons are most alike beyond their texts."""
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


def _warnings(
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


def _say_stop(stop: Stop) -> str:
    if stop.kind is StopKind.DEADLINE:
        return "the time limit (run_timeout_s) was reached"
    return stop.text.partition("; what was read")[0]
