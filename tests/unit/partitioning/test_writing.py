"""What the partitions of a new generation tell about all of it."""

from __future__ import annotations

import pytest

from pgs_neo4j.partitioning.writing import Described
from tests.unit.partitioning.conftest import ints, partition


@pytest.mark.parametrize(
    ("centroids", "dimensions"), [([None, None], None), ([None, 3], 3), ([2, None], 2)]
)
def test_the_first_centroid_tells_the_dimensions(
    centroids: list[int | None], dimensions: int | None
) -> None:
    parts = [
        partition(n, centroid=None if size is None else ints(*range(size)))
        for n, size in enumerate(centroids, start=1)
    ]
    assert Described(parts, (), ()).dimensions == dimensions
