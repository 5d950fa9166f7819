"""Python's peak memory above idle while a file of small objects is read.

``python -m tests.bench.loading --megabytes 100`` writes such a file and reads it in a process of
its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pgs_neo4j.documents.loading.brain import read_brain
from tests.bench.memory import own_peak_mb


def write_small_objects(path: Path, size_bytes: int) -> None:
    """Write nodes and edges, half of the bytes each."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"nodes":[{"id":0,"concept":"node 0"}')
        number = 0
        while file.tell() < size_bytes / 2:
            batch = range(number + 1, number + 10_001)
            file.write("".join(f',{{"id":{i},"concept":"node {i}"}}' for i in batch))
            number += 10_000
        file.write('],"edges":[{"source":0,"target":1}')
        count, first = number + 1, 0
        while file.tell() < size_bytes:
            batch = range(first, first + 10_000)
            file.write(
                "".join(f',{{"source":{i % count},"target":{(i + 7) % count}}}' for i in batch)
            )
            first += 10_000
        file.write("]}")


def measure(path: Path) -> tuple[float, float]:
    """Return the megabytes above idle, and the seconds, that reading a file takes."""
    command = [sys.executable, "-m", "tests.bench.loading", "--read", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=900)
    megabytes, seconds = map(float, ended.stdout.split())
    return megabytes, seconds


def main() -> None:
    """Measure one file, or read one and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--megabytes", type=int, default=100)
    options = parser.parse_args()
    if options.read:
        idle, began = own_peak_mb(), time.monotonic()
        file = read_brain(options.read)
        assert len(file.nodes)
        print(own_peak_mb() - idle, time.monotonic() - began)  # noqa: T201
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "small.json")
        write_small_objects(path, options.megabytes * 10**6)
        megabytes, seconds = measure(path)
    print(f"{options.megabytes} MB of small objects: {megabytes:.0f} MB, {seconds:.1f} s")  # noqa: T201


if __name__ == "__main__":
    main()
