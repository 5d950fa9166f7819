"""Labels tell partitions apart."""

from __future__ import annotations

import random
from collections import Counter

from pgs_neo4j.text.terms.labels import (
    LABEL_TERMS,
    TERMS,
    label_partitions,
    pack_counts,
    unpack_counts,
)


def boilerplate(parts: int = 30) -> dict[int, Counter[str]]:
    """Partitions whose nodes all mention the same words, and a few of their own."""
    shared = Counter({"sources": 40, "subjects": 40, "wikipedia": 40})
    return {
        part: shared
        + Counter({f"topic{part}": 12, f"field{part}": 9, f"name{part}": 7, f"rare{part}": 1})
        for part in range(parts)
    }


def test_words_that_all_partitions_mention_are_no_terms_of_any() -> None:
    for part, labeled in label_partitions(boilerplate()).items():
        assert labeled.label == (f"topic{part}", f"field{part}", f"name{part}")
        assert labeled.terms[:3] == labeled.label
        assert labeled.terms[3] == f"rare{part}"


def test_a_frequent_word_is_preferred_to_one_that_few_nodes_hold() -> None:
    counts = {1: Counter(glacier=30, odd=1, common=30), 2: Counter(court=30, common=30)}
    labeled = label_partitions(counts)
    assert labeled[1].terms[:2] == ("glacier", "odd")
    assert labeled[2].terms[0] == "court"


def test_a_word_stands_in_a_tenth_of_the_labels_at_most() -> None:
    draw = random.Random(4)
    counts = {
        part: Counter({f"w{draw.randrange(60)}": draw.randrange(1, 40) for _ in range(40)})
        for part in range(50)
    }
    labels = [labeled.label for labeled in label_partitions(counts).values()]
    used = Counter(word for label in labels for word in label)
    assert max(used.values()) <= 5
    assert all(len(set(label)) == len(label) for label in labels)
    assert sum(len(label) == LABEL_TERMS for label in labels) >= 45


def test_few_partitions_share_no_word() -> None:
    counts = {1: Counter(same=9, one=2), 2: Counter(same=9, two=2)}
    labels = [set(labeled.label) for labeled in label_partitions(counts).values()]
    assert not labels[0] & labels[1]


def test_terms_are_bounded_and_nothing_has_none() -> None:
    many = Counter({f"w{number}": 2 for number in range(40)})
    labeled = label_partitions({1: many, 2: Counter()})
    assert len(labeled[1].terms) == TERMS
    assert labeled[2].terms == labeled[2].label == ()
    assert label_partitions({}) == {}


def test_the_order_of_partitions_makes_no_difference() -> None:
    counts = boilerplate(8)
    backwards = dict(sorted(counts.items(), reverse=True))
    assert label_partitions(counts) == label_partitions(backwards)


def test_labels_that_stay_keep_their_words() -> None:
    counts = boilerplate(5)
    fixed = {1: ("topic2", "field2"), 3: ("any",)}
    labeled = label_partitions(counts, fixed)
    assert labeled[1].label == ("topic2", "field2")
    assert labeled[2].label == ("name2", "rare2")
    assert labeled[4].label == ("topic4", "field4", "name4")


def test_counts_are_stored_and_read_back() -> None:
    counts = Counter({"gletscher": 3, "größe": 2, "\ud800": 1})
    assert unpack_counts(pack_counts(counts)) == counts
