"""Words, markup, document frequency, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.terms import keywords as module
from pgs_neo4j.text.terms.keywords import KEEP, HolderCounts, KeywordCounter
from pgs_neo4j.text.terms.plain import marked_texts, plain_text
from pgs_neo4j.text.terms.spans import split_words
from pgs_neo4j.text.terms.vocabulary import Vocabulary
from pgs_neo4j.text.words import KEYWORD_STOP_WORDS

WORD = re.compile(r"(?<![^\W_])[^\W\d_][^\W_]{2,39}(?![^\W_])")


def words(text: str) -> set[str]:
    """The words of a text that may become keywords, found one by one."""
    return {word.casefold() for word in WORD.findall(plain_text(text))} - KEYWORD_STOP_WORDS


def count(counter: KeywordCounter, partition: int | Sequence[int], *texts: str) -> None:
    """Count the words of some texts, of one partition or of one each."""
    runs = Vocabulary().number(split_words([plain_text(text) for text in texts]).runs)
    partitions = [partition] * len(texts) if isinstance(partition, int) else partition
    counter.count(runs, np.array(partitions))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Entropy of entropy", {"entropy"}),
        ("Größe STRASSE straße", {"grösse", "strasse"}),
        ("квант теория 量子力学", {"квант", "теория", "量子力学"}),
        ("snake_case well-known camelCase h2o", {"snake", "camelcase", "h2o"}),
        ("<p class='lead'>Torus</p><br/>&nbsp;knots&amp;links", {"torus", "knots", "links"}),
        ("<!-- hidden --><style>p {color: x}</style>visible", {"visible"}),
        ("before\n```python\nimport numpy\n```\nafterglow", {"afterglow"}),
        ("see https://example.org/path?query=1 or mail someone@example.org now", {"mail"}),
        ("[manifold](http://example.org/hidden)", {"manifold"}),
        ("isn't don't quark's", {"quark"}),
        ("x" * 41 + " " + "y" * 40, {"y" * 40}),
    ],
)
def test_words_of_a_text(text: str, expected: set[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    ["<a" * 100_000, "<!--" * 60_000, "```\n" * 60_001, "a@" * 100_000, "x" * 200_000],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    assert words(text) == set()


def test_a_word_counts_once_per_node_and_ties_are_alphabetical() -> None:
    counter = KeywordCounter()
    count(counter, 1, "quark quark quark boson")
    count(counter, 1, "boson gluon")
    count(counter, 2, "axion")
    count(counter, 3, "the and of")
    counter.finish(4)
    nothing: dict[int, tuple[str, ...]] = {3: (), 4: ()}
    assert counter.keywords() == {1: ("boson", "gluon", "quark"), 2: ("axion",)} | nothing
    assert counter.keywords(top=1) == {1: ("boson",), 2: ("axion",)} | nothing


def test_a_word_shared_by_most_partitions_gives_its_place_to_the_next() -> None:
    counter = KeywordCounter()
    for partition, own in enumerate(["quark", "boson", "gluon", "axion"]):
        for _ in range(3):
            count(counter, partition, f"physics {own}")
        count(counter, partition, f"physics rest{own}")
    common = counter.common(top=2)
    described = counter.keywords(common, top=2)
    assert common == {"physics"}
    assert described[0] == ("quark", "restquark")
    # If one partition alone is counted again, it is common only in what was known before.
    fresh = KeywordCounter()
    count(fresh, 0, "physics quark")
    assert fresh.common([described[partition] for partition in (1, 2, 3)]) == set()
    assert fresh.keywords(common) == {0: ("quark",)}
    few = KeywordCounter()
    for partition in range(3):
        count(few, partition, "physics")
    assert few.keywords(few.common()) == {0: ("physics",), 1: ("physics",), 2: ("physics",)}


def test_finishing_a_partition_keeps_its_best() -> None:
    counter = KeywordCounter()
    count(counter, 0, " ".join(f"word{number:04d}" for number in range(1_000)))
    count(counter, 0, "quark")
    count(counter, 0, "quark")
    before = counter.keywords()
    counter.finish(0)
    assert counter.keywords() == before
    assert before[0][0] == "quark"


def test_frequent_words_survive_among_many_rare_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPELLED", 20)
    counter = KeywordCounter()
    for first in range(0, 200, 50):
        texts = [f"quark rare{number:03d} boson" for number in range(first, first + 50)]
        count(counter, 0, *texts)
    assert counter.keywords()[0][:2] == ("boson", "quark")
    assert len(counter._open[0].spelled) <= 80


@given(
    st.lists(st.tuples(st.integers(0, 3), st.text("aBcé1_ <&@./:`w日ßﬁ", max_size=60)), max_size=20)
)
def test_counts_are_those_of_one_text_after_the_other(rows: list[tuple[int, str]]) -> None:
    counter = KeywordCounter()
    plain: dict[int, dict[str, int]] = {partition: {} for partition, _ in rows}
    for partition, text in rows:
        for word in words(text):
            plain[partition][word] = plain[partition].get(word, 0) + 1
    if rows:
        count(counter, [partition for partition, _ in rows], *(text for _, text in rows))
    assert counter.counts() == plain


@given(st.lists(st.text("aB é<&@./:`w\n", max_size=30), max_size=20))
def test_a_text_that_is_not_marked_is_plain(texts: list[str]) -> None:
    marked = set(marked_texts(split_words(texts)).tolist())
    for place, text in enumerate(texts):
        assert place in marked or plain_text(text) is text


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
