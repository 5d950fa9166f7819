"""Buys the skeletons of texts: twenty to a call, each kept before the next call goes out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pgs_neo4j.database.portions import portions
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import ModelOutputError, PromptTooLongError, StoppedError
from pgs_neo4j.events import Progressed
from pgs_neo4j.llm.calls.coded import complete_coded
from pgs_neo4j.llm.calls.prompt_sizes import estimated_tokens
from pgs_neo4j.llm.calls.receipts import receipt_characters
from pgs_neo4j.llm.calls.stop import Stop
from pgs_neo4j.model import Completion
from pgs_neo4j.model.ceilings import MALFORMED_TRIES
from pgs_neo4j.pgs.analogies.order import AnalogyOrder, AnalogyTools
from pgs_neo4j.pgs.analogies.skeletons import TEXTS_PER_CALL, parse_skeletons, skeleton_prompt
from pgs_neo4j.pgs.analogies.store import adopt_skeletons, keep_skeletons
from pgs_neo4j.pgs.analogies.texts import GraphText
from pgs_neo4j.pgs.sweeping.order import new_gate
from pgs_neo4j.pgs.sweeping.pieces import render_node
from pgs_neo4j.text.tokens import estimate, estimate_bytes

UNIT = 1_000_000  # the room of a call, of which each text takes a share
FRAME = 8  # tokens around a text in a prompt


@dataclass(slots=True)
class SkeletonBuyer:
    """Buys skeletons, and knows those of the graph's texts by key.

    ``stop`` is why no more could be bought. Only its methods write to it.
    """

    order: AnalogyOrder
    tools: AnalogyTools
    skeletons: dict[str, str]
    wanted: int
    stop: Stop | None = None

    async def buy_all(self, texts: Iterable[GraphText]) -> None:
        """Buy the skeletons that are not there. Raises ModelError and DatabaseError."""
        groups = group_texts(self.order, self.tools, missing_texts(texts, self.skeletons))
        gate = new_gate(in_order=self.tools.calls.bounded)
        begun = (self._begin(group, place, gate) for place, group in enumerate(groups))
        await together(*begun)

    async def _begin(self, group: Sequence[GraphText], place: int, gate: asyncio.Semaphore) -> None:
        async with gate:
            if self.stop is None:
                await self.tools.calls.scheduler.wait_until_hungry()
                # Another process may have bought them by now.
                keys = [text.key for text in group]
                self.skeletons |= await adopt_skeletons(self.tools.db, self.order.graph, keys)
        await self._buy(group, -float(place), MALFORMED_TRIES)

    async def _buy(
        self, group: Sequence[GraphText], priority: float, tries: int, *, alone: bool = False
    ) -> None:
        """Ask for the skeletons of a group, and again for those that a reply lacks.

        If replies gave some of them, the last try asks for each of the others ``alone``, where no
        other text can mislead the model.
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
                repeat_malformed=False,  # as it is asked for again here, whatever is wrong
                then=partial(self._take, asked),
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

    async def _take(self, asked: Sequence[GraphText], reply: Completion) -> None:
        """Keep the skeletons of a reply before anything else is bought."""
        parsed = parse_skeletons(reply.text, len(asked), whole=not reply.truncated)
        bought = {asked[place].key: skeleton for place, skeleton in parsed.items()}
        await keep_skeletons(self.order, self.tools, bought)
        self.skeletons |= bought
        known = len(self.skeletons)
        self.tools.on_event(Progressed("analogies", known, self.wanted, "skeletons"))


def missing_texts(texts: Iterable[GraphText], skeletons: Iterable[str]) -> list[GraphText]:
    """Return one text for each key that has no skeleton yet, in order."""
    known = set(skeletons)
    return [*{text.key: text for text in texts if text.key not in known}.values()]


def group_texts(
    order: AnalogyOrder, tools: AnalogyTools, texts: Sequence[GraphText]
) -> Iterator[Sequence[GraphText]]:
    """Yield the texts of each call: as many as fit, and at most ``TEXTS_PER_CALL``."""
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
