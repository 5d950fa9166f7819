"""Compares what runs of the whole engine use with the bounds that their plans state.

Each random graph is in the database, and has a history: questions are planned and asked in some
modes and sessions, with and without the cache of replies. Some runs end early, so that later runs
find a part of the graph read and some replies paid. The models answer as usual, or as badly as they
can. Where a server may cut prompts, the prompts hold codes, which the replies may or may not
repeat.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, cast

from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import (
    ConfigError,
    ModelUnavailableError,
    NothingLeftError,
    PGSError,
    StoppedError,
)
from pgs_neo4j.llm.calls.budget import estimated_tokens
from pgs_neo4j.llm.context import ModelContext
from pgs_neo4j.model import (
    Completion,
    GraphMapping,
    PlannedTotal,
    Prompt,
    Sweep,
    SweepStatus,
    Usage,
)
from tests.forecasts import DENSITY, MODES, PRICE, WORDS, BadLLM, Reader

GRAPH = "planned"
MAPPING = GraphMapping(
    labels=("Note",), relationship_types=("CITES",), text=("text",), title="title", key="key"
)
CREATE = """
UNWIND $nodes AS one
CREATE (n:Note {key: one.key, title: one.title, text: one.text})
WITH collect(n) AS nodes
UNWIND $links AS link
WITH nodes[link[0]] AS a, nodes[link[1]] AS b
CREATE (a)-[:CITES]->(b)
"""
KINDS = ("plain", "codes repeated", "codes ignored", "codes and tokens")
"""Whether prompts hold codes, and what replies do with them. A trusted model gets no codes."""
HISTORY = 4  # questions of a graph


@dataclass(frozen=True, slots=True)
class Compared:
    """What a run used, what its plan allowed, and how the run was made."""

    how: str
    used: PlannedTotal
    most: PlannedTotal
    stopped: bool = False

    @property
    def exceeded(self) -> tuple[str, ...]:
        """Return the names of the amounts of which the run used more than its plan allowed."""
        used, most = self.used, self.most
        pairs = {
            "partitions": (used.partitions, most.partitions),
            "calls": (used.calls, most.calls),
            "input": (used.input_tokens, most.input_tokens),
            "output": (used.output_tokens, most.output_tokens),
            "cost": (used.cost or 0.0, (most.cost or 0.0) * (1 + 1e-9)),
        }
        return tuple(name for name, (taken, told) in pairs.items() if taken > told)

    def shares(self) -> dict[str, float]:
        """Return the used share of the allowed amount, by kind; 0 if nothing was allowed."""
        used, most = self.used, self.most
        return {
            "calls": used.calls / max(most.calls, 1),
            "input": used.input_tokens / max(most.input_tokens, 1),
            "output": used.output_tokens / max(most.output_tokens, 1),
            "cost": (used.cost or 0.0) / (most.cost or 1.0),
        }


class Bill:
    """What the endpoint of the models bills."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.tasks: Counter[str] = Counter()

    def add(self, prompt: Prompt, reply: Completion) -> None:
        """Bill a call."""
        self.usage += reply.usage
        self.tasks[prompt.task] += 1

    @property
    def cost(self) -> float:
        """The money billed."""
        read, written = self.usage.input_tokens, self.usage.output_tokens
        return (read * PRICE["input_price"] + written * PRICE["output_price"]) / 1e6


@dataclass(slots=True)
class Scribe(Reader):
    """A reader that also flags other partitions, repeats codes, and bills its replies."""

    bill: Bill = field(default_factory=Bill)
    kind: str = "plain"
    flags: int = 0
    partitions: int = 1
    unwilling: bool = False

    def reply(self, prompt: Prompt, room: int) -> Completion:
        """Return the next reply. Raises ModelUnavailableError for a synthesis when unwilling."""
        if self.unwilling and prompt.task == "synthesis":
            raise ModelUnavailableError("gone")
        reply = super(Scribe, self).reply(prompt, room)
        text, counted = reply.text, None
        if prompt.task == "sweep" and self.flags:
            named = self.chance.sample(
                range(1, self.partitions + 1), min(self.flags, self.partitions)
            )
            lines = "".join(f"- P{one}: it may say more of this.\n" for one in named)
            text = text.replace("## Absences", f"{lines}\n## Absences", 1)
        if self.kind in ("codes repeated", "codes and tokens") and prompt.receipts:
            text = f"Codes: {' '.join(prompt.receipts)}\n\n{text}"
        if self.kind == "codes and tokens":
            counted = int(DENSITY * estimated_tokens(prompt)) + 1
        whole = Completion(
            text=text, usage=reply.usage, model=reply.model, truncated=reply.truncated,
            counted=counted,
        )  # fmt: skip
        self.bill.add(prompt, whole)
        return whole


class CodedLLM(BadLLM):
    """A model on a server that may cut prompts and does not report what it takes."""

    refuses_long_prompts = False

    async def read_context(self) -> ModelContext | None:
        """Return nothing, because the server does not report what it takes."""
        return None


def random_nodes(chance: random.Random) -> tuple[list[dict[str, str]], list[tuple[int, int]]]:
    """Return the nodes of some topics, and their links, most of them within a topic."""
    nodes: list[dict[str, str]] = []
    links: list[tuple[int, int]] = []
    for topic in range(chance.randint(1, 14)):
        words, first = chance.sample(WORDS, 5), len(nodes)
        longest = chance.choice((5, 40, 300))
        size = chance.randint(3, 20)
        for place in range(size):
            said = " ".join(chance.choices(words, k=chance.randint(1, longest)))
            key = f"{topic}/{place}"
            nodes.append({"key": key, "title": chance.choice(words).title(), "text": f"{said}."})
            links.append((first + place, first + (place + 1) % size))
        links += [
            (first + chance.randrange(size), first + chance.randrange(size))
            for _ in range(chance.randint(size, 4 * size))
        ]
        if topic:
            links.append((chance.randrange(first), first))
    return nodes, links


def random_settings(chance: random.Random) -> dict[str, Any]:
    """Return settings of the engine."""
    return {
        "min_community_size": chance.choice((1, 3, 10)),
        "target_partition_max": chance.choice((10, 25)),
        "max_pass_characters": chance.choice((8_000, 20_000, 60_000)),
        "sweep_max_tokens": chance.choice((200, 800, 2000)),
        "synthesis_max_tokens": chance.choice((400, 2000)),
        "strict": chance.random() < 0.4,
        "hedge": chance.random() < 0.3,
        "embedder": "none",
    }


async def try_history(connection: dict[str, Any], db: Database, seed: int) -> list[Compared]:
    """Run one history in an empty database; ``connection`` is the connection of the engine.

    Returns nothing if the settings leave no room for a node.
    """
    chance = random.Random(seed)
    settings = random_settings(chance)
    context = chance.choice((None, None, 6_000, 16_000))
    names = ("reader", chance.choice(("reader", "writer")))
    models = {name: ModelEntry(context=context, **cast("Any", PRICE)) for name in names}
    mode, kind = chance.choice(MODES), chance.choice(KINDS)
    reader = Scribe(mode, settings["sweep_max_tokens"], random.Random(seed + 1))
    reader.slow, reader.long, reader.kind = settings["hedge"], seed % 3 == 0, kind
    of = BadLLM if kind == "plain" else CodedLLM
    llms = [of(reader, name) for name in names]
    nodes, links = random_nodes(chance)
    await db.call(CREATE, {"nodes": nodes, "links": [list(one) for one in links]}, "write")
    compared: list[Compared] = []
    async with PGS.connect(
        sweep_llm=llms[0], synthesis_llm=llms[1], models=models, **connection, **settings
    ) as engine:
        await engine.graphs.add(GRAPH, MAPPING)
        reader.partitions = len((await engine.partitions.build(GRAPH)).partitions)
        for number in range(HISTORY):
            how = f"seed {seed} {mode} {kind}"
            one = await ask_once(engine, reader, chance, how, first=not number)
            if one is not None:
                compared.append(one)
    return compared


async def ask_once(
    engine: PGS, reader: Scribe, chance: random.Random, how: str, *, first: bool
) -> Compared | None:
    """Plan a question and ask it; return None if it is refused.

    It is refused if nothing is left to read, or nothing fits a prompt. The ``first`` question
    begins a session that others continue.
    """
    mode = "full" if first else chance.choice(("full", "continue", "continue", "targeted"))
    session = "default" if first or mode != "full" else chance.choice(("default", "other"))
    given: dict[str, Any] = {
        "graph": GRAPH,
        "mode": mode,
        "session_id": session,
        "full_sweep": chance.random() < 0.2,
        "cache": chance.random() < 0.6,
        "max_flag_sweeps": chance.choice((0, 1, 1, 3)),
        "max_sweep_partitions": chance.choice((1, 1, 3, 15)),
    }
    words = chance.choice((WORDS[0], WORDS[1]))
    question = f"What is said of {words}?"
    reader.flags = chance.choice((0, 1, 4))
    ending = chance.choice(("", "", "", "few calls", "no synthesis", "bounded"))
    reader.unwilling = ending == "no synthesis"
    reader.bill = Bill()
    try:
        plan = await engine.plan(question, **given)
    except (ConfigError, NothingLeftError):
        return None
    limits: dict[str, Any] = {}
    if ending == "few calls":
        limits = {"max_calls": chance.randint(2, 5)}
    elif ending == "bounded":
        most = plan.most
        tokens = most.input_tokens + most.output_tokens
        limits = {"max_calls": most.calls, "max_tokens": tokens, "max_cost": most.cost}
    swept: list[Sweep] = []
    stopped = False
    usage, cost = Usage(), 0.0
    try:
        answer = await engine.execute(question, **given, **limits)
    except StoppedError:
        stopped = ending == "bounded"
    except PGSError:
        pass  # such as a model without a report, whose call is billed anyway
    else:
        stopped = ending == "bounded" and bool(answer.stopped)
        swept = [one for one in answer.sweeps if one.status is not SweepStatus.UNREAD]
        usage, cost = answer.usage, answer.cost or 0.0
    billed = reader.bill
    used = PlannedTotal(
        partitions=len(swept),
        calls=max(usage.calls, billed.usage.calls),
        input_tokens=max(usage.input_tokens, billed.usage.input_tokens),
        output_tokens=max(usage.output_tokens, billed.usage.output_tokens),
        cost=max(cost, billed.cost),
    )
    return Compared(f"{how} {given} {ending} {dict(billed.tasks)}", used, plan.most, stopped)
