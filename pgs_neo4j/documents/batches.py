"""Groups items into batches that are limited in number of items and in total size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

GROUP_DOCUMENTS = 50
GROUP_BYTES = 2_000_000
"""Bytes of text that one transaction writes. The rows for this text take about ten times as
much."""


def batches(
    items: Iterable[T], most: int, size: int, size_of: Callable[[T], int]
) -> Iterator[list[T]]:
    """Yield batches of at most ``most`` items and ``size`` in total, in the order of ``items``.

    An item larger than ``size`` forms its own batch.
    """
    batch: list[T] = []
    filled = 0
    for item in items:
        own = size_of(item)
        if batch and (len(batch) >= most or filled + own > size):
            yield batch
            batch, filled = [], 0
        batch.append(item)
        filled += own
    if batch:
        yield batch
