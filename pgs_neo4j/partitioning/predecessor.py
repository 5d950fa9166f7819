"""The generation before, as the next one sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.model import Generation, Partition
from pgs_neo4j.partitioning.drift import Compared


@dataclass(frozen=True, slots=True)
class Before:
    """The generation before: what it was, its partitions by id, and how it compares."""

    generation: Generation
    partitions: tuple[Partition, ...]
    compared: Compared

    @property
    def labels(self) -> NDArray[np.int64]:
        """Partition of each scanned node (n,), counted from 0, -1 for one that had none."""
        return self.compared.labels

    @property
    def bound(self) -> NDArray[np.int64]:
        """The labels without pools: nothing holds their nodes together."""
        pool = np.asarray([part.pool for part in self.partitions] + [True])
        return np.where(pool[self.labels], -1, self.labels)
