"""Measures who finds facts planted in random nodes, and what each claims to have read.

    python -m tests.bench.recall
    python -m tests.bench.recall --graph physics2 --facts 200 --json

The model is a script that reads its prompts and reports each fact in them with the alias of its
node. So a fact that is not found was in no prompt. Top-k retrieval, the published procedure, and
the engine get the same question on the same graph. Then a fifth of the partitions fails, and a
third of the replies is cut off.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.llm.scripted import ScriptedLLM
from tests.bench import place, program
from tests.bench.contenders import GRAPH, Contest, Found
from tests.bench.loaded import GRAPHS, plant
from tests.bench.planted_reader import Faults

FACTS = 200
QUESTION = "Which planted facts are there?"
FAULTS = Faults(failing=0.2, cut=0.3)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measured(options)), table, options.json)


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """All graphs, but for those whose files are absent."""
    runs = []
    for name in options.graph or GRAPHS:
        try:
            runs.append(await _graph(name, options))
        except InputFileError as error:
            program.say(f"{name} is left out: {error}")
    if not runs:
        raise UsageError("none of the graphs is there, so nothing was measured")
    return {"question": options.question, "seed": options.seed, "runs": runs}


async def _graph(name: str, options: argparse.Namespace) -> dict[str, Any]:
    async with place.opened(options.uri) as (server, database):
        program.say(f"load {name} and plant {options.facts} facts")
        graph = await GRAPHS[name](database)
        facts = await plant(database, graph, options.facts, options.seed)
        contest = Contest(database, server, graph.mapping, options.question, facts)
        async with PGS.connect(
            sweep_llm=ScriptedLLM(), synthesis_llm=ScriptedLLM(), **place.connection(server)
        ) as pgs:
            await pgs.graphs.add(GRAPH, graph.mapping)
            partitioning = await pgs.partitions.build(GRAPH)
            rows = await _rows(contest, pgs, options)
        return {
            "graph": name,
            "nodes": partitioning.generation.node_count,
            "partitions": len(partitioning.partitions),
            "facts": len(facts),
            "found": [row.as_row() for row in rows],
        }


async def _rows(contest: Contest, pgs: PGS, options: argparse.Namespace) -> list[Found]:
    """All that are asked, in the order of the table."""
    well = Faults(seed=options.seed)
    ill = Faults(FAULTS.failing, FAULTS.cut, options.seed)
    own, same = await contest.groups_of_its_own(), await contest.groups_of_ours(pgs)
    program.say("top-k, the published procedure, ours")
    published = [
        await contest.published("published, its own partitions", own, well),
        await contest.published("published, our partitions", same, well),
    ]
    calls = published[0].calls
    rows = [
        await contest.top_k(),
        *published,
        await contest.ours(f"ours in {calls} calls", "bounded", well, max_calls=calls),
        await contest.ours("ours in full", "whole", well),
    ]
    program.say("the same with failures")
    return [
        *rows,
        await contest.published("with failures: published, its own partitions", own, ill),
        await contest.published("with failures: published, our partitions", same, ill),
        *await contest.ours_then_continued("with failures: ours in full", "ill", ill),
    ]


def table(document: dict[str, Any]) -> str:
    """The figures for people, one part for each graph."""
    return "\n".join(_part(run) for run in document["runs"])


def _part(run: dict[str, Any]) -> str:
    title = f"{run['graph']}: {run['nodes']:,} nodes in {run['partitions']} partitions"
    rows = [(title, "calls", f"facts of {run['facts']}", "read", "claimed", "false", "tokens")]
    rows += [
        (
            f"  {row['name']}",
            f"{row['calls']:,}",
            f"{row['facts']:,}",
            f"{row['real']:,}",
            f"{row['claimed']:,}",
            f"{row['false']:,}",
            f"{row['tokens']:,}",
        )
        for row in run["found"]
    ]
    return program.aligned(rows)


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("recall", __doc__)
    parser.add_argument(
        "--graph",
        action="append",
        choices=tuple(GRAPHS),
        help="a graph of ../shared/data; can be repeated; all by default",
    )
    parser.add_argument(
        "--facts", type=program.number(1), default=FACTS, help=f"planted facts (default {FACTS})"
    )
    parser.add_argument("--question", default=QUESTION, help=f"the question (default {QUESTION!r})")
    parser.add_argument(
        "--seed", type=program.number(0), default=1, help="seed of the draws (default 1)"
    )
    parser.add_argument("--uri", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
