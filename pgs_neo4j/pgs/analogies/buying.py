"""Buys and stores the skeletons of texts, and predicts their cost.

Up to twenty texts share a call. Each reply is stored as soon as it arrives, so that no paid work is
lost. It is stored outside of the reply cache, because old replies may be removed from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.portions import portions
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import ModelOutputError, PromptTooLongError, StoppedError
from pgs_neo4j.events import Progressed
from pgs_neo4j.llm.calls.budget import Amount, Stop, cost_range, estimated_tokens
from pgs_neo4j.llm.calls.receipts import complete_coded, receipt_characters
from pgs_neo4j.model import AnalogyPlan, Completion, PlannedCalls
from pgs_neo4j.model.ceilings import MALFORMED_TRIES
from pgs_neo4j.pgs.analogies.texts import (
    TEXTS_PER_CALL,
    AnalogyOrder,
    AnalogyTools,
    GraphText,
    check_analogies,
    parse_skeletons,
    read_texts,
    skeleton_prompt,
)
from pgs_neo4j.pgs.sweeping.order import new_gate
from pgs_neo4j.pgs.sweeping.pieces import render_node
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.tokens import estimate, estimate_bytes

UNIT = 1_000_000  # room of a whole call, in the unit of the texts' shares
FRAME = 8  # tokens around a text in a prompt
BATCH = 5_000  # skeletons in one statement
LINE_TOKENS = 40
"""Tokens of a typical line with a skeleton of about 30 words."""


@dataclass(slots=True)
class SkeletonBuyer:
    """Buys skeletons, and collects all skeletons of the graph's texts by key.

    ``stop`` is the reason why no more can be bought. Only the methods change these fields.
    """

    order: AnalogyOrder
    tools: AnalogyTools
    skeletons: dict[str, str]
    wanted: int
    stop: Stop | None = None

    async def buy_all(self, texts: Iterable[GraphText]) -> None:
        """Buy all missing skeletons. Raises ModelError and DatabaseError."""
        groups = group_texts(self.order, self.tools, missing_texts(texts, self.skeletons))
        gate = new_gate(in_order=self.tools.calls.bounded)
        begun = (self._buy_at_turn(group, place, gate) for place, group in enumerate(groups))
        await together(*begun)

    async def _buy_at_turn(
        self, group: Sequence[GraphText], place: int, gate: asyncio.Semaphore
    ) -> None:
        async with gate:
            if self.stop is None:
                await self.tools.calls.scheduler.wait_until_hungry()
                # Another process may have bought these skeletons by now.
                keys = [text.key for text in group]
                self.skeletons |= await adopt_skeletons(self.tools.db, self.order.graph, keys)
        await self._buy(group, -float(place), MALFORMED_TRIES)

    async def _buy(
        self, group: Sequence[GraphText], priority: float, tries: int, *, alone: bool = False
    ) -> None:
        """Request the skeletons of a group, and request again the skeletons that a reply lacks.

        If earlier replies had some of the skeletons (``alone``), the last try requests each missing
        skeleton in a separate call, because other texts in the prompt may mislead the model.
        """
        asked = missing_texts(group, self.skeletons)
        if not asked or not tries or self.stop is not None:
            return
        if alone and tries == 1 and len(asked) > 1:
            await together(*(self._buy([text], priority, tries) for text in asked))
            return
        try:
            await complete_coded(
                self.tools.calls,
                self.tools.llm,
                skeleton_prompt([text.shown for text in asked]),
                "texts",
                room=self.order.config.sweep_max_tokens,
                effort=self.order.config.sweep_effort,
                priority=priority,
                repeat_malformed=False,  # this method itself requests missing skeletons again
                then=partial(self._keep_reply, asked),
            )
        except PromptTooLongError:
            if len(asked) > 1:
                halves = asked[: len(asked) // 2], asked[len(asked) // 2 :]
                await together(*(self._buy(half, priority, tries) for half in halves))
            return
        except ModelOutputError:
            pass
        except StoppedError as error:
            self.stop = self.stop or Stop.from_error(error)
            return
        alone = alone or any(text.key in self.skeletons for text in asked)
        await self._buy(asked, priority, tries - 1, alone=alone)

    async def _keep_reply(self, asked: Sequence[GraphText], reply: Completion) -> None:
        """Store the skeletons of a reply before anything else is bought."""
        parsed = parse_skeletons(reply.text, len(asked), whole=not reply.truncated)
        bought = {asked[place].key: skeleton for place, skeleton in parsed.items()}
        await keep_skeletons(self.order, self.tools, bought)
        self.skeletons |= bought
        known = len(self.skeletons)
        self.tools.on_event(Progressed("analogies", known, self.wanted, "skeletons"))


def missing_texts(texts: Iterable[GraphText], skeletons: Iterable[str]) -> list[GraphText]:
    """Return the texts without a skeleton, in order, and only one text for each key."""
    known = set(skeletons)
    return [*{text.key: text for text in texts if text.key not in known}.values()]


def group_texts(
    order: AnalogyOrder, tools: AnalogyTools, texts: Sequence[GraphText]
) -> Iterator[Sequence[GraphText]]:
    """Yield groups of texts that fit into one call each, of at most ``TEXTS_PER_CALL`` texts."""
    config = order.config
    frame = skeleton_prompt([])
    most = tools.calls.pass_tokens(tools.llm, config.max_pass_tokens, config.sweep_max_tokens)
    room = config.max_pass_characters
    coded = tools.calls.asks_receipts(tools.llm)
    codes = receipt_characters(most or estimate_bytes(room)) if coded else 0
    characters = max(room - len(frame.system) - len(frame.user) - codes, 1)
    tokens = max(most - estimated_tokens(frame) - codes // 2, 1) if most is not None else None
    shares = np.zeros(len(texts), np.int64)
    for place, text in enumerate(texts):
        shown = render_node(text.shown)
        share = (len(shown) + FRAME) / characters
        if tokens is not None:
            share = max(share, (estimate(shown) + FRAME) / tokens)
        shares[place] = int(share * UNIT) + 1
    for part in portions(shares, TEXTS_PER_CALL, UNIT):
        yield texts[part]


async def find_skeletons(db: Database, graph: str, keys: Iterable[str]) -> dict[str, str]:
    """Return the stored skeletons by key. Raises DatabaseError."""
    return {row["key"]: row["text"] for row in await _read_skeletons(db, graph, sorted(set(keys)))}


async def adopt_skeletons(db: Database, graph: str, keys: Iterable[str]) -> dict[str, str]:
    """Return the stored skeletons by key, and record that the graph uses them.

    Raises DatabaseError.
    """
    rows = await _read_skeletons(db, graph, sorted(set(keys)))
    names = ("key", "text", "model")
    others = [{name: row[name] for name in names} for row in rows if not row["known"]]
    await _write_skeletons(db, graph, others)
    return {row["key"]: row["text"] for row in rows}


async def keep_skeletons(
    order: AnalogyOrder, tools: AnalogyTools, skeletons: Mapping[str, str]
) -> None:
    """Store skeletons by key. Raises DatabaseError."""
    model = tools.llm.name
    rows = [{"key": key, "text": text, "model": model} for key, text in skeletons.items()]
    await _write_skeletons(tools.db, order.graph, rows)


async def forget_analogies(db: Database, graph: str) -> None:
    """Delete the analogies of a graph, and the skeletons that no other graph uses.

    Raises DatabaseError.
    """
    await db.batch(queries.get("pgs/analogies/delete_analogies"), graph=graph)
    await clear_links(db, graph)


async def clear_links(db: Database, graph: str) -> None:
    """Delete the analogies of a graph, except those that are current. Raises DatabaseError."""
    await db.batch(queries.get("pgs/analogies/delete_links"), graph=graph)


async def _read_skeletons(db: Database, graph: str, keys: list[str]) -> list[Row]:
    rows: list[Row] = []
    for first in range(0, len(keys), BATCH):
        part = keys[first : first + BATCH]
        rows += await db.read(queries.get("pgs/analogies/read_skeletons"), keys=part, graph=graph)
    return rows


async def _write_skeletons(db: Database, graph: str, rows: list[Row]) -> None:
    for first in range(0, len(rows), BATCH):
        part = rows[first : first + BATCH]
        await db.write(queries.get("pgs/analogies/write_skeletons"), rows=part, graph=graph)


async def plan_analogies(order: AnalogyOrder, tools: AnalogyTools) -> AnalogyPlan:
    """Return what ``make_analogies`` would buy, without calling a model.

    Raises ConfigError, NoTextError, and DatabaseError.
    """
    check_analogies(order, tools)
    texts = await read_texts(order, tools)
    kept = await find_skeletons(tools.db, order.graph, (text.key for text in texts))
    groups = [*group_texts(order, tools, missing_texts(texts, kept))]
    sizes = [estimated_tokens(skeleton_prompt([text.shown for text in group])) for group in groups]
    longest = len(groups) * order.config.sweep_max_tokens
    calls = PlannedCalls(
        calls=len(groups),
        input_tokens=sum(sizes),
        output_most=longest,
        longest_prompt=max(sizes, default=0),
    )
    low, high = cost_range(tools.calls.budget, [(tools.llm, calls)] if groups else [])
    return AnalogyPlan(
        graph=order.graph,
        model=tools.llm.name,
        embedder=tools.embedder.name,
        texts=len(texts),
        kept=sum(text.key in kept for text in texts),
        shortened=sum(text.shortened for text in texts),
        calls=len(groups),
        input_tokens=sum(sizes),
        output_tokens=sum(map(_typical_tokens, groups)),
        output_most=longest,
        embedded_tokens=sum(estimate(text.whole) + LINE_TOKENS for text in texts),
        low=low,
        high=high,
        budget=_word_crossed_limit(tools, groups, sizes),
    )


def _typical_tokens(group: Sequence[GraphText]) -> int:
    return LINE_TOKENS * len(group)


def _word_crossed_limit(
    tools: AnalogyTools, groups: Sequence[Sequence[GraphText]], sizes: Sequence[int]
) -> str:
    """Return a sentence on the limit that the calls would cross; empty if they cross no limit.

    It gives the number of texts that would have no skeleton.
    """
    budget, total, left = tools.calls.budget, Amount(), sum(map(len, groups))
    for group, size in zip(groups, sizes, strict=True):
        cost = budget.price(tools.llm.name, size, _typical_tokens(group)) or 0.0
        total += Amount(1, size + _typical_tokens(group), cost)
        if crossed := budget.bounds.crossed(total):
            return f"{crossed[0]} would leave about {counted(left, 'text')} without a skeleton"
        left -= len(group)
    return ""
