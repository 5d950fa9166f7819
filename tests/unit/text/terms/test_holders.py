"""How many texts hold a word is counted in fixed memory."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.text.terms.holders import HolderCounts
from pgs_neo4j.text.terms.keywords import KEEP, KeywordCounter
from pgs_neo4j.text.terms.spans import split_words
from pgs_neo4j.text.terms.vocabulary import Vocabulary


def holders(*texts: tuple[int, str]) -> HolderCounts:
    """Who holds which words in texts of partitions, all of which are finished."""
    counter = KeywordCounter()
    runs = Vocabulary().number(split_words([text for _, text in texts]).runs)
    counter.count(runs, np.array([partition for partition, _ in texts]))
    for partition in counter.unfinished:
        counter.finish(partition)
    return counter.holders


def test_a_word_counts_once_per_text_of_all_partitions() -> None:
    found = holders((1, "glacier glacier ice"), (1, "Glacier"), (2, "the glacier court"))
    expected = {"glacier": 3, "ice": 1, "court": 1, "absent": 0}
    assert found.of(["glacier", "ice", "court", "absent"]) == expected


def test_words_that_no_partition_keeps_are_counted() -> None:
    often = " ".join(f"w{number}x" for number in range(KEEP))
    assert holders((1, often), (1, f"{often} seldom")).of(["seldom"]) == {"seldom": 1}


def test_nothing_is_held_without_texts_or_words() -> None:
    assert HolderCounts().of([]) == {}
    assert HolderCounts().of(["word", "語"]) == {"word": 0, "語": 0}
