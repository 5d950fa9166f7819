"""How often a schema that was pruned for a question holds all that the right statement needs.

``python -m tests.bench.schema_pruning`` prunes published schemas for published questions: each
schema alone, all of them merged into one, and the merged one among 2,000 labels of noise. Then it
does the same with each schema alone among 2,000 labels. ``--every 10`` takes each tenth question.
Times are wall-clock milliseconds per question. They leave out the index, which is made once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgs_neo4j.model import GraphSchema
from pgs_neo4j.pgs.querying.schema.index import index_schema
from pgs_neo4j.pgs.querying.schema.text import MOST_TOKENS, prune_schema, write_schema
from pgs_neo4j.text.tokens import estimate
from tests.published_statements import ARCHIVE
from tests.schema_needs import NeedingPair, add_noise, merge_schemas, read_pairs

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
LABELS = 2_000


@dataclass(frozen=True, slots=True)
class Pruned:
    """The results of one schema; ``lost`` are its questions with the names that are missing.

    ``tokens`` are those of the longest text, ``index_ms`` is the time of indexing, and ``times_ms``
    are those of pruning, ascending.
    """

    name: str
    questions: int
    lost: tuple[tuple[str, tuple[str, ...]], ...]
    tokens: int
    index_ms: float
    times_ms: tuple[float, ...]

    @property
    def kept(self) -> float:
        """The share of questions whose statement finds all that it needs."""
        return 1 - len(self.lost) / self.questions


def measure(name: str, schema: GraphSchema, pairs: Sequence[NeedingPair]) -> Pruned:
    """Prune a schema for each question."""
    started = time.perf_counter()
    index = index_schema(schema)
    index_ms = (time.perf_counter() - started) * 1_000
    lost: list[tuple[str, tuple[str, ...]]] = []
    times: list[float] = []
    longest = 0
    for pair in pairs:
        started = time.perf_counter()
        kept = prune_schema(index, pair.question)
        times.append((time.perf_counter() - started) * 1_000)
        longest = max(longest, estimate(write_schema(kept)))
        if missing := pair.needs.missing(kept):
            lost.append((pair.question, tuple(missing)))
    if longest > MOST_TOKENS:
        raise RuntimeError(f"a text of {name} has {longest} tokens")
    return Pruned(name, len(pairs), tuple(lost), longest, index_ms, tuple(sorted(times)))


def measure_all(every: int) -> Iterator[Pruned]:
    """Yield the results of all schemas."""
    schemas, pairs = read_pairs(DATA / ARCHIVE)

    def choose(name: str) -> list[NeedingPair]:
        return [pair for pair in pairs if pair.database == name][::every]

    for name, schema in schemas.items():
        yield measure(name, schema, choose(name))
    merged = merge_schemas(schemas.values())
    yield measure("all merged", merged, pairs[::every])
    yield measure(f"all in {LABELS:,}", add_noise(merged, LABELS), pairs[::every])
    for name, schema in schemas.items():
        yield measure(f"{name} in {LABELS:,}", add_noise(schema, LABELS), choose(name))


def main() -> None:
    """Print a line per schema, and the questions that lost something if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--lost", action="store_true", help="also print what is missing")
    options = parser.parse_args()
    sys.stdout.write(
        f"{'schema':28}{'asked':>7}{'kept':>9}{'tokens':>8}{'index':>8}{'median':>8}{'p99':>8}\n"
    )
    for one in measure_all(options.every):
        median = one.times_ms[len(one.times_ms) // 2]
        slow = one.times_ms[int(len(one.times_ms) * 0.99)]
        sys.stdout.write(
            f"{one.name:28}{one.questions:7}{one.kept:9.2%}{one.tokens:8}"
            f"{one.index_ms:8.1f}{median:8.1f}{slow:8.1f}\n"
        )
        sys.stdout.flush()
        for question, missing in one.lost if options.lost else ():
            sys.stdout.write(f"    {question} — {', '.join(missing)}\n")


if __name__ == "__main__":
    main()
