"""Asks fifty questions at a time for minutes, and shows what grows.

    python -m tests.bench.soak
    python -m tests.bench.soak --minutes 10 --questions 50 --json

One engine uses physics2 in one database. A fake OpenAI-compatible endpoint in its own process takes
200 ms for each reply. Each question has its own session, and nothing is cached. The program counts
errors. It also prints the memory, sockets, and tasks of this process, and the connections to the
database, at the start and at the end of the steady state; and how long the event loop kept a task
waiting.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from itertools import count
from statistics import median
from time import perf_counter
from typing import Any

import psutil

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import PGSError
from tests.bench import place, program
from tests.bench.engine import ROOT
from tests.bench.lag import MOST_P99_S, LagMeter
from tests.bench.loaded import physics2
from tests.bench.memory import MIB
from tests.bench.store import Server

GRAPH = "soak"
QUESTION = "How does the central charge constrain the spectrum? (question {})"
MINUTES, QUESTIONS, DELAY_S = 3.0, 50, 0.2
STEADY_SHARE = 0.2  # of the time, after which nothing should grow any more
LOOK_S = 2.0
MOST_GROWTH = 0.1
CONNECTIONS = "CALL dbms.listConnections() YIELD connectionId RETURN count(*) AS open"


@dataclass(frozen=True, slots=True)
class Look:
    """What a process held at one moment."""

    at_s: float
    mib: float
    sockets: int
    tasks: int
    connections: int


@dataclass(slots=True)
class Soak:
    """An engine under load, and what came of it."""

    pgs: PGS
    database: Database
    graph: str = GRAPH
    began: float = field(default_factory=perf_counter)
    done: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    numbers: count[int] = field(default_factory=count)
    meter: LagMeter = field(default_factory=LagMeter)

    async def run(self, minutes: float, questions: int) -> None:
        """Keep so many questions going until the time is over, and wait for the last ones."""
        ends = self.began + 60 * minutes
        watching = [asyncio.create_task(work) for work in (self._look(), self.meter.watch())]
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(questions):
                    group.create_task(self._ask_until(ends))
        finally:
            for task in watching:
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)

    async def look(self) -> Look:
        """What this process holds now, and the database's connections."""
        _, rows = await self.database.call(CONNECTIONS, {}, "read")
        process = psutil.Process()
        return Look(
            at_s=perf_counter() - self.began,
            mib=process.memory_info().rss / MIB,
            sockets=len(process.net_connections()),
            tasks=len(asyncio.all_tasks()),
            connections=rows[0]["open"],
        )

    async def _ask_until(self, ends: float) -> None:
        while perf_counter() < ends:
            number, began = next(self.numbers), perf_counter()
            try:
                answer = await self.pgs.execute(
                    QUESTION.format(number), graph=self.graph, session_id=f"soak-{number}"
                )
            except PGSError as error:
                self.errors[f"{type(error).__name__}: {error}"[:200]] += 1
            else:
                self.done += 1
                self.seconds.append(perf_counter() - began)
                if answer.partial:
                    self.errors["answered in part"] += 1

    async def _look(self) -> None:
        while True:
            self.looks.append(await self.look())
            await asyncio.sleep(LOOK_S)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measured(options)), table, options.json)


@asynccontextmanager
async def slow_engine(server: Server, database: Database, **knobs: int) -> AsyncIterator[PGS]:
    """An engine on a partitioned graph, with an endpoint that takes its time."""
    async with slow_endpoint() as base_url:
        loaded = await physics2(database)
        async with PGS.connect(
            llm_provider="openai",
            llm_base_url=base_url,
            llm_api_key="bench",
            cache=False,
            **place.connection(server),
            **knobs,
        ) as pgs:
            await pgs.graphs.add(GRAPH, loaded.mapping)
            await pgs.partitions.build(GRAPH)
            yield pgs


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Load, partition, and ask."""
    async with place.opened(options.uri) as (server, database):
        async with slow_engine(server, database) as pgs:
            soak = Soak(pgs, database)
            program.say(f"{options.questions} questions at a time for {options.minutes:g} minutes")
            await soak.run(options.minutes, options.questions)
            gc.collect()
            quiet = await soak.look()
        gc.collect()
        left = await soak.look()
    return {
        "minutes": options.minutes,
        "questions": options.questions,
        "delay_s": DELAY_S,
        "done": soak.done,
        "errors": dict(soak.errors),
        "median_s": _median(soak.seconds),
        "median_first_s": _median(soak.seconds[: len(soak.seconds) // 4]),
        "median_last_s": _median(soak.seconds[-(len(soak.seconds) // 4) :]),
        **growth(soak.looks),
        "lag": asdict(soak.meter.lag()),
        "quiet": asdict(quiet),
        "left": asdict(left),
        "looks": [asdict(look) for look in soak.looks],
    }


def growth(looks: Sequence[Look]) -> dict[str, Any]:
    """The steady state's first looks against its last ones, medians of a tenth of it each."""
    steady = [look for look in looks if look.at_s >= STEADY_SHARE * looks[-1].at_s]
    some = max(1, len(steady) // 10)

    def middle(part: Sequence[Look]) -> dict[str, float]:
        names = ("mib", "sockets", "tasks", "connections")
        return {name: median(getattr(look, name) for look in part) for name in names}

    first, last = middle(steady[:some]), middle(steady[-some:])
    return {"steady": first, "end": last, "growth": last["mib"] / first["mib"] - 1}


def _median(seconds: Sequence[float]) -> float | None:
    return median(seconds) if seconds else None


@asynccontextmanager
async def slow_endpoint() -> AsyncIterator[str]:
    """A fake endpoint in its own process; yields its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.endpoint", "--delay-s", str(DELAY_S)),
        cwd=ROOT,
        stdin=PIPE,
        stdout=PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.stdin.close()
        await to_the_end(process.wait())


def table(document: dict[str, Any]) -> str:
    """The figures for people."""
    d = document
    errors = sum(d["errors"].values())
    rows: list[tuple[str, ...]] = [("", "steady", "end", "all answered", "engine closed")]
    for name, key in (
        ("memory, MiB", "mib"),
        ("sockets of this process", "sockets"),
        ("tasks", "tasks"),
        ("connections of the database", "connections"),
    ):
        parts = (d["steady"], d["end"], d["quiet"], d["left"])
        rows.append((f"  {name}", *(f"{part[key]:,.0f}" for part in parts)))
    error_lines = "".join(f"  {count:,} times {what}\n" for what, count in d["errors"].items())
    return (
        f"{d['done']:,} questions answered, {d['questions']} at a time, in {d['minutes']:g} "
        f"minutes; {errors:,} errors (must be 0)\n"
        f"seconds each, median: {d['median_s'] or 0:.1f}, of the first quarter "
        f"{d['median_first_s'] or 0:.1f}, of the last {d['median_last_s'] or 0:.1f}\n"
        f"{error_lines}memory grew by {d['growth']:.1%} in the steady state (target: below "
        f"{MOST_GROWTH:.0%})\n"
        f"event loop late by {1000 * d['lag']['median_s']:.1f} ms, 99 %: "
        f"{1000 * d['lag']['p99_s']:.0f} ms (target: at most {1000 * MOST_P99_S:.0f}), at most "
        f"{1000 * d['lag']['max_s']:.0f} ms\n\n{program.aligned(rows)}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("soak", __doc__)
    parser.add_argument(
        "--minutes", type=program.positive, default=MINUTES, help=f"duration (default {MINUTES:g})"
    )
    parser.add_argument(
        "--questions",
        type=program.number(1),
        default=QUESTIONS,
        help=f"questions at a time (default {QUESTIONS})",
    )
    parser.add_argument("--uri", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
