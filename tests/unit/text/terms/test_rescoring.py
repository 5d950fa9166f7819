"""Candidates of a search are scored by what only their texts show."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.terms.postings import count_question
from pgs_neo4j.text.terms.rescoring import Candidate, rescore

SIZE = 100


def scores(question: str, *texts: str | Candidate) -> list[float]:
    """The scores of texts, each term of the question being in 10 of 100 texts."""
    candidates = [text if isinstance(text, Candidate) else Candidate("", text) for text in texts]
    return rescore(question, candidates, dict.fromkeys(count_question(question), 10), SIZE)


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("organization", "organize"),
        ("organizational", "organizing"),
        ("library", "libraries"),
        ("statistical", "statistics"),
        ("relative", "relativity"),
        ("dependence", "dependent"),
        ("activities", "activity"),
        ("universities", "university"),
    ],
)
def test_words_derived_from_each_other_match(word: str, other: str) -> None:
    same, derived, another = scores(word, f"the {word} here", f"the {other} here", "the glacier")
    assert same == derived > 0
    assert another == 0


def test_a_word_counts_as_often_as_the_question_repeats_it() -> None:
    ice, court = scores("ice, more ice, and a court", "ice melts", "courts decide")
    assert ice == pytest.approx(2 * court)


def test_words_side_by_side_count_more_than_words_apart() -> None:
    near, apart, turned = scores(
        "wave equation", "wave equation of light", "wave light equation", "equation wave of light"
    )
    assert near > apart == turned > 0


def test_a_pair_does_not_reach_into_the_next_text() -> None:
    one, other = scores("wave equation", "the wave", "equation of light")
    alone, _ = scores("wave equation", "the wave", "glacier of light")
    assert one == pytest.approx(alone)
    assert other > 0


def test_words_of_the_title_count_more() -> None:
    titled, plain = scores(
        "glaciers", Candidate("Glaciers", "They melt."), Candidate("Changes", "Glaciers melt.")
    )
    assert titled > plain > 0


def test_a_title_that_begins_the_text_counts_once_in_it() -> None:
    once, twice = scores(
        "glaciers", Candidate("Glaciers", "Glaciers"), Candidate("Glaciers", "Glaciers Glaciers")
    )
    assert once < twice


def test_common_words_add_only_to_other_words() -> None:
    both, one, other = scores("high voltage", "high voltage", "voltage drops", "high hopes")
    assert both > one > 0
    assert other == 0
    assert scores("how high is it", Candidate("", "high hopes", 0.5), "high") == [0.5, 0.0]


def test_a_candidate_keeps_its_least_score() -> None:
    kept, found = scores("glaciers", Candidate("", "cut before the word", 0.25), "glaciers")
    assert kept == 0.25
    assert found > kept


def test_an_identifier_counts_more_as_a_whole() -> None:
    whole, parts = scores("What does maxRetries do?", "set maxRetries here", "max of all retries")
    assert whole > parts > 0


def test_both_spellings_of_a_hyphenated_word_match() -> None:
    assert all(scores("cooperation", "the co-operation of states", "cooperation"))
    assert all(scores("co-operation", "the cooperation of states", "co-operation"))


@pytest.mark.parametrize(
    ("question", "text"),
    [("氷河", "大きな氷河が溶ける"), ("ледники", "тают ледники"), ("Straße", "Die STRASSE")],
)
def test_words_of_every_script_match(question: str, text: str) -> None:
    found, other = scores(question, text, "nothing else")
    assert found > 0
    assert other == 0


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    (rare,), (frequent,) = count_question("glacier"), count_question("court")
    held = {rare: 2, frequent: 60}
    one, other = rescore(
        "glaciers or courts", [Candidate("", "glacier"), Candidate("", "court")], held, SIZE
    )
    assert one > other > 0


ICE = "glaciers, glaciers, and a moraine"
"""One of the best texts for glaciers, by which a moraine is related to them."""
COLD = "a glacier and cold rivers"


def test_words_of_the_best_texts_lead_to_texts_with_other_words() -> None:
    others = ["a glacier near the moraine", "a glacier near the court", "a moraine near the court"]
    texts = [ICE, ICE, *others, *[COLD] * 15]
    _, _, near, far, without, *_ = scores("glaciers and zymurgy", *texts)
    assert near > far > without == 0


def test_related_words_do_not_change_what_a_question_has_found_by_all_its_words() -> None:
    candidates = [Candidate("", text) for text in (ICE, ICE, "a glacier, a moraine", *["ice"] * 17)]
    (term,) = count_question("glaciers")
    found, plain = (
        rescore("glaciers", candidates, {term: 3}, SIZE, related=related)
        for related in (True, False)
    )
    assert found == plain
    lacking, alone = (
        rescore("glaciers, zymurgy", candidates, {term: 3}, SIZE, related=related)
        for related in (True, False)
    )
    assert lacking != alone


def test_among_few_candidates_no_word_is_related() -> None:
    texts = ["a glacier, a moraine", "a glacier, a court", ICE, ICE]
    near, far, *_ = scores("glaciers and zymurgy", *texts)
    assert near == far


def test_a_word_of_a_single_text_is_not_related() -> None:
    texts = [ICE, "glaciers, glaciers, and a court", "a glacier, a moraine", "a glacier, a pencil"]
    _, _, near, far, *_ = scores("glaciers and zymurgy", *texts, *[COLD] * 16)
    assert near == far


@pytest.mark.parametrize("text", ["", "\ud800", "?!", "x" * 100, "a-" * 50])
@pytest.mark.parametrize("question", ["", "ice", "?!", "\ud800", "y" * 100, "ice ice-"])
def test_odd_texts_have_a_score(question: str, text: str) -> None:
    assert rescore(question, [], {}, 0) == []
    (score,) = scores(question, Candidate(text, text))
    assert score >= 0
    assert score < 100
