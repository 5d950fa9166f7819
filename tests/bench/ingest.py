"""Measures ingestion: how fast it is, what it finds, and what crashes and hostile texts do to it.

    python -m tests.bench.ingest
    python -m tests.bench.ingest --only growth --documents 100
    python -m tests.bench.ingest --only own-time --peers ../peers --apoc apoc-core-5.26.0-core.jar

No language model takes part: a script answers from each prompt alone. One table shows each figure
with its bar.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.bench import place, program
from tests.bench.ingestion.encyclopedia import measure_encyclopedia
from tests.bench.ingestion.faults import measure_hostile, measure_kills, measure_mutations
from tests.bench.ingestion.figure import Bench, Figure
from tests.bench.ingestion.found import (
    measure_insertion,
    measure_planted,
    measure_sweep,
    measure_tags,
)
from tests.bench.ingestion.memory import measure_memory
from tests.bench.ingestion.repeats import measure_repeats
from tests.bench.ingestion.resolution import measure_resolution
from tests.bench.ingestion.speed import measure_growth, measure_own_time, measure_publishing

Measure = Callable[[Bench], Awaitable[list[Figure]]]
MEASURES: Mapping[str, Measure] = {
    "own-time": measure_own_time,
    "publishing": measure_publishing,
    "growth": measure_growth,
    "memory": measure_memory,
    "planted": measure_planted,
    "sweep": measure_sweep,
    "insertion": measure_insertion,
    "repeats": measure_repeats,
    "tags": measure_tags,
    "encyclopedia": measure_encyclopedia,
    "resolution": measure_resolution,
    "kills": measure_kills,
    "mutations": measure_mutations,
    "hostile": measure_hostile,
}
DOCUMENTS, MOMENTS, MEGABYTES = 500, 50, 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    sys.path += [str(folder) for folder in options.peers]
    return program.told(lambda: program.run(lambda: measured(options)), table, options.json)


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """All measures that are asked for, each in an empty database."""
    figures: list[dict[str, Any]] = []
    async with place.opened(options.uri, options.apoc) as (server, database):
        for name in options.only or MEASURES:
            began = perf_counter()
            program.say(name)
            with tempfile.TemporaryDirectory(prefix="pgs-bench-") as folder:
                bench = Bench(
                    server=server,
                    database=database,
                    folder=Path(folder),
                    documents=options.documents,
                    moments=options.moments,
                    megabytes=options.megabytes,
                    collection=options.collection,
                )
                found = await MEASURES[name](bench)
            await place.emptied(database)
            program.say(f"{name}: {perf_counter() - began:.0f} s")
            figures += [{**asdict(one), "reached": one.reached} for one in found]
    return {"figures": figures}


def table(document: dict[str, Any]) -> str:
    """The figures with their bars."""
    rows = [("", "bar", "measured", "reached", "")]
    for one in document["figures"]:
        bar = "" if one["bar"] is None else f"{one['sign']} {one['bar']:g}"
        value = "-" if one["value"] is None else f"{one['value']:.3g}"
        reached = {True: "yes", False: "NO", None: ""}[one["reached"]]
        rows.append((one["name"], bar, value, reached, one["note"]))
    width = max(len(row[0]) for row in rows)
    lines = (
        f"{name:<{width}} {bar:>8} {value:>9} {reached:>8}  {note}".rstrip()
        for name, bar, value, reached, note in rows
    )
    return "\n".join(lines) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("ingest", __doc__)
    parser.add_argument(
        "--only",
        action="append",
        choices=tuple(MEASURES),
        help="a measure; can be repeated; all by default",
    )
    parser.add_argument(
        "--documents",
        type=program.number(50),
        default=DOCUMENTS,
        help=f"documents of the measures of time (default {DOCUMENTS}; growth takes 20 times that)",
    )
    parser.add_argument(
        "--moments",
        type=program.number(1),
        default=MOMENTS,
        help=f"moments at which an ingestion is killed (default {MOMENTS})",
    )
    parser.add_argument(
        "--megabytes",
        type=program.number(1),
        default=MEGABYTES,
        help=f"size of the large corpus of the measure of memory (default {MEGABYTES})",
    )
    parser.add_argument(
        "--collection", type=Path, help="linked articles as gzipped JSON, for encyclopedia"
    )
    parser.add_argument(
        "--peers",
        action="append",
        type=Path,
        default=[],
        help="a folder with packages to compare with; can be repeated",
    )
    parser.add_argument(
        "--apoc", type=Path, help="the jar of APOC core, which SimpleKGPipeline needs"
    )
    parser.add_argument("--uri", metavar="URI", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
