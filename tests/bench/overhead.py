"""Measures what the engine adds to a question, without the model.

    python -m tests.bench.overhead
    python -m tests.bench.overhead --copies 20 --repeat 9 --knob min_community_size=400 --json
    python -m tests.bench.overhead --before before.json

Copies of physics2 are partitioned. A question reads fifteen partitions with a model that answers
at once. Before and after each question, Neo4j's driver alone reads the same nodes and
relationships: one row per node, one partition after another; as many partitions at a time as the
engine reads; and with the engine's own statements. The engine's seconds are divided by the faster
neighboring read. The table also shows the time from the last sweep's reply to the first piece of
the answer. For that, replies are 50 ms apart, as from a real model.

``before.json`` is what ``--json`` wrote for another commit on the same machine. The engine's
seconds are then divided by those, and the exit code is 1 if they are more than 1.03 times as many.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from neo4j import READ_ACCESS, AsyncDriver, AsyncGraphDatabase

from pgs_neo4j.cli.run import GC_THRESHOLDS
from pgs_neo4j.database import queries
from pgs_neo4j.documents.loading.load import load
from pgs_neo4j.engine import PGS
from pgs_neo4j.events import Event, Routed, TextStreamed
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.pgs.sweeping.material import CHUNK
from pgs_neo4j.pgs.sweeping.order import READ_AHEAD
from tests.bench import place, program
from tests.bench.instant import InstantEmbedder, InstantLLM
from tests.bench.loaded import brain, copied
from tests.bench.store import Server

GRAPH = "overhead"
COPIES, REPEAT, PARTITIONS = 20, 7, 15
QUESTION = "How does the central charge constrain the spectrum? (asked for the {} time)"
TARGETS = {"ratio": 1.5, "first_s": 0.1, "to_before": 1.03}
SPACING_S = 0.05
PLAIN = """
MATCH (:PgsPartition {uid: $partition})<-[m:PGS_IN]-(n)
WHERE $first <= m.rank < $last
RETURN m.rank AS rank, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       [property IN $text | n[property]] AS text, n[$title] AS title, n[$key] AS key
ORDER BY rank
"""
SAME = queries.get("pgs/sweeping/read_members").text

UNBOUND = {"scope": {}, "view": None, "valid": []}
"""What the database adds to statements without a scope and a view."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: seconds in all, of the model, and from the last sweep to the first piece.

    ``cpu_s`` is this process's own, without the model.
    """

    wall_s: float
    model_s: float
    cpu_s: float
    first_s: float
    calls: int
    nodes: int
    phases: dict[str, float]
    routed: tuple[int, ...]

    @property
    def own_s(self) -> float:
        """What is the engine's."""
        return self.wall_s - self.model_s


@dataclass(frozen=True, slots=True)
class Bare:
    """Seconds of the driver alone.

    With a row for each node, ``single_s`` for one partition after the other and ``plain_s`` for
    several at a time; ``same_s`` so with the engine's statements.
    """

    single_s: float
    plain_s: float
    plain_cpu_s: float
    same_s: float
    same_cpu_s: float
    item_count: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measured(options)), table, options.json)


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Load, partition, and measure, with the collector as the command line has it."""
    gc.set_threshold(*GC_THRESHOLDS)
    model = InstantLLM()
    vector = next(node.embedding for node in brain().nodes if node.embedding is not None)
    async with place.opened(options.uri) as (server, database):
        program.say(f"load {options.copies} copies of physics2")
        loaded = await load(database, copied(brain(), options.copies), GRAPH)
        connected = partial(
            PGS.connect,
            sweep_llm=model,
            synthesis_llm=model,
            **place.connection(server),
            **dict(options.knob),
        )
        async with (
            connected(embedder=InstantEmbedder(vector)) as pgs,
            connected() as borrowing,
            _driver(server) as driver,
        ):
            await pgs.graphs.add(GRAPH, loaded.mapping)
            partitioning = await pgs.partitions.build(GRAPH)
            bench = _Bench(
                driver, loaded.mapping, model, {part.id: part for part in partitioning.partitions}
            )
            figures = await bench.measured((pgs, borrowing), options.repeat)
    if options.before is not None:
        figures |= compare_with_before(figures, options.before)
    return {
        "nodes": loaded.nodes,
        "partitions": len(partitioning.partitions),
        "repeat": options.repeat,
        "knobs": dict(options.knob),
        "targets": TARGETS,
        **figures,
    }


def compare_with_before(figures: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return the engine's seconds as a share of those of another commit, and what that belies."""
    ratios = {
        engine: {name: figures[engine][name] / before[engine][name] for name in ("own_s", "cpu_s")}
        for engine in ("embedder", "borrowed")
    }
    most = TARGETS["to_before"]
    belied = [
        f"a question takes {ratio['own_s']:.2f} times as long as before ({engine}), not {most:.2f}"
        for engine, ratio in ratios.items()
        if ratio["own_s"] > most
    ]
    return {"to_before": ratios, "false": belied}


@dataclass(frozen=True, slots=True)
class _Bench:
    """A partitioned graph, and what asks it."""

    driver: AsyncDriver
    mapping: GraphMapping
    model: InstantLLM
    partitions: dict[int, Partition]

    async def measured(self, engines: Sequence[PGS], repeat: int) -> dict[str, Any]:
        """Bare, an engine, bare, the other, …, bare: each question stands between two others."""
        for turn, pgs in enumerate(engines):  # statements are planned, connections opened
            first = await _asked(pgs, self.model, -turn)
        read = [self.partitions[number] for number in first.routed]
        await self._bare(read)
        bare = [await self._bare(read)]
        ours: list[list[Asked]] = [[] for _ in engines]
        spaced: list[float] = []
        for turn in range(1, repeat + 1):
            program.say(f"turn {turn} of {repeat}")
            for place_, pgs in enumerate(engines):
                ours[place_].append(await _asked(pgs, self.model, 10 * turn + place_))
                bare.append(await self._bare(read))
            self.model.spacing_s = SPACING_S
            spaced.append((await _asked(engines[0], self.model, 10 * turn + 9)).first_s)
            self.model.spacing_s = 0.0
        return {
            "found": bare[-1].item_count,
            "first_s": median(spaced),
            "single_s": median(each.single_s for each in bare),
            "plain_s": median(each.plain_s for each in bare),
            "same_s": median(each.same_s for each in bare),
            "plain_cpu_s": median(each.plain_cpu_s for each in bare),
            "same_cpu_s": median(each.same_cpu_s for each in bare),
            "embedder": _figures(ours[0], list(zip(bare[::2], bare[1::2], strict=False))),
            "borrowed": _figures(ours[1], list(zip(bare[1::2], bare[2::2], strict=True))),
        }

    async def _bare(self, parts: Sequence[Partition]) -> Bare:
        single_s, _, _ = await self._read(parts, PLAIN, 1)
        plain_s, plain_cpu_s, _ = await self._read(parts, PLAIN)
        return Bare(single_s, plain_s, plain_cpu_s, *await self._read(parts, SAME))

    async def _read(
        self, parts: Sequence[Partition], members: str, at_once: int = READ_AHEAD
    ) -> tuple[float, float, int]:
        """Read partitions, a few at a time: wall and CPU seconds, and how much was found."""
        gate = asyncio.Semaphore(at_once)

        async def one(part: Partition) -> int:
            async with gate:
                return await _read(self.driver, part, self.mapping, members)

        began, worked = perf_counter(), process_time()
        item_count = sum(await asyncio.gather(*map(one, parts)))
        return perf_counter() - began, process_time() - worked, item_count


def _figures(ours: Sequence[Asked], beside: Sequence[tuple[Bare, Bare]]) -> dict[str, Any]:
    """Medians; each question is compared with the faster of the bare reads beside it."""

    def ratios(which: str) -> list[float]:
        near = [min(getattr(before, which), getattr(after, which)) for before, after in beside]
        return [each.own_s / bare for each, bare in zip(ours, near, strict=False)]

    names = dict.fromkeys(name for each in ours for name in each.phases)
    phases = {name: median(each.phases.get(name, 0.0) for each in ours) for name in names}
    return {
        "nodes_read": ours[-1].nodes,
        "calls": ours[-1].calls,
        "own_s": median(each.own_s for each in ours),
        "model_s": median(each.model_s for each in ours),
        "cpu_s": median(each.cpu_s for each in ours),
        "to_single": median(ratios("single_s")),
        "to_plain": median(ratios("plain_s")),
        "to_same": median(ratios("same_s")),
        "phases": phases,
        "between_s": median(each.wall_s - sum(each.phases.values()) for each in ours),
    }


async def _asked(pgs: PGS, model: InstantLLM, turn: int) -> Asked:
    """One question in a session of its own, worded so that no reply is kept for it."""
    heard: list[float] = []
    routed: list[int] = []

    def hear(event: Event) -> None:
        if isinstance(event, TextStreamed) and not heard:
            heard.append(perf_counter())
        if isinstance(event, Routed):
            routed.extend(route.partition for route in event.routing.routes)

    gc.collect()
    calls, seconds = model.calls, model.seconds
    began, worked = perf_counter(), process_time()
    answer = await pgs.execute(
        QUESTION.format(turn),
        graph=GRAPH,
        session_id=f"turn-{turn}",
        on_event=hear,
        max_sweep_partitions=PARTITIONS,
        min_sweep_partitions=PARTITIONS,
        max_flag_sweeps=0,
    )
    wall_s, cpu_s = perf_counter() - began, process_time() - worked
    return Asked(
        wall_s=wall_s,
        model_s=model.seconds - seconds,
        cpu_s=cpu_s - (model.seconds - seconds),
        first_s=heard[0] - model.swept_at,
        calls=model.calls - calls,
        nodes=answer.coverage.nodes_read,
        phases={name: spent for name, spent in answer.seconds.items() if name != "total"},
        routed=tuple(routed),
    )


def _driver(server: Server) -> AsyncDriver:
    auth = (server.user, server.password) if server.password is not None else None
    return AsyncGraphDatabase.driver(server.uri, auth=auth, notifications_min_severity="OFF")


async def _read(driver: AsyncDriver, part: Partition, mapping: GraphMapping, members: str) -> int:
    links = queries.get("pgs/sweeping/read_relationships").text
    fields: dict[str, Any] = {
        "text": list(mapping.text),
        "title": mapping.title or "",
        "key": mapping.key or "",
    }
    if members == SAME:
        fields = {
            "text": mapping.text_properties,
            "facts": mapping.facts,
            "title": mapping.title_properties,
            "key": mapping.key_properties,
        }
    count = 0
    async with driver.session(default_access_mode=READ_ACCESS) as session:
        for first in range(0, part.size, CHUNK):
            place = {"partition": part.uid, "first": first, "last": first + CHUNK, **UNBOUND}
            options = {**place, **fields}
            result = await session.run(members, options)
            rows = [dict(record) async for record in result]
            count += sum(len(row.get("members", (row,))) for row in rows)
        options = {"partition": part.uid, "types": list(mapping.relationship_types), **UNBOUND}
        result = await session.run(links, options)
        count += sum([len(record["sources"]) async for record in result])
    return count


def table(document: dict[str, Any]) -> str:
    """The figures for people."""
    d, both = document, (document["embedder"], document["borrowed"])
    head = (
        f"{d['nodes']:,} nodes in {d['partitions']} partitions; a question reads "
        f"{both[0]['nodes_read']:,} of them in {both[0]['calls']} calls\n"
        f"Medians of {d['repeat']}, seconds; “borrowed”: without an embedder for the question\n\n"
    )
    rows = [("", "with an embedder", "borrowed", "target")]

    def row(name: str, cells: Sequence[str], target: str = "") -> None:
        rows.append((f"  {name}", cells[0], cells[-1], target))

    read_items = f"{d['found']:,} nodes and relationships"
    row(f"driver alone, {read_items}, a row each", [f"{d['single_s']:.3f}"])
    row("driver alone, partitions side by side", [f"{d['plain_s']:.3f}"])
    row("  CPU of this process", [f"{d['plain_cpu_s']:.3f}"])
    row("driver alone, so with our statements", [f"{d['same_s']:.3f}"])
    row("  CPU of this process", [f"{d['same_cpu_s']:.3f}"])
    for name in both[0]["phases"]:
        row(f"ours: {name}", [f"{each['phases'][name]:.3f}" for each in both])
    for name, key in (
        ("ours: between the phases", "between_s"),
        ("ours: the model", "model_s"),
        ("ours, without the model", "own_s"),
    ):
        row(name, [f"{each[key]:.3f}" for each in both])
    target = f"{TARGETS['ratio']:.2f}"
    row("  ÷ driver, a row each", [f"{each['to_single']:.2f}" for each in both], target)
    row("  ÷ driver, side by side", [f"{each['to_plain']:.2f}" for each in both])
    row("  ÷ driver, our statements", [f"{each['to_same']:.2f}" for each in both])
    row("  CPU of this process", [f"{each['cpu_s']:.3f}" for each in both])
    if compared := d.get("to_before"):
        ratios = [compared[engine] for engine in ("embedder", "borrowed")]
        most = f"{TARGETS['to_before']:.2f}"
        row("  ÷ before", [f"{each['own_s']:.2f}" for each in ratios], most)
        row("  CPU ÷ before", [f"{each['cpu_s']:.2f}" for each in ratios])
    row("last sweep to first piece", [f"{d['first_s']:.3f}"], f"{TARGETS['first_s']:.3f}")
    return head + program.aligned(rows)


def _read_figures(path: str) -> dict[str, Any]:
    """Return the figures of a file. Raises ArgumentTypeError."""
    try:
        figures: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return figures


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("overhead", __doc__)
    parser.add_argument(
        "--copies",
        type=program.number(1),
        default=COPIES,
        help=f"copies of physics2 (default {COPIES})",
    )
    parser.add_argument(
        "--repeat", type=program.number(1), default=REPEAT, help=f"questions (default {REPEAT})"
    )
    program.add_knobs(parser)
    parser.add_argument(
        "--before", type=_read_figures, help="figures of another commit, from --json"
    )
    parser.add_argument("--uri", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
