"""Measures partitions, and the memory of processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import psutil
from numpy.typing import NDArray

from pgs_neo4j.graph.csr import Edges
from pgs_neo4j.graph.limits import Limits
from pgs_neo4j.graph.quality import modularity
from tests.bench.graphs import IntArray
from tests.bench.memory import MIB

POLL_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How good a partitioning is; ``below`` and ``above`` count partitions, pools aside."""

    modularity: float
    nmi: float | None
    partitions: int
    pools: int
    below: int
    above: int
    smallest: int
    largest: int
    largest_share: float


@dataclass(slots=True)
class Peak:
    """The most memory seen, in MiB; None before anything was seen."""

    mib: float | None = None

    def see(self, mib: float) -> None:
        """Remember it when it is the most."""
        self.mib = max(self.mib or 0.0, mib)


def figures(
    edges: Edges,
    labels: IntArray,
    pool: NDArray[np.bool_],
    truth: IntArray | None,
    limits: Limits,
) -> Figures:
    """The figures of labels ``0 .. k-1`` ``(n,)``, of which ``pool`` ``(k,)`` are pools."""
    sizes = np.bincount(labels, minlength=pool.size)
    bounded = sizes[~pool]
    return Figures(
        modularity=modularity(edges, labels),
        nmi=None if truth is None else nmi(labels, truth),
        partitions=sizes.size,
        pools=int(pool.sum()),
        below=int((bounded < limits.min_nodes).sum()),
        above=int((bounded > limits.max_nodes).sum()),
        smallest=int(sizes.min(initial=labels.size)),
        largest=int(sizes.max(initial=0)),
        largest_share=float(sizes.max(initial=0) / max(labels.size, 1)),
    )


def nmi(left: IntArray, right: IntArray) -> float:
    """Mutual information of two labelings ``(n,)`` over the mean of their entropies, 0 to 1.

    1 when both put all nodes together: they agree on everything.
    """
    first = np.unique(left, return_inverse=True)[1]
    second, inverse = np.unique(right, return_inverse=True)
    joint = _entropy(first * second.size + inverse)
    entropies = _entropy(first), _entropy(inverse)
    mean = sum(entropies) / 2
    if mean == 0.0:
        return 1.0
    return float(min(max((sum(entropies) - joint) / mean, 0.0), 1.0))


def digest(labels: IntArray) -> str:
    """A short hash of which node is in which partition."""
    return blake2b(np.ascontiguousarray(labels, dtype="<i8").tobytes(), digest_size=8).hexdigest()


@asynccontextmanager
async def watched(pid: int | None, peak: Peak) -> AsyncIterator[None]:
    """Look at the memory of another process while the block runs; of none when there is no id."""
    if pid is None:
        yield
        return
    task = asyncio.create_task(_watch(pid, peak))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _watch(pid: int, peak: Peak) -> None:
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        while True:
            peak.see(process.memory_info().rss / MIB)
            await asyncio.sleep(POLL_S)


def _entropy(labels: IntArray) -> float:
    counts = np.unique(labels, return_counts=True)[1]
    share = counts / max(labels.size, 1)
    return float(-(share * np.log(share)).sum())
