"""The generation before, as the next one sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.model import Generation, Partition
from pgs_neo4j.pgs.drift import Compared


@dataclass(frozen=True, slots=True)
class Before:
    """The generation before: what it was, its partitions by id, and who is still there."""

    generation: Generation
    partitions: tuple[Partition, ...]
    compared: Compared

    def labels(self, count: int) -> NDArray[np.int64]:
        """Partition of each scanned node (n,), counted from 0, -1 for one that had none."""
        found = np.full(count, -1, dtype=np.int64)
        kept = self.compared.place >= 0
        found[self.compared.place[kept]] = self.compared.members.partition[kept] - 1
        return found

    @property
    def dimensions(self) -> int | None:
        """Length of the centroids, None when there were none."""
        return self.generation.dimensions

    def touched_all(self) -> Before:
        """The same with nothing that could be left as it is."""
        every = tuple(part.id for part in self.partitions)
        return replace(self, compared=replace(self.compared, touched=every))

    def bound(self, count: int) -> NDArray[np.int64]:
        """The same without pools: nothing holds their nodes together."""
        labels = self.labels(count)
        pool = np.asarray([part.pool for part in self.partitions] + [True])
        return np.where(pool[labels], -1, labels)
