"""What files cost that the graph holds already."""

from __future__ import annotations

from pathlib import Path

from tests.bench.ingestion.corpus import make_world, write_files, write_texts
from tests.bench.ingestion.figure import GRAPH, Bench, Figure
from tests.bench.ingestion.replies import FaithfulLLM

DOCUMENTS, CHARACTERS = 100, 6000


async def measure_repeats(bench: Bench) -> list[Figure]:
    """Calls for the same folder again, after all files are renamed, and after a purge."""
    world = make_world(4 * DOCUMENTS, 8 * DOCUMENTS)
    folder = bench.folder / "docs"
    write_files(folder, write_texts(world.facts, 8, CHARACTERS))
    figures: list[Figure] = []
    async with bench.engine(FaithfulLLM()) as pgs:

        async def calls() -> int:
            done = await pgs.ingest(folder, GRAPH)
            assert done.complete, done.outcomes
            return done.usage.calls

        note = f"{await calls()} calls the first time"
        for name in ("the same folder again", "renamed", "after purge"):
            if name == "renamed":
                rename_files(folder)
            elif name == "after purge":
                await pgs.purge()
            value = float(await calls())
            figures.append(Figure(name=f"calls, {name}", value=value, sign="=", bar=0.0, note=note))
    return figures


def rename_files(folder: Path) -> None:
    """Give every file of a folder another name."""
    for file in [*folder.rglob("*.txt")]:
        file.rename(file.with_name(f"renamed {file.name}"))
