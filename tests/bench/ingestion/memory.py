"""Peak memory of Python while documents are ingested without a model.

``python -m tests.bench.ingestion.memory FOLDER`` ingests a folder into the database that the
environment names, and prints its peak in MB.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from random import Random

from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.engine import PGS
from tests.bench import place, program
from tests.bench.engine import ROOT
from tests.bench.ingestion.corpus import make_world, write_files, write_texts
from tests.bench.ingestion.figure import GRAPH, Bench, Figure
from tests.bench.memory import own_peak_mb

DOCUMENT_CHARACTERS = 20_000
MOST_MB = 600.0
TIMES = 4
"""Times that the larger corpus is the smaller one; both are several publications."""


async def measure_memory(bench: Bench) -> list[Figure]:
    """Peak of a corpus ÷ that of a quarter of it, and the peak itself."""
    few = max(1, bench.megabytes // TIMES)
    peaks: list[float] = []
    for size in (few, TIMES * few):
        folder = bench.folder / f"{size} MB"
        _write(folder, size)
        program.say(f"{size} MB without a model")
        peaks.append(await _peak(bench, folder))
        await place.emptied(bench.database)
    sizes = f"{TIMES * few} MB and {few} MB"
    return [
        Figure(
            name=f"peak memory without a model, {TIMES * few} MB ÷ {few} MB",
            value=peaks[1] / peaks[0],
            sign="≤",
            bar=1.15,
            note=f"{peaks[1]:.0f} and {peaks[0]:.0f} MB",
        ),
        Figure(name=f"peak memory in MB, {sizes}", value=max(peaks), sign="≤", bar=MOST_MB),
    ]


def _write(folder: Path, megabytes: int) -> None:
    """Write documents with names that recur, as many as are wanted."""
    count = megabytes * 1_000_000 // DOCUMENT_CHARACTERS
    world = make_world(20 * count, 40 * count, seed=megabytes)
    order = [*world.facts]
    Random(1).shuffle(order)
    write_files(folder, write_texts(order, 40, DOCUMENT_CHARACTERS))


async def _peak(bench: Bench, folder: Path) -> float:
    environment = os.environ | {
        "PGS_NEO4J_URI": bench.server.uri,
        "PGS_NEO4J_USER": bench.server.user,
        "PGS_NEO4J_PASSWORD": bench.server.password or "",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.ingestion.memory", str(folder)),
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        told = await process.stdout.read()
    finally:
        if process.returncode is None and not told:
            process.kill()
        await to_the_end(process.wait())
    return float(told)


async def _ingest(folder: Path) -> None:
    async with PGS.connect_without_models(embedder="none") as pgs:
        done = await pgs.ingest(folder, GRAPH)
        assert done.complete, done.stopped


if __name__ == "__main__":
    asyncio.run(_ingest(Path(sys.argv[1])))
    sys.stdout.write(f"{own_peak_mb()}\n")
