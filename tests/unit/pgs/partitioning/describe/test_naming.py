"""Labels are checked as questions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pgs_neo4j.pgs.partitioning.describe.naming import improve_labels
from pgs_neo4j.text.terms.cells import cell_uid
from pgs_neo4j.text.terms.labels import Labels, score_words
from pgs_neo4j.text.terms.postings import SegmentBuilder
from tests.fakes.database import FakeDatabase


def improved(
    texts: Mapping[int, Sequence[str]],
    counts: Mapping[int, Counter[str]],
    parts: int = 1,
    labels: Labels | None = None,
) -> dict[int, tuple[str, ...]]:
    """Labels of partitions with these texts, indexed in so many segments."""
    segments: list[dict[str, Any]] = []
    cells: dict[str, bytes] = {}
    for number in range(parts):
        builder, places = SegmentBuilder(20), []
        for part in sorted(texts)[number::parts]:
            places.append([part, builder.size, len(texts[part])])
            builder.add(texts[part])
        segment, name = builder.build(), f"s{number}"
        cells |= {cell_uid(name, bucket): data for bucket, data in segment.cells.items()}
        row = {"id": name, "size": segment.size, "bits": segment.bits, "partitions": places}
        segments.append(row)
    db: Any = FakeDatabase(
        read_segments=segments,
        read_postings=lambda p: [{"uid": u, "data": cells[u]} for u in p["uids"] if u in cells],
    )
    labels = labels or Labels(score_words(counts))
    asyncio.run(improve_labels(db, "g1", labels))
    return labels.chosen


# Partition 2 has fewer nodes on glaciers and ice, but one that is about nothing else.
TEXTS = {
    1: ["glacier snow cold", "ice hill cold", "glacier mild", "ice mild", "moraine valley cold"],
    2: ["glacier ice cold", "court law", "court judge", "law judge"],
    3: ["lathe wood", "lathe tool"],
}
COUNTS = {
    1: Counter(glacier=2, ice=2, cold=3, mild=2, moraine=1, valley=1),
    2: Counter(court=2, law=2, judge=2),
    3: Counter(lathe=2, wood=1, tool=1),
}


def test_a_label_that_leads_elsewhere_is_replaced() -> None:
    before = Labels(score_words(COUNTS)).chosen
    assert set(before[1]) == {"cold", "glacier", "ice"}
    for segments in (1, 2, 3):
        after = improved(TEXTS, COUNTS, segments)
        assert set(after[1]) != set(before[1])
        assert set(after[1]) <= COUNTS[1].keys()
        assert after[2] == before[2]
        assert after[3] == before[3]


def test_a_label_stays_if_none_leads_to_its_partition() -> None:
    counts = {**COUNTS, 3: Counter(court=9)}
    assert improved(TEXTS, counts)[3] == ("court",)


def test_labels_without_words_or_an_index_stay() -> None:
    assert improved(TEXTS, {1: Counter(), 2: Counter(), 3: Counter()}) == {1: (), 2: (), 3: ()}
    labels = Labels(score_words(COUNTS))
    before = dict(labels.chosen)
    empty: Any = FakeDatabase(read_segments=[])
    asyncio.run(improve_labels(empty, "g1", labels))
    assert labels.chosen == before


def test_a_word_is_read_that_only_a_replacement_brings_into_labels() -> None:
    shared = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet"]
    own = ["kiosk", "lemon", "mango"]
    texts = {1: [" ".join(shared[3:6])], 2: ["nylon"], 3: [" ".join((*shared, *own))]}
    labels = Labels(
        {
            1: [(9.0, word) for word in own] + [(8.0, word) for word in shared[3:6]],
            2: [(5.0, word) for word in shared] + [(0.1, "nylon")],
            3: [],
        }
    )
    assert not any("nylon" in label for label in labels.others(2))
    after = improved(texts, {}, labels=labels)
    assert set(after[1]) & set(shared[3:6])
    assert any("nylon" in label for label in labels.others(2))
