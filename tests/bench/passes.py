"""Measures which relationships of a partition stand in one prompt with both ends.

    python -m tests.bench.passes
    python -m tests.bench.passes --graph cacm --collection encyclopedia.json.gz --json
    python -m tests.bench.passes --graph cacm --knob max_partition_tokens=600000

No model takes part. Each graph is partitioned, and each partition is packed into passes of the
default size and of a fifth of it. ``--collection`` adds a file of documents and links, such as
``cacm.json.gz``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import GraphMapping, Node, Partition, Relationship
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.sweeping.material import FRAME_SLACK, read_members, read_relationships
from pgs_neo4j.pgs.sweeping.neighbors import digest_neighbors
from pgs_neo4j.pgs.sweeping.order import SweepOrder
from pgs_neo4j.pgs.sweeping.pack import Pass, pack
from pgs_neo4j.pgs.sweeping.report import frame_size, sweep_prompt
from tests.bench import place, program
from tests.bench.judged import JUDGED, Judged, Load, add_judged, measure_judged

GRAPH = "passes"
QUESTION = "What is missing here?"
CHARACTERS = int(PGSConfig.model_fields["max_pass_characters"].default)
SIZES = (CHARACTERS, CHARACTERS // 5)


@dataclass(frozen=True, slots=True)
class Material:
    """What a sweep reads of one partition, and the characters of the rest of its prompt."""

    nodes: list[Node]
    relationships: list[Relationship]
    reserved: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measure(options)), table, options.json)


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure all graphs, but for those whose files are absent."""
    names = options.graph or (() if options.collection else JUDGED)
    return await measure_judged(names, options, _measure_graph)


async def _measure_graph(name: str, load: Load, options: argparse.Namespace) -> dict[str, Any]:
    async with place.opened(options.uri) as (server, database):
        program.say(f"load {name}")
        graph = await load(database)
        knobs: dict[str, Any] = dict(options.knob)
        async with PGS.connect(
            sweep_llm=ScriptedLLM(),
            synthesis_llm=ScriptedLLM(),
            **place.connection(server),
            **knobs,
        ) as pgs:
            await pgs.graphs.add(GRAPH, graph.mapping)
            program.say(f"partition {name}")
            partitioning = await pgs.partitions.build(GRAPH)
        program.say(f"read {name}")
        began = perf_counter()
        parts = [
            await _read(database, graph, part, partitioning) for part in partitioning.partitions
        ]
        read_s = perf_counter() - began
    return {
        "graph": name,
        "partitions": len(parts),
        "tokens": sum(part.tokens for part in partitioning.partitions),
        "largest": max(part.tokens for part in partitioning.partitions),
        "relationships": partitioning.generation.relationship_count,
        "inside": sum(len(set(part.relationships)) for part in parts),
        "read_s": read_s,
        "sizes": {size: _pack_all(parts, size) for size in SIZES},
    }


async def _read(
    database: Database, graph: Judged, part: Partition, partitioning: Partitioning
) -> Material:
    order = _order(part, partitioning, graph.mapping)
    return Material(
        nodes=await read_members(database, part, graph.mapping),
        relationships=await read_relationships(database, part, graph.mapping),
        reserved=frame_size(sweep_prompt(order, Pass(1, ()), 99)) + FRAME_SLACK,
    )


def _order(part: Partition, partitioning: Partitioning, mapping: GraphMapping) -> SweepOrder:
    by_id = {other.id: other for other in partitioning.partitions}
    return SweepOrder(
        question=QUESTION,
        partition=part,
        neighbors=digest_neighbors(part, by_id, {}),
        partition_ids=frozenset(by_id),
        mapping=mapping,
        generation=partitioning.generation.id,
        config=PGSConfig(),
    )


def _pack_all(parts: Sequence[Material], characters: int) -> dict[str, Any]:
    """Figures of passes of so many characters."""
    program.say(f"pack {len(parts)} partitions into passes of {characters:,} characters")
    began = perf_counter()
    packed = [
        pack(
            part.nodes,
            part.relationships,
            max_characters=characters,
            max_tokens=None,
            reserved=part.reserved,
        )
        for part in parts
    ]
    seconds = perf_counter() - began
    shown = sum(len({link for one in passes for link in one.relationships}) for passes in packed)
    inside = sum(len(set(part.relationships)) for part in parts)
    return {
        "passes": sum(map(len, packed)),
        "divided": sum(len(passes) > 1 for passes in packed),
        "together": shown / inside if inside else 1.0,
        "pack_s": seconds,
    }


def table(document: dict[str, Any]) -> str:
    """The figures as tables."""
    return "\n".join(map(_table, document["runs"]))


def _table(run: dict[str, Any]) -> str:
    rows: list[Sequence[str]] = [("", "passes", "divided", "in one prompt", "s")]
    for size, found in run["sizes"].items():
        rows.append(
            (
                f"{size:,} characters",
                f"{found['passes']:,}",
                f"{found['divided']:,}",
                f"{found['together']:.1%}",
                f"{found['pack_s']:.1f}",
            )
        )
    title = (
        f"{run['graph']}: {run['partitions']} partitions, {run['tokens']:,} tokens, the largest "
        f"{run['largest']:,}; {run['inside']:,} of {run['relationships']:,} relationships inside; "
        f"read in {run['read_s']:.1f} s\n"
    )
    return title + program.aligned(rows)


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("passes", __doc__)
    add_judged(parser)
    program.add_knobs(parser)
    parser.add_argument("--uri", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
