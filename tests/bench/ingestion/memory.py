"""Peak memory of Python while documents are ingested without a model.

``python -m tests.bench.ingestion.memory FOLDER`` ingests a folder into the database that the
environment names, and prints its peak in MB. With ``--alone``, it reads, divides, and extracts all
of it, and sends what it would write to a database that stores nothing: much larger folders can be
measured so, without what stands in the graph.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from random import Random
from typing import Any

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.documents.extract.kept import Keeper
from pgs_neo4j.documents.extract.terms import TermExtractor
from pgs_neo4j.documents.order import IngestOrder, IngestTools
from pgs_neo4j.documents.pipeline import ingest
from pgs_neo4j.documents.sources.find import find_sources
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.engine import PGS
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.model.ingest import Ingested
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


class StoresNothing:
    """Answers as an empty database does, and lets every writer write."""

    async def read(self, query: Query, **params: Any) -> list[Row]:
        if query.name == "documents/loading/read_kind":
            return [{"loaded": False, "documents": False}]
        return []

    async def write(self, query: Query, **params: Any) -> list[Row]:
        if query.name == "documents/publish/take_ingest":
            return [{"taken": True, "holder": params["holder"], "expires_at": ""}]
        held = ("documents/publish/publish", "documents/extract/keep_extractions")
        return [{"held": True}] if query.name in held else []


async def ingest_alone(folder: Path) -> Ingested:
    """Ingest a folder into a database that stores nothing."""
    db: Any = StoresNothing()
    loader = FileLoader()
    tools = IngestTools(
        db=db,
        loader=loader,
        extractor=TermExtractor(),
        describer=None,
        keeper=Keeper(db, GRAPH),
        calls=Calls.of(PGSConfig(), {}),
        on_event=ignore,
    )
    sources = find_sources([folder], loader.takes)
    return await ingest(IngestOrder(graph=GRAPH, label="Docs", sources=sources), tools)


async def _ingest(folder: Path) -> None:
    async with PGS.connect_without_models(embedder="none") as pgs:
        done = await pgs.ingest(folder, GRAPH)
        assert done.complete, done.stopped


if __name__ == "__main__":
    own = ingest_alone if "--alone" in sys.argv else _ingest
    asyncio.run(own(Path(sys.argv[1])))
    sys.stdout.write(f"{own_peak_mb()}\n")
