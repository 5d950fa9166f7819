"""The current generation, as the base of the next one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.model import Generation, Partition
from pgs_neo4j.pgs.partitioning.drift import Comparison


@dataclass(frozen=True, slots=True)
class Predecessor:
    """The earlier generation, its partitions by id, and its comparison."""

    generation: Generation
    partitions: tuple[Partition, ...]
    comparison: Comparison

    @property
    def labels(self) -> NDArray[np.int64]:
        """Partition ``(n,)`` of each scanned node from 0, or -1."""
        return self.comparison.labels

    @property
    def bound(self) -> NDArray[np.int64]:
        """Labels ``(n,)``, with -1 for pools, whose nodes may move freely."""
        pool = np.asarray([part.pool for part in self.partitions] + [True])
        return np.where(pool[self.labels], -1, self.labels)
