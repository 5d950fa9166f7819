"""Small segments are merged when there are too many of them."""

from __future__ import annotations

from pgs_neo4j.pgs.partitioning.describe import indexing
from pgs_neo4j.pgs.partitioning.describe.indexing import (
    MOST_SMALL,
    MOST_TEXTS,
    SMALL_BITS,
    SegmentSize,
    choose_scattered,
)


def segments(*texts: int, bits: int = 0) -> list[SegmentSize]:
    """Segments with so many texts, each of one partition."""
    return [
        {"id": f"s{place}", "bits": bits, "texts": count, "uids": [f"p{place}"]}
        for place, count in enumerate(texts)
    ]


def test_a_few_small_segments_stay() -> None:
    assert choose_scattered([]) == set()
    assert choose_scattered(segments(*range(1, MOST_SMALL + 1))) == set()


def test_too_many_small_segments_lose_the_smallest() -> None:
    chosen = choose_scattered(segments(*range(100, 100 + MOST_SMALL + 1)))
    assert chosen == {f"p{place}" for place in range(MOST_SMALL // 2 + 1)}


def test_large_segments_are_never_merged() -> None:
    assert choose_scattered(segments(*[MOST_TEXTS] * 40)) == set()
    assert choose_scattered(segments(*[5_000] * 40, bits=SMALL_BITS + 1)) == set()


def test_a_text_is_indexed_again_a_few_times_at_most() -> None:
    sizes: dict[str, int] = {}
    again = 0
    for refresh in range(500):
        sizes[f"s{refresh}"] = 100
        stored: list[SegmentSize] = [
            {"id": name, "bits": 0, "texts": texts, "uids": [name]} for name, texts in sizes.items()
        ]
        merged = sum(sizes.pop(name) for name in choose_scattered(stored))
        if merged:
            sizes[f"m{refresh}"] = merged
            again += merged
        assert len(sizes) <= indexing.MOST_SMALL
    assert sum(sizes.values()) == 50_000
    assert again < 4 * 50_000
