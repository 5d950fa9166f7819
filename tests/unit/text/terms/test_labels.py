"""Labels tell partitions apart."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping

from pgs_neo4j.text.terms.labels import (
    LABEL_TERMS,
    OTHER_LABELS,
    TERMS,
    Labels,
    list_terms,
    pack_counts,
    score_words,
    unpack_counts,
)


def labels_of(
    counts: Mapping[int, Counter[str]],
    fixed: Mapping[int, tuple[str, ...]] | None = None,
    holders: Mapping[str, int] | None = None,
) -> dict[int, tuple[str, ...]]:
    """The labels of all partitions that are not fixed."""
    return Labels(score_words(counts, holders), fixed or {}).chosen


def terms_of(counts: Mapping[int, Counter[str]]) -> dict[int, tuple[str, ...]]:
    """The terms of all partitions."""
    return {part: list_terms(pairs) for part, pairs in score_words(counts).items()}


def boilerplate(parts: int = 30) -> dict[int, Counter[str]]:
    """Partitions whose nodes all mention the same words, and a few of their own."""
    shared = Counter({"sources": 40, "subjects": 40, "wikipedia": 40})
    return {
        part: shared
        + Counter({f"topic{part}": 12, f"field{part}": 9, f"name{part}": 7, f"rare{part}": 1})
        for part in range(parts)
    }


def test_words_that_all_partitions_mention_are_no_terms_of_any() -> None:
    terms, labels = terms_of(boilerplate()), labels_of(boilerplate())
    for part in boilerplate():
        assert labels[part] == (f"topic{part}", f"field{part}", f"name{part}")
        assert terms[part][:3] == labels[part]
        assert terms[part][3] == f"rare{part}"


def test_a_frequent_word_is_preferred_to_one_that_few_nodes_hold() -> None:
    counts = {1: Counter(glacier=30, odd=1, common=30), 2: Counter(court=30, common=30)}
    terms = terms_of(counts)
    assert terms[1][:2] == ("glacier", "odd")
    assert terms[2][0] == "court"


def test_a_word_that_many_other_nodes_hold_is_a_poor_term() -> None:
    counts = {1: Counter(glacier=20, value=25), 2: Counter(court=30), 3: Counter(lathe=30)}
    assert labels_of(counts)[1] == ("value", "glacier")
    # Others hold it as well, but not among their most frequent words.
    assert labels_of(counts, holders={"value": 300, "court": 1})[1][0] == "glacier"


def test_a_word_stands_in_a_tenth_of_the_labels_at_most() -> None:
    draw = random.Random(4)
    counts = {
        part: Counter({f"w{draw.randrange(60)}": draw.randrange(1, 40) for _ in range(40)})
        for part in range(50)
    }
    labels = labels_of(counts).values()
    used = Counter(word for label in labels for word in label)
    assert max(used.values()) <= 5
    assert all(len(set(label)) == len(label) for label in labels)
    assert sum(len(label) == LABEL_TERMS for label in labels) >= 45


def test_few_partitions_share_no_word() -> None:
    counts = {1: Counter(same=9, one=2), 2: Counter(same=9, two=2)}
    labels = [set(label) for label in labels_of(counts).values()]
    assert not labels[0] & labels[1]


def test_terms_are_bounded_and_nothing_has_none() -> None:
    many = Counter({f"w{number}": 2 for number in range(40)})
    counts = {1: many, 2: Counter[str]()}
    assert len(terms_of(counts)[1]) == TERMS
    assert terms_of(counts)[2] == labels_of(counts)[2] == ()
    assert labels_of({}) == {}


def test_the_most_frequent_words_label_the_only_partition() -> None:
    assert labels_of({1: Counter(b=3, a=3, c=9, d=1)}) == {1: ("c", "a", "b")}


def test_partitions_with_the_same_words_have_no_label() -> None:
    for parts in range(2, 30):
        words = {"same": 1, "text": 1, "stands": 1, "nodes": 1}
        same = {part: Counter(dict.fromkeys(words, 12 + part % 2)) for part in range(parts)}
        assert set(labels_of(same).values()) == {()}


def test_the_order_of_partitions_makes_no_difference() -> None:
    counts = boilerplate(8)
    backwards = dict(sorted(counts.items(), reverse=True))
    assert labels_of(counts) == labels_of(backwards)


def test_labels_that_stay_keep_their_words() -> None:
    labels = labels_of(boilerplate(5), {1: ("topic2", "field2"), 3: ("any",)})
    assert labels.keys() == {0, 2, 4}
    assert labels[2] == ("name2", "rare2")
    assert labels[4] == ("topic4", "field4", "name4")


def test_another_label_has_the_next_best_terms_and_no_word_that_is_used_up() -> None:
    labels = Labels(score_words(boilerplate(5)))
    others = labels.others(1)
    assert others[0] == ("topic1", "field1", "rare1")
    assert all(set(label) != set(labels.chosen[1]) for label in others)
    assert len(others) == 3
    labels.replace(1, others[0])
    assert labels.chosen[1] == others[0]
    assert ("topic1", "field1", "name1") in labels.others(1)


def test_other_labels_are_bounded() -> None:
    counts = {part: Counter({f"w{part}{n}": 9 for n in range(20)}) for part in range(3)}
    assert len(Labels(score_words(counts)).others(2)) == OTHER_LABELS


def test_counts_are_stored_and_read_back() -> None:
    counts = Counter({"gletscher": 3, "größe": 2, "\ud800": 1})
    assert unpack_counts(pack_counts(counts)) == counts
