"""Compares what runs on random graphs use with the bounds of their plans, without a database.

Partitions of random nodes are packed, read, and combined as in a run, by models that answer as
usual or as badly as they can.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from types import SimpleNamespace
from typing import Any, cast

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.calls.budget import estimated_tokens
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.outcome import UpcomingCall
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import (
    Completion,
    Node,
    Partition,
    PlannedMost,
    PlannedSweep,
    PlannedTotal,
    Prompt,
    Relationship,
    Sweep,
    Usage,
)
from pgs_neo4j.pgs.bounds import Bounds, Reading, sum_largest
from pgs_neo4j.pgs.plan import UsualReplies, likely_total, plan_synthesis
from pgs_neo4j.pgs.sweeping.material import PackedPartition, find_paid, most_tokens, pack_partition
from pgs_neo4j.pgs.sweeping.order import SweepOrder, SweepTools, new_gate, record_nothing
from pgs_neo4j.pgs.sweeping.pack import Pass
from pgs_neo4j.pgs.sweeping.passes import PassReader, order_passes
from pgs_neo4j.pgs.sweeping.report import sweep_prompt
from pgs_neo4j.pgs.sweeping.short_report import FORM
from pgs_neo4j.pgs.sweeping.strict import AGAIN
from pgs_neo4j.pgs.synthesis.reply import SynthesisTools
from pgs_neo4j.pgs.synthesis.write import write_synthesis
from pgs_neo4j.text.tokens import estimate
from tests.fakes.tokens import nothing_deleted
from tests.orders import sweep_order, synthesis_order

WORDS = [
    "iron",
    "clay",
    "slip",
    "dawn",
    "kiln",
    "glaze",
    "ash",
    "salt",
    "river",
    "stone",
    "copper",
    "cedar",
    "linen",
    "amber",
]
PRICE = {"input_price": 2.0, "output_price": 10.0}
MODES = ("usual", "rejected", "cut", "mixed", "worst")
NEAR = 0.4
"""How near a likely figure must be to what a run uses, as a share of the latter."""
DENSITY = 1.1  # tokens that the endpoints count for each estimated token of a prompt


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run used, what its plan called likely, and the most that its plan allowed."""

    mode: str
    used: PlannedMost
    likely: PlannedTotal
    most: PlannedMost
    stopped: bool = False

    @property
    def exceeded(self) -> bool:
        """Whether the run used more than the plan allowed of anything."""
        used, most = self.used, self.most
        return (
            used.calls > most.calls
            or used.input_tokens > most.input_tokens
            or used.output_tokens > most.output_tokens
            or (used.cost or 0.0) > (most.cost or 0.0) * (1 + 1e-9)
        )

    def hits(self) -> dict[str, bool]:
        """Return by kind whether the likely amount is within ``NEAR`` of the used amount."""
        used, likely = self.used, self.likely
        pairs = {
            "calls": (likely.calls, used.calls),
            "input": (likely.input_tokens, used.input_tokens),
            "output": (likely.output_tokens, used.output_tokens),
            "cost": (likely.cost or 0.0, used.cost or 0.0),
        }
        return {kind: abs(told - taken) <= NEAR * taken for kind, (told, taken) in pairs.items()}

    def shares(self) -> dict[str, float]:
        """Return the share of the allowed amount that was used, by kind."""
        used, most = self.used, self.most
        return {
            "calls": used.calls / most.calls,
            "input": used.input_tokens / most.input_tokens,
            "output": used.output_tokens / most.output_tokens,
            "cost": (used.cost or 0.0) / (most.cost or 1.0),
        }


@dataclass(slots=True)
class Reader:
    """Answers in one of the modes, with replies that fill their room except in the usual mode.

    With ``long``, the text of reports also fills the room. Otherwise only the tokens of their usage
    do.
    """

    mode: str
    usual: int
    chance: random.Random
    rejected: Counter[tuple[str, int]] = field(default_factory=Counter)
    slow: bool = False
    long: bool = False
    room: int = 0

    def reply(self, prompt: Prompt, room: int) -> Completion:
        """Return the next reply to a prompt."""
        how = self.mode
        if how == "mixed":
            how = self.chance.choice(("full", "rejected", "cut", "prose", "worst"))
        text, truncated = contract_reply(prompt), False
        if prompt.task == "synthesis":
            how = "usual" if how == "usual" else "full"
        if how in ("rejected", "worst"):
            # In the worst mode, replies are malformed only where their room is largest.
            large = how == "rejected" or room >= 4 * self.usual
            key = (prompt.user.removesuffix(FORM).rstrip(), room)
            if large and self.rejected[key] < 2:
                self.rejected[key] += 1
                text = "nothing"
            elif how == "worst" and prompt.task == "sweep" and AGAIN not in prompt.user:
                truncated = True
        elif how in ("cut", "prose"):
            truncated = AGAIN not in prompt.user
            text = "Some prose." if how == "prose" else text
        if AGAIN not in prompt.user and how != "usual" and prompt.task == "sweep":
            named = prompt.nodes[0].alias if prompt.nodes else "n1"
            text = text.replace(
                "## Outbound", f"- Uranium boils at 9,999 [{named}].\n\n## Outbound"
            )
            text = _lengthen(text, named, room) if self.long else text
        output = estimate(text) if how == "usual" else room
        read = int(DENSITY * estimated_tokens(prompt))
        usage = Usage(calls=1, input_tokens=read, output_tokens=output)
        return Completion(text=text, usage=usage, model="scripted", truncated=truncated)


def _lengthen(text: str, named: str, room: int) -> str:
    """Return a report with as many findings as fit its room, so that the synthesis becomes long."""
    finding = f"- The kiln of the river is made of clay, of stone, and of copper [{named}].\n"
    count = max(0, room - estimate(text)) // estimate(finding)
    lines = "".join(finding.replace("kiln", f"kiln {one}") for one in range(count))
    return text.replace("\n\n## Outbound", f"\n{lines}\n## Outbound", 1)


class BadLLM(ScriptedLLM):
    """Replies as its reader decides from the prompt and its room."""

    def __init__(self, reader: Reader, name: str) -> None:
        super().__init__(name=name)
        self._reader = reader

    async def complete(self, prompt: Prompt, *, max_tokens: int, effort: Any = None) -> Completion:
        """Return the reply. Now and then this takes long, if calls may be sent twice."""
        slow = self._reader.slow and self._reader.chance.random() < 0.2
        await asyncio.sleep(0.05 if slow else 0)
        return self._reader.reply(prompt, max_tokens)

    async def stream(self, prompt: Prompt, *, max_tokens: int, effort: Any = None) -> Any:
        """Yield the reply in one piece."""
        reply = self._reader.reply(prompt, max_tokens)
        yield reply.text
        yield reply


def settings(chance: random.Random) -> tuple[PGSConfig, int | None]:
    """Return random settings of a run, and the context of its models."""
    room = chance.choice((200, 800, 2000))
    config = PGSConfig(
        max_pass_characters=chance.choice((8_000, 20_000, 60_000)),
        sweep_max_tokens=room,
        synthesis_max_tokens=chance.choice((400, 2000)),
        max_flag_sweeps=chance.choice((0, 1, 3)),
        strict=chance.random() < 0.4,
        hedge=chance.random() < 0.3,
    )
    return config, chance.choice((None, None, 6_000, 16_000))


def partitions(chance: random.Random) -> list[_Material]:
    """Return the nodes and relationships of random partitions."""
    found = []
    for _ in range(chance.randint(1, 8)):
        size, words = chance.randint(1, 20), chance.choice((5, 40, 300))
        nodes = tuple(
            Node(
                rank=rank,
                element_id=f"e{rank}",
                key=f"k{rank}",
                title=chance.choice(WORDS).title(),
                text=" ".join(chance.choices(WORDS, k=chance.randint(1, words))) + ".",
            )
            for rank in range(size)
        )
        links = tuple(
            Relationship(chance.randrange(size), chance.randrange(size), "CITES")
            for _ in range(chance.randint(0, 3 * size))
        )
        found.append(_Material(nodes, links))
    return found


async def try_graph(seed: int, mode: str, *, bounded: bool = False) -> Outcome | None:
    """Plan and run one random graph; return None if its settings leave no room for a node.

    With ``bounded``, the run may spend no more than the most of its plan.
    """
    chance = random.Random(seed)
    config, context = settings(chance)
    names = ("reader", chance.choice(("reader", "writer")))
    models = {name: ModelEntry(context=context, **cast("Any", PRICE)) for name in names}
    reader = Reader(mode, config.sweep_max_tokens, random.Random(seed + 1), slow=config.hedge)
    reader.long = seed % 3 == 0  # only for some seeds, because such long reports take long to parse
    llm, writer = (BadLLM(reader, name) for name in names)
    calls = Calls.of(config, models)
    tools = SweepTools(
        db=cast("Any", None),
        llm=llm,
        calls=calls,
        replies=None,
        on_event=ignore,
        record=record_nothing,
        gate=new_gate(),
    )
    bounds = Bounds(calls, config, llm, writer)
    material = partitions(chance)
    ids = frozenset(range(1, len(material) + 1))
    parts = [
        Partition(id=id_, size=len(one.nodes), tokens=1)
        for id_, one in enumerate(material, start=1)
    ]
    orders = [
        replace(sweep_order("Why?", part), config=config, partition_ids=ids) for part in parts
    ]
    try:
        planned = [
            await _plan(order, one, tools, bounds)
            for order, one in zip(orders, material, strict=True)
        ]
    except ConfigError:
        return None
    routed = chance.randint(1, len(planned))
    others = planned[routed:]
    flags = min(config.max_flag_sweeps, len(others))
    named = chance.sample(others, flags)
    reading = sum((one.reading for one in planned[:routed]), Reading())
    reading += sum_largest([one.reading for one in others], config.max_flag_sweeps)
    shown = estimate("Why?")
    most = reading.most + bounds.of_synthesis(
        reading.reports,
        routed + flags,
        shown,
        settled=calls.needs_settling(UpcomingCall(writer, None, stream=True)),
    )
    if bounded:
        capped = config.model_copy(
            update={
                "max_calls": most.calls,
                "max_tokens": most.input_tokens + most.output_tokens,
                "max_cost": most.cost,
            }
        )
        calls = Calls.of(capped, models)
        tools = replace(tools, calls=calls)
    swept: list[Sweep] = []
    stopped = False
    for wave in (planned[:routed], named):
        results = await asyncio.gather(*(_read(one, tools) for one in wave))
        swept += [result.sweep for result in results]
        stopped |= any(result.stop is not None for result in results)
    synthesis = SynthesisTools(
        llm=writer,
        calls=calls,
        replies=None,
        on_event=ignore,
        warn=lambda _: None,
        check_deleted=nothing_deleted,
        reducing_llm=llm,
    )
    if any(one.report is not None for one in swept):
        order = replace(synthesis_order("Why?", swept, parts, config), texts={})
        await write_synthesis(order, synthesis)
    likely = [one.likely for one in (*planned[:routed], *named)]
    told = SimpleNamespace(calls=calls, sweep_llm=llm, synthesis_llm=writer)
    asked, combining = cast("Any", SimpleNamespace(config=config)), cast("Any", told)
    usual = UsualReplies(
        sum(one.output_tokens for one in likely) // max(sum(one.passes for one in likely), 1),
        estimate(contract_reply(Prompt(task="synthesis", system="", user="", question="Why?"))),
    )
    return Outcome(
        mode,
        PlannedMost(
            calls=calls.usage.calls,
            input_tokens=calls.usage.input_tokens,
            output_tokens=calls.usage.output_tokens,
            cost=calls.budget.cost,
        ),
        likely_total(combining, likely, plan_synthesis(asked, combining, likely, usual, 0)),
        most,
        stopped,
    )


@dataclass(frozen=True, slots=True)
class _Material:
    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]


@dataclass(frozen=True, slots=True)
class _Planned:
    order: SweepOrder
    packed: PackedPartition
    reading: Reading
    likely: PlannedSweep


async def _plan(
    order: SweepOrder, material: _Material, tools: SweepTools, bounds: Bounds
) -> _Planned:
    most = most_tokens(order, tools)
    packed = await pack_partition(order, tools, material.nodes, material.relationships, most)
    order = packed.order
    word = _word(order, packed)
    readings = (bounds.of_pass(item, packed.relationships, word) for item in packed.passes)
    prompts = [word(item) for item in packed.passes]
    likely = PlannedSweep(
        partition=order.partition.id,
        nodes=len(packed.nodes),
        passes=len(prompts),
        cached=0,
        input_tokens=sum(map(estimated_tokens, prompts)),
        # As in a plan that knows how long a model's replies usually are.
        output_tokens=sum(estimate(contract_reply(prompt)) for prompt in prompts),
        output_most=len(prompts) * order.config.sweep_max_tokens,
        reason="",
        similarity=None,
    )
    return _Planned(order, packed, sum(readings, Reading()), likely)


def _word(order: SweepOrder, packed: PackedPartition) -> Callable[[Pass], Prompt]:
    return lambda item: sweep_prompt(order, item, len(packed.passes), with_receipts=False)


async def _read(planned: _Planned, tools: SweepTools) -> Any:
    paid = await find_paid(planned.order, tools, planned.packed)
    reader = PassReader(planned.order, tools, paid, perf_counter())
    passes = order_passes(planned.packed.passes, ())
    await asyncio.gather(*(reader.read_once(item) for item in passes))
    return await reader.finish()
