"""Which planted variants of names are joined, and which traps."""

from __future__ import annotations

from tests.bench.ingestion.figure import Bench, Figure
from tests.bench.variants import measure, plant

SEED = 11


async def measure_resolution(bench: Bench) -> list[Figure]:
    """A thousand variants of generated names, and pairs that look alike; without a database."""
    found = measure(plant(SEED))
    joined = found.right_pairs + len(found.wrong_pairs)
    return [
        Figure(name="variants found, %", value=100 * found.recall, bar=85.0),
        Figure(
            name="joined pairs that are right, %",
            value=100 * found.precision,
            bar=99.0,
            note=f"{joined:,} pairs",
        ),
        Figure(name="traps merged", value=float(len(found.merged_traps)), sign="=", bar=0.0),
    ]
