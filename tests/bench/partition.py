"""Measure the partitioning of a graph against bare Graph Data Science and igraph.

    python -m tests.bench.partition --graph sbm_1e5
    python -m tests.bench.partition --graph lfr_1e5 --graph lfr_1e6 --repeat 3 --changes 0.01
    python -m tests.bench.partition --files 20000 100000 --json

Starts a Neo4j of its own in a temporary folder and takes it away again, unless --uri names an
empty database (PGS_TEST_NEO4J_PASSWORD is its password, PGS_TEST_NEO4J_USER its user).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

import psutil

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import PGSError, UsageError
from pgs_neo4j.graph.csr import undirected
from tests.bench import peer, report, run
from tests.bench.graphs import NAMES, BenchGraph, check_name, named
from tests.bench.planted import planted
from tests.bench.run import LIMITS, Plan, Say

SEED = int(PGSConfig.model_fields["random_seed"].default)
DONE, FAULT, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line names, write the figures, and tell the exit code."""
    given = _parser().parse_args(arguments)
    try:
        runs = []
        for graph in _graphs(given):
            runs.append(_measured(graph, _plan(given), _say))
            if not given.json:
                sys.stdout.write(report.table(runs[-1]) + "\n")
                sys.stdout.flush()
    except PGSError as error:
        sys.stderr.write(f"error: {error}\n")
        return USAGE if isinstance(error, UsageError) else FAULT
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    if given.json:
        document = {"machine": machine(), "runs": runs, "growth": report.grown(runs)}
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
    else:
        sys.stdout.write(report.growth(runs) + _machine_line(runs) + "\n")
    return DONE


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _measured(graph: BenchGraph, plan: Plan, say: Say) -> dict[str, Any]:
    edges = undirected(graph.node_count, graph.source, graph.target, graph.weight)
    say(f"igraph on {graph.name}")
    other = peer.measured(graph, edges, LIMITS, plan.seed)
    return asyncio.run(_until_told(run.measured(graph, edges, other, plan, say)))


async def _until_told(work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """The work's result; a signal cancels it, so that its server is stopped first."""
    task = asyncio.current_task()
    assert task is not None
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, task.cancel)
    return await work


def _graphs(given: argparse.Namespace) -> Iterator[BenchGraph]:
    """The graphs one after the other, and none when one of them does not exist."""
    for name in given.graph:
        check_name(name)
    if given.files:
        yield planted(*given.files, seed=given.seed)
    for name in given.graph:
        yield named(name)


def _plan(given: argparse.Namespace) -> Plan:
    return Plan(
        seed=given.seed,
        repeat=given.repeat,
        changes=given.changes,
        uri=given.uri,
        heap_mb=given.heap,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.partition",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--graph",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a graph of ../shared/data, more than once for several: {', '.join(NAMES)}",
    )
    which.add_argument(
        "--files",
        nargs=2,
        type=_number(1),
        metavar=("N", "E"),
        help="a generated graph of N nodes and about E relationships, with known communities",
    )
    parser.add_argument(
        "--repeat",
        type=_number(1),
        default=1,
        metavar="R",
        help="repartition R times, between R + 1 runs of bare GDS, and report medians",
    )
    parser.add_argument(
        "--changes",
        type=_share,
        metavar="SHARE",
        help="then delete this share of the relationships, create as many, and repartition "
        "from what was there and from nothing (0.01 is 1 %%)",
    )
    parser.add_argument("--seed", type=_number(0), default=SEED, help=f"seed of all ({SEED})")
    parser.add_argument("--uri", help="an empty database to use and to empty again: bolt://…")
    parser.add_argument(
        "--heap", type=_number(512), metavar="MIB", help="heap of the server of its own"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document, no table")
    return parser


def _number(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up")
        return int(text)

    return number


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.0 < share <= 0.5:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share above 0 and up to 0.5")
    return share


def _machine_line(runs: list[dict[str, Any]]) -> str:
    on, server = machine(), runs[-1]["server"]
    return (
        f"{runs[-1]['date']}: {on['cores']} cores, {on['memory_gib']} GiB, {on['system']}, "
        f"Python {on['python']}, Neo4j {server['neo4j']}, GDS {server['gds']}"
    )


def _say(what: str) -> None:
    sys.stderr.write(f"· {what}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
