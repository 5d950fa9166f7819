"""Measures the partitioning of a graph against bare Graph Data Science and igraph.

    python -m tests.bench.partition --graph sbm_1e5
    python -m tests.bench.partition --graph lfr_1e5 --graph lfr_1e6 --repeat 3 --changes 0.01
    python -m tests.bench.partition --files 20000 100000 --json
    python -m tests.bench.partition --text

Starts its own Neo4j in a temporary folder and removes it at the end. Alternatively, --uri names an
empty database (with PGS_TEST_NEO4J_USER and PGS_TEST_NEO4J_PASSWORD).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.graph.csr import undirected
from tests.bench import long_texts, peer, place, program, report, run
from tests.bench.graphs import NAMES, BenchGraph, check_name, named
from tests.bench.planted import planted
from tests.bench.run import LIMITS, Plan, Say

SEED = int(PGSConfig.model_fields["random_seed"].default)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line names, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    if options.text:
        limit = LIMITS.max_tokens or 0
        return program.told(
            lambda: long_texts.measured(options.seed, limit), long_texts.table, options.json
        )
    return program.ended(lambda: _told(options))


def _told(options: argparse.Namespace) -> None:
    """Measure one graph after the other, and tell of each as soon as it is done."""
    runs = []
    for graph in _graphs(options):
        runs.append(_measured(graph, _plan(options), program.say))
        if not options.json:
            sys.stdout.write(report.table(runs[-1]) + "\n")
            sys.stdout.flush()
    if options.json:
        document = {"machine": program.machine(), "runs": runs, "growth": report.grown(runs)}
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
    else:
        sys.stdout.write(report.growth(runs) + _machine_line(runs) + "\n")


def _measured(graph: BenchGraph, plan: Plan, say: Say) -> dict[str, Any]:
    edges = undirected(graph.node_count, graph.source, graph.target, graph.weight)
    say(f"igraph on {graph.name}")
    other = peer.measured(graph, edges, LIMITS, plan.seed)
    return program.run(lambda: run.measured(graph, edges, other, plan, say))


def _graphs(options: argparse.Namespace) -> Iterator[BenchGraph]:
    """The graphs one after the other, and none when one of them does not exist."""
    for name in options.graph:
        check_name(name)
    if options.files:
        yield planted(*options.files, seed=options.seed)  # type: ignore[misc]
    for name in options.graph:
        yield named(name)


def _plan(options: argparse.Namespace) -> Plan:
    return Plan(
        seed=options.seed,
        repeat=options.repeat,
        changes=options.changes,
        uri=options.uri,
        heap_mb=options.heap,
    )


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("partition", __doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--graph",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a graph of ../shared/data; can be repeated: {', '.join(NAMES)}",
    )
    which.add_argument(
        "--files",
        nargs=2,
        type=program.number(1),
        metavar=("N", "E"),
        help="a generated graph of N nodes and about E relationships, with planted communities",
    )
    which.add_argument(
        "--text",
        action="store_true",
        help="graphs whose texts exceed the limits, without a server: modularity within the "
        "limits, with moves and without",
    )
    parser.add_argument(
        "--repeat",
        type=program.number(1),
        default=1,
        metavar="R",
        help="repartition R times between R + 1 runs of bare GDS and print medians (default 1)",
    )
    parser.add_argument(
        "--changes",
        type=_share,
        metavar="SHARE",
        help="then replace this share of the relationships and repartition, first from the "
        "current generation and then from scratch (0.01 is 1 %%)",
    )
    parser.add_argument(
        "--seed",
        type=program.number(0),
        default=SEED,
        help=f"seed of all random choices (default {SEED})",
    )
    parser.add_argument("--uri", help=place.HELP)
    parser.add_argument(
        "--heap", type=program.number(512), metavar="MIB", help="heap of the new server"
    )
    return parser


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.0 < share <= 0.5:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share above 0 and up to 0.5")
    return share


def _machine_line(runs: list[dict[str, Any]]) -> str:
    on, server = program.machine(), runs[-1]["server"]
    return (
        f"{runs[-1]['date']}: {on['cores']} cores, {on['memory_gib']} GiB, {on['system']}, "
        f"Python {on['python']}, Neo4j {server['neo4j']}, GDS {server['gds']}"
    )


if __name__ == "__main__":
    sys.exit(main())
