"""BM25 and vocabulary: what raises a sentence's score, and when two say the same."""

import math

import pytest

from pgs_neo4j.text.ranking import Corpus, bm25, coverage, same, substance, terms_of

CORPUS = Corpus.of([["iron", "ore"], ["iron", "gold"], ["iron"], ["tin", "tin"]])


def test_the_terms_of_a_question_are_stems_with_their_words() -> None:
    terms = terms_of("Which parsers parse the iron ores?")
    assert terms.stems == ("pars", "iron", "ore")
    assert terms.written["pars"] == "parsers"
    assert ("iron", "ore") in terms.pairs
    assert terms.shown(["ore", "iron"]) == "“ores”, “iron”"


def test_a_stem_counts_once_per_document() -> None:
    assert CORPUS.size == 4
    assert CORPUS.frequency == {"iron": 3, "ore": 1, "gold": 1, "tin": 1}


def test_rare_stems_weigh_more_and_no_weight_is_negative() -> None:
    assert CORPUS.idf("tin") > CORPUS.idf("iron") > 0
    assert CORPUS.weight("tin") == pytest.approx(1 + math.log(1 + 3.5 / 1.5) / 2)


def test_bm25_grows_with_matches_and_shrinks_with_length() -> None:
    short = bm25(["iron"], ["iron", "mine"], CORPUS)
    assert bm25(["iron", "tin"], ["iron", "tin"], CORPUS) > short
    assert bm25(["iron"], ["iron", *["filler"] * 30], CORPUS) < short
    assert bm25(["iron"], ["gold"], CORPUS) == 0.0


def test_stubs_have_less_substance() -> None:
    assert substance(["a"]) < substance(["a", "b"]) < substance(["a"] * 6) == 1.0
    assert substance(["a"] * 60) == 1.0


def test_coverage_is_a_share_and_absent_words_weigh_half() -> None:
    assert coverage(["iron", "tin"], frozenset({"iron", "tin"}), CORPUS) == pytest.approx(1.0)
    assert coverage([], frozenset({"iron"}), CORPUS) == 0.0
    present = CORPUS.weight("iron")
    absent = CORPUS.weight("zinc") / 2
    share = coverage(["iron", "zinc"], frozenset({"iron"}), CORPUS)
    assert share == pytest.approx(present / (present + absent))


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("abcdefgh", "abcdefgh", True),
        ("abcdef", "abcdxy", True),
        ("abcd", "abcdefghi", False),
        ("abc", "abcd", False),
        ("", "", False),
    ],
)
def test_sentences_are_the_same_if_they_share_half_their_stems(
    one: str, other: str, alike: bool
) -> None:
    assert same(frozenset(one), frozenset(other)) is alike
    assert same(frozenset(other), frozenset(one)) is alike
