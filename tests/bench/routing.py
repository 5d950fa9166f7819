"""Measures whether questions reach the partitions of the nodes that answer them.

    python -m tests.bench.routing
    python -m tests.bench.routing --graph cacm --collection encyclopedia.json.gz --json
    python -m tests.bench.routing --scale lfr_1e6

No model takes part. Each question is routed by evidence and by centroids. A table tells how many of
its nodes are in the first 3 and the first 15 partitions, and among those that the default settings
would sweep; how many partitions and tokens these are; and how long routing takes. ``--collection``
adds a file of documents, links, queries, and relevant documents, such as ``cacm.json.gz``.
``--scale`` measures only how long routing takes: on a graph of ``../shared/data`` with generated
texts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from statistics import fmean, median
from time import perf_counter
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.pgs.partitioning.result import Partitioning
from tests.bench import place, program
from tests.bench.graphs import NAMES
from tests.bench.judged import JUDGED, Judged, Load, add_judged, measure_judged
from tests.bench.planted_reader import PlantedReader
from tests.bench.scale import measure_scale, scale_table

GRAPH = "routing"
FEW, MOST = 3, 15
HOMES = """
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition {level: 0})<-[:PGS_IN]-(n)
WHERE elementId(n) IN $nodes
RETURN elementId(n) AS node, p.id AS partition
"""
WAYS = ("evidence", "centroids")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measured(options)), table, options.json)


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """All graphs, but for those whose files are absent."""
    if options.scale:
        knobs = dict(options.knob)
        return {"scale": [await measure_scale(n, options.uri, knobs) for n in options.scale]}
    return await measure_judged(options.graph or JUDGED, options, _graph)


async def _graph(name: str, load: Load, options: argparse.Namespace) -> dict[str, Any]:
    async with place.opened(options.uri) as (server, database):
        program.say(f"load {name}")
        graph = await load(database)
        knobs: dict[str, Any] = dict(options.knob)
        async with PGS.connect(
            sweep_llm=ScriptedLLM(PlantedReader()),
            synthesis_llm=ScriptedLLM(contract_reply),
            embedder=graph.embedder,
            **place.connection(server),
            **knobs,
        ) as pgs:
            await pgs.graphs.add(GRAPH, graph.mapping)
            program.say(f"partition {name}")
            partitioning = await pgs.partitions.build(GRAPH)
            homes = await _homes(database, partitioning, graph)
            ways = {}
            for way in WAYS:
                program.say(f"route {len(graph.questions)} questions by {way}")
                ways[way] = await _route(pgs, partitioning, graph, homes, way)
            answered = await _ask(pgs, graph) if graph.marked else None
    return {
        "graph": name,
        "questions": len(graph.questions),
        "partitions": len(partitioning.partitions),
        "tokens": sum(part.tokens for part in partitioning.partitions),
        "enrich_s": partitioning.steps.get("enrich", 0.0),
        "ways": ways,
        "answered": answered,
    }


async def _homes(database: Database, partitioning: Partitioning, graph: Judged) -> dict[str, int]:
    nodes = sorted({node for question in graph.questions for node in question.nodes})
    values = {"generation": partitioning.generation.id, "nodes": nodes}
    _, rows = await database.call(HOMES, values, "read")
    return {row["node"]: row["partition"] for row in rows}


async def _route(
    pgs: PGS, partitioning: Partitioning, graph: Judged, homes: dict[str, int], way: str
) -> dict[str, Any]:
    tokens = {part.id: part.tokens for part in partitioning.partitions}
    few, most, routed, counts, sizes, seconds = [], [], [], [], [], []
    for question in graph.questions:
        wanted = [homes[node] for node in question.nodes]

        def share(chosen: Sequence[int], wanted: Sequence[int] = wanted) -> float:
            return fmean(partition in chosen for partition in wanted)

        ranked = await pgs.route(
            question.text, route_by=way, min_sweep_partitions=MOST, graph=GRAPH
        )
        order = [route.partition for route in ranked.routes]
        few.append(share(order[:FEW]))
        most.append(share(order[:MOST]))
        began = perf_counter()
        chosen = await pgs.route(question.text, route_by=way, graph=GRAPH)
        seconds.append(perf_counter() - began)
        swept = [route.partition for route in chosen.routes]
        routed.append(share(swept))
        counts.append(len(swept))
        sizes.append(sum(tokens[part] for part in swept))
    return {
        "first_few": fmean(few),
        "first_most": fmean(most),
        "routed": fmean(routed),
        "partitions": fmean(counts),
        "tokens": fmean(sizes),
        "route_s": median(seconds),
    }


async def _ask(pgs: PGS, graph: Judged) -> float:
    """Ask every question; return the share of answers whose reports tell what was asked."""
    program.say(f"ask {len(graph.questions)} questions")
    found = 0
    for number, question in enumerate(graph.questions):
        answer = await pgs.execute(question.text, graph=GRAPH, session_id=f"q{number}")
        reports = [sweep.report for sweep in answer.sweeps if sweep.report is not None]
        told = " ".join(finding.text for report in reports for finding in report.findings)
        found += f"planted-fact-{number}-end" in told
    return found / len(graph.questions)


def table(document: dict[str, Any]) -> str:
    """The figures as tables."""
    if scale := document.get("scale"):
        return scale_table(scale)
    return "\n".join(map(_table, document["runs"]))


def _table(run: dict[str, Any]) -> str:
    head = ("", f"first {FEW}", f"first {MOST}", "routed", "partitions", "tokens", "ms")
    rows: list[Sequence[str]] = [head]
    for way, found in run["ways"].items():
        rows.append(
            (
                way,
                *(f"{found[name]:.1%}" for name in ("first_few", "first_most", "routed")),
                f"{found['partitions']:.1f}",
                f"{found['tokens']:,.0f}",
                f"{1000 * found['route_s']:.0f}",
            )
        )
    title = (
        f"{run['graph']}: {run['questions']} questions, {run['partitions']} partitions, "
        f"{run['tokens']:,} tokens, described in {run['enrich_s']:.1f} s\n"
    )
    asked = run["answered"]
    below = "" if asked is None else f"answered by asking: {asked:.1%}\n"
    return title + program.aligned(rows) + below


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("routing", __doc__)
    add_judged(parser)
    parser.add_argument(
        "--scale", action="append", choices=NAMES, help="time routing on this graph, nothing else"
    )
    program.add_knobs(parser)
    parser.add_argument("--uri", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
