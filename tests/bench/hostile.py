"""Memory and time that documents take which are made to take all of both.

``python -m tests.bench.hostile`` makes those of ``tests.hostile_reading`` and reads each as an
ingestion does, in a process of its own with the product's own limits. ``--only NAME`` takes some of
them, and ``--worst 20`` prints only those that take most.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.model.documents import DocumentSource
from tests.bench.memory import own_peak_mb
from tests.hostile_reading import DOCUMENTS, ORDINARY, ingest

MOST_MB, MOST_SECONDS = 300, 30
STUCK_S = 600
LONGEST_WORDS = 70


@dataclass(frozen=True, slots=True)
class Measured:
    """What a document took: memory above idle, and CPU time, of both processes; and what came.

    ``mb`` is that of the larger process. The parser reads, and ours divides and extracts.
    """

    name: str
    size_mb: float
    mb: float
    cpu_s: float
    wall_s: float
    said: str

    @property
    def is_within(self) -> bool:
        """Whether it takes no more than a document may."""
        return self.mb <= MOST_MB and self.cpu_s <= MOST_SECONDS


def measure(name: str, folder: Path) -> Measured:
    """Make a document, and read it in a process of its own."""
    path = folder / name
    path.write_bytes(DOCUMENTS[name]())
    try:
        command = [sys.executable, "-m", "tests.bench.hostile", "--read", str(path)]
        ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=STUCK_S)
    finally:
        path.unlink()
    return Measured(**json.loads(ended.stdout))


async def _read(path: Path, size_mb: float) -> Measured:
    await _load(ORDINARY)  # what is imported for any document is no growth
    own, parser, cpu, began = *_peaks_mb(), _cpu_s(), time.monotonic()
    said = await _load(DocumentSource(id=path.name, path=path))
    wall = time.monotonic() - began
    grown = max(after - before for before, after in zip((own, parser), _peaks_mb(), strict=True))
    cpu = _cpu_s() - cpu
    return Measured(path.name, size_mb, round(grown), round(cpu, 1), round(wall, 1), said)


async def _load(source: DocumentSource) -> str:
    """Read a document, end the parser, and say what came."""
    loader = FileLoader()
    found = await ingest(loader, source)
    await loader.close()
    read = f"{found['documents']:,} read, {found['chunks']:,} chunks"
    return "; ".join([*([read] if found["documents"] else []), *found["said"]]) or "nothing in it"


def _peaks_mb() -> tuple[float, float]:
    """The most memory of this process, and of any that it started and that has ended."""
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return own_peak_mb(), started * (1 if sys.platform == "darwin" else 1024) / 1e6


def _cpu_s() -> float:
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def table_of(measured: Sequence[Measured]) -> str:
    """Return a table in Markdown, and a sentence on what is within the limits."""
    lines = ["| document | MB | + MB | CPU s | wall s | what came |", "|---|---|---|---|---|---|"]
    for one in measured:
        said = one.said if len(one.said) <= LONGEST_WORDS else f"{one.said[:LONGEST_WORDS]}…"
        mark = "" if one.is_within else " **over**"
        lines.append(
            f"| {one.name}{mark} | {one.size_mb:g} | {one.mb:g} | {one.cpu_s:g} | {one.wall_s:g} "
            f"| {said} |"
        )
    within = sum(one.is_within for one in measured)
    limits = f"{MOST_MB} MB above idle and {MOST_SECONDS} s of CPU time"
    return "\n".join([*lines, "", f"{within} of {len(measured)} documents take at most {limits}."])


def main() -> None:
    """Measure the documents, or read one and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--read", type=Path, help="a document to read in this process")
    parser.add_argument("--only", nargs="+", choices=[*DOCUMENTS], default=[*DOCUMENTS])
    parser.add_argument("--worst", type=int, help="print only so many, those that take most")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.read:
        size_mb = round(options.read.stat().st_size / 1e6, 1)
        print(json.dumps(asdict(asyncio.run(_read(options.read, size_mb)))))  # noqa: T201
        return
    measured: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            measured.append(measure(name, Path(folder)))
            sys.stderr.write(f"{measured[-1]}\n")
    if options.json:
        print(json.dumps([*map(asdict, measured)]))  # noqa: T201
        return
    if options.worst:
        measured.sort(key=lambda one: max(one.mb / MOST_MB, one.cpu_s / MOST_SECONDS), reverse=True)
    shown = measured[: options.worst]
    print(table_of(shown))  # noqa: T201


if __name__ == "__main__":
    main()
