"""Runs the engine in its own process, and reads its result from the database."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import DatabaseError
from tests.bench.graphs import IntArray
from tests.bench.store import Server

ROOT = Path(__file__).resolve().parents[2]
END_S = 15.0
MEMBERS = """
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
MATCH (p)<-[:PGS_IN]-(n)
RETURN p.id AS id, p.lineage AS lineage, p.pool AS pool, collect(n.id) AS nodes ORDER BY id
"""


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Partitions as the database has them.

    ``labels`` ``(n,)`` count from 0, -1 for no partition; ``pool`` ``(k,)`` and ``lineage`` are
    by partition.
    """

    labels: IntArray
    pool: NDArray[np.bool_]
    lineage: tuple[str, ...]

    def of_lineage(self) -> NDArray[Any]:
        """The lineage that each node is in; it must be in one."""
        named: NDArray[Any] = np.asarray(self.lineage)[self.labels]
        return named


async def run(server: Server, folder: Path, seed: int, *do: str) -> dict[str, Any]:
    """Answer of a worker to what it is to do. Raises DatabaseError when it fails."""
    request = {
        "uri": server.uri,
        "user": server.user,
        "password": server.password,
        "seed": seed,
        "do": do,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.worker"),
        cwd=folder,
        env=_environment(folder),
        stdin=PIPE,
        stdout=PIPE,
        start_new_session=True,  # Ctrl-C is for us, and we end it
    )
    try:
        out, _ = await process.communicate(json.dumps(request).encode())
    finally:
        await to_the_end(_ended(process))
    if process.returncode != 0:
        raise DatabaseError(
            f"the measured process failed with exit code {process.returncode}; "
            "what it wrote above says why"
        )
    answer: dict[str, Any] = json.loads(out)
    return answer


async def members(database: Database, generation: str, node_count: int) -> Members:
    """Who belongs to which partition of a generation, by the node's number."""
    _, rows = await database.call(MEMBERS, {"generation": generation}, "read")
    labels = np.full(node_count, -1, dtype=np.int64)
    for at, row in enumerate(rows):
        labels[np.asarray(row["nodes"], dtype=np.int64)] = at
    if (labels < 0).any():
        raise DatabaseError(
            f"{int((labels < 0).sum())} of {node_count} nodes are in no partition of generation "
            f"{generation}; every node must be in one"
        )
    pool = np.array([row["pool"] for row in rows], dtype=np.bool_)
    return Members(labels, pool, tuple(row["lineage"] for row in rows))


def kept_lineage(before: Members, after: Members) -> float:
    """Share of the nodes whose partition carries the same lineage as theirs did before."""
    return float((before.of_lineage() == after.of_lineage()).mean())


def _environment(folder: Path) -> dict[str, str]:
    """The environment of the caller without PGS settings, to measure the defaults."""
    config = folder / "pgs.toml"
    config.touch()
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PGS_", "OPENAI_"))
    }
    return inherited | {"PGS_CONFIG": str(config), "PYTHONPATH": str(ROOT)}


async def _ended(process: Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
