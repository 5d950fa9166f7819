"""Measures the server: the first event, a crowd of readers, and what HTTP adds to a question.

    python -m tests.bench.serving
    python -m tests.bench.serving --minutes 1 --clients 20 --json

The server uses physics2 in one database, and a fake OpenAI-compatible endpoint in its own process
that takes 200 ms for each reply. The clients are a third process. They ask one question after the
other, each with a session of its own; a fifth of the streams is cut at random and continued. Those
on bare sockets take a tenth of the time of the others, and leave the machine to the server. The
program counts gaps, repeats, and errors, and looks at the memory and the event loop of the server.
Then a question of fifteen partitions is asked in turn over HTTP and in the process of the engine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import psutil

from pgs_neo4j.engine import PGS
from pgs_neo4j.web.serve import settle_memory
from tests.bench import place, program
from tests.bench.engine import ROOT
from tests.bench.lag import MOST_P99_S, LagMeter
from tests.bench.memory import MIB
from tests.bench.soak import GRAPH, slow_engine
from tests.serving import events, served

QUESTION = "How does the central charge constrain the spectrum?"
MINUTES, CLIENTS, IDLE, PAIRS, PARTITIONS = 3.0, 50, 20, 5, 15
WARM_S = 60.0  # after which the memory should not grow any more
LOOK_S = 1.0
TARGETS = {"idle_s": 0.05, "crowd_s": 0.3, "growth": 0.1, "ratio": 1.05}


@dataclass(slots=True)
class Watch:
    """The memory and the event loop of this process while others call it."""

    meter: LagMeter = field(default_factory=LagMeter)
    looks: list[tuple[float, float]] = field(default_factory=list)

    async def look(self) -> None:
        """Note the memory until canceled."""
        process, began = psutil.Process(), perf_counter()
        while True:
            self.looks.append((perf_counter() - began, process.memory_info().rss / MIB))
            await asyncio.sleep(LOOK_S)

    def growth(self) -> float:
        """How much the memory grew since the first minute, or the first third of a shorter time."""
        return growth_of(self.looks)


def growth_of(looks: Sequence[tuple[float, float]]) -> float:
    """The last tenth of the looks ``(seconds, MiB)`` against the first ones after the warm-up."""
    warm = min(WARM_S, looks[-1][0] / 3)
    steady = [mib for at, mib in looks if at >= warm]
    some = max(1, len(steady) // 10)
    return median(steady[-some:]) / median(steady[:some]) - 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measured(options)), table, options.json)


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Load, partition, serve, and call."""
    async with (
        place.opened(options.uri) as (server, database),
        slow_engine(server, database, **dict(options.knob)) as pgs,
    ):
        settle_memory()
        program.say("first events, one client, then all at once")
        document: dict[str, Any] = {
            "idle": await _called(pgs, IDLE, "--in-turn"),
            "at_once": await _called(pgs, options.clients),
            "light": await _called(pgs, options.clients, program="light_callers"),
        }
        program.say(f"{options.clients} clients for {options.minutes:g} minutes")
        watch = Watch()
        watching = [asyncio.create_task(work) for work in (watch.look(), watch.meter.watch())]
        document["crowd"] = await _called(pgs, options.clients, "--minutes", str(options.minutes))
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        document |= {"growth": watch.growth(), "mib": watch.looks[-1][1]}
        document["lag"] = asdict(watch.meter.lag())
        program.say(f"{options.pairs} questions over HTTP and in process, in turn")
        document |= await _ratio(pgs, options.pairs)
    return document | {"clients": options.clients, "minutes": options.minutes}


async def _called(pgs: PGS, clients: int, *more: str, program: str = "callers") -> dict[str, Any]:
    """Serve an engine, and let a process of clients call it."""
    async with served(pgs) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", f"tests.bench.{program}", server.base),
            *("--clients", str(clients), "--graph", GRAPH, "--question", QUESTION, *more),
            cwd=ROOT,
            stdin=PIPE,
            stdout=PIPE,
        )
        try:
            said, _ = await process.communicate(f"{server.token}\n".encode())
        finally:
            if process.returncode is None:
                process.kill()
        heard: dict[str, Any] = json.loads(said)
        return heard


async def _ratio(pgs: PGS, pairs: int) -> dict[str, Any]:
    """The seconds of a question of fifteen partitions, over HTTP and in process, in turn."""
    over: list[float] = []
    inside: list[float] = []
    async with served(pgs) as server, server.owner() as owner:
        for pair in range(pairs + 1):  # the first one only warms up
            asked = {"full_sweep": True, "max_sweep_partitions": PARTITIONS}
            began = perf_counter()
            body = asked | {"question": f"{QUESTION} (over {pair})", "session": f"over-{pair}"}
            run = (await owner.post("/api/runs", json=body)).json()
            told = (await events(owner, run["events"]))[-1]
            over.append(perf_counter() - began)
            assert told.name == "answered", told.data
            began = perf_counter()
            answer = await pgs.execute(
                f"{QUESTION} (inside {pair})",
                graph=GRAPH,
                session_id=f"inside-{pair}",
                full_sweep=True,
                max_sweep_partitions=PARTITIONS,
            )
            inside.append(perf_counter() - began)
    ratios = [one / other for one, other in zip(over[1:], inside[1:], strict=True)]
    return {
        "http_s": median(over[1:]),
        "inside_s": median(inside[1:]),
        "ratio": median(ratios),
        "partitions": answer.coverage.partitions_swept,
    }


def table(document: dict[str, Any]) -> str:
    """The figures for people."""
    d, crowd = document, document["crowd"]
    faults = sum(sum(d[part]["faults"].values()) for part in ("idle", "at_once", "crowd"))
    rows: list[tuple[str, ...]] = [("", "measured", "target")]
    rows += [
        (name, _ms(seconds), _ms(most))
        for name, seconds, most in (
            ("POST to first event, idle, median", median(d["idle"]["first_s"]), TARGETS["idle_s"]),
            (f"{d['clients']} at once, 95 %", p95(d["at_once"]["first_s"]), TARGETS["crowd_s"]),
            ("the same from bare sockets", p95(d["light"]["first_s"]), TARGETS["crowd_s"]),
            ("in the crowd, 95 %", p95(crowd["first_s"]), TARGETS["crowd_s"]),
            ("event loop late, 99 %", d["lag"]["p99_s"], MOST_P99_S),
        )
    ]
    rows += [
        ("memory grew by", f"{d['growth']:.1%}", f"{TARGETS['growth']:.0%}"),
        (
            f"{d['partitions']} partitions, HTTP ÷ inside",
            f"{d['ratio']:.3f}",
            f"{TARGETS['ratio']}",
        ),
        ("errors, gaps, repeats", f"{faults}", "0"),
    ]
    listed = "".join(f"  {count:,} times {what}\n" for what, count in crowd["faults"].items())
    return (
        f"{crowd['answered']:,} questions answered in {d['minutes']:g} minutes, "
        f"{crowd['events']:,} events, {crowd['cuts']:,} streams cut\n{listed}"
        f"memory {d['mib']:.0f} MiB; a question took {d['http_s']:.2f} s over HTTP\n\n"
        f"{program.aligned(rows)}"
    )


def p95(seconds: Sequence[float]) -> float:
    """The time that 95 % of them are within."""
    return float(np.quantile(np.array(seconds or [float("nan")]), 0.95))


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms"


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("serving", __doc__)
    parser.add_argument("--minutes", type=program.positive, default=MINUTES)
    parser.add_argument("--clients", type=program.number(1), default=CLIENTS)
    parser.add_argument("--pairs", type=program.number(1), default=PAIRS)
    parser.add_argument("--uri", help=place.HELP)
    program.add_knobs(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
