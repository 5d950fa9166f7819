"""What an absence is about, in terms that can be looked for."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pgs_neo4j.text.gist import (
    MOST_TERMS,
    ROUNDING,
    SAME,
    Rarity,
    gist,
    grouped,
    named,
    needed,
    search_terms,
)
from pgs_neo4j.text.matching import LONGEST_WORD, Page

anything = st.text(max_size=300)
gists = st.frozensets(st.sampled_from([f"w{i}" for i in range(8)]), max_size=6)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("No mention of ammonia in these nodes.", ("ammonia",)),
        ("“ammonia”: no mention in the 40 nodes read here.", ("ammonia",)),
        ("Quantum memory is not discussed [n3, P4:n2].", ("Quantum", "memory")),
        ("No data on cost (in passes 1a, 1bb, 3 of 4)", ("cost",)),
        (
            "“orbital debris”: both words occur, but none of the 40 nodes has them together.",
            ("orbital debris",),
        ),
        ("Nothing on `max_retries` or asyncio.timeout", ("max_retries", "asyncio.timeout")),
        ("GitHub and mRNA are absent", ("GitHub", "mRNA")),
        # The first word of a sentence is no name, and a quoted sentence is no phrase.
        ("Iron beside platinum. Gold too.", ("platinum", "Iron", "Gold")),
        (
            "“catalysts of iron need pressure and heat” is nowhere",
            ("catalysts", "pressure", "iron", "heat"),
        ),
        ("theory and theories, catalyst and catalysts", ("catalyst", "theory")),
        ("The work of MIT is not covered", ("MIT",)),
        ("「量子」についての記述はない", ("量子",)),
    ],
)
def test_an_absence_is_looked_for_by_what_it_is_about(text, terms):
    assert search_terms(text).terms == terms


@pytest.mark.parametrize(
    "text",
    ["", "Nothing found.", "No evidence.", "* ? ~ ^ \\ ()", "没有提到量子纠缠的内容", "x" * 500],
)
def test_what_says_nothing_is_not_looked_for(text):
    asked = search_terms(text)
    assert not asked.terms
    assert not asked.searchable


def test_quoted_words_come_first_then_names_then_long_words_then_what_is_anywhere():
    asked = search_terms("The effect of sleep on the hippocampus of HM, and on “working memory”")
    assert asked.terms == ("working memory", "HM", "hippocampus", "sleep", "effect")
    assert asked.needed == 4
    many = search_terms("error rates, confidence intervals, sample sizes, power, funding, studies")
    assert len(many.terms) == MOST_TERMS
    assert "rates" not in many.terms


@pytest.mark.parametrize("pair", [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (6, 5)])
def test_all_of_few_and_all_but_one_of_many_are_needed(pair):
    assert needed(pair[0]) == pair[1]


def test_what_is_named_is_what_is_quoted():
    assert named("its digest names “ammonia”, which the question asks for") == {"ammonia"}
    assert named("whether iron helps") == gist("whether iron helps") == {"iron", "help"}


@given(anything)
def test_any_text_has_terms_that_it_holds_itself(text):
    asked = search_terms(text)
    assert len(asked.terms) <= MOST_TERMS
    assert asked.needed == needed(len(asked.terms))
    assert asked.searchable == bool(asked.terms)
    assert all(len(term) <= LONGEST_WORD for term in asked.terms)
    assert search_terms(text) == asked
    gist(text)
    named(text)
    # A term is looked for as it stands, so a node that is the term holds it.
    assert all(Page.of(f"about {term}.").holds(term) for term in asked.terms)


@given(gists, gists, st.lists(gists, max_size=8))
def test_likeness_is_a_share_and_the_same_both_ways(one, other, texts):
    rarity = Rarity.of([one, other, *texts])
    for measure in (rarity.alike, rarity.near):
        assert 0.0 <= measure(one, other) <= 1.0
        assert measure(one, other) == measure(other, one)
    assert rarity.alike(one, one) == rarity.near(one, one) == (1.0 if one else 0.0)
    assert rarity.alike(one, other) <= rarity.near(one, other) or math.isclose(
        rarity.alike(one, other), rarity.near(one, other)
    )


def test_rare_words_weigh_more():
    texts = [frozenset({"cost", "catalyst", metal}) for metal in ("iron", "gold", "zinc", "lead")]
    rarity = Rarity.of(texts)
    assert rarity.alike(texts[0], texts[1]) < 0.5
    assert rarity.alike(texts[0], texts[0] | {"cost", "price"}) > 0.5
    assert rarity.weight({"iron"}) > rarity.weight({"cost"})


def test_one_shared_word_makes_no_likeness_unless_it_is_all():
    rarity = Rarity.of([frozenset({"a", "b"}), frozenset({"a", "c"}), frozenset({"a"})])
    assert rarity.alike(frozenset({"a", "b"}), frozenset({"a"})) == 0.0
    assert rarity.near(frozenset({"a", "b"}), frozenset({"a"})) == 1.0
    assert rarity.near(frozenset({"a", "b"}), frozenset({"a", "c"})) == 0.0


Gists = list[frozenset[str]]


@pytest.mark.parametrize(
    ("texts", "groups"),
    [
        (["a b c", "x y", "a b c", "a b c d"], [[0, 2, 3], [1]]),
        (["", "a", ""], [[0], [1], [2]]),
        (["a b", "a c"], [[0], [1]]),  # one shared root is not enough
        ([], []),
    ],
)
def test_texts_that_are_alike_share_a_group(texts: list[str], groups: list[list[int]]) -> None:
    gists = [frozenset(text.split()) for text in texts]
    assert grouped(gists, Rarity.of(gists)) == groups


@example([frozenset(text) for text in ("abdef", "ahdef", "deha", "ahdef")])
@given(st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=5), max_size=12))
def test_looking_up_rare_roots_finds_what_comparing_all_pairs_finds(gists: Gists) -> None:
    rarity = Rarity.of(gists)
    naive: list[list[int]] = []
    for place, roots in enumerate(gists):
        equal = [group for group in naive if roots in (gists[member] for member in group)]
        if roots and equal:
            equal[0].append(place)
            continue
        scores = [rarity.alike(roots, gists[group[0]]) for group in naive]
        best = max(scores, default=0.0)
        if roots and best >= SAME - ROUNDING:
            naive[scores.index(best)].append(place)
        else:
            naive.append([place])
    result = grouped(gists, rarity)
    assert sorted(place for group in result for place in group) == list(range(len(gists)))
    assert [len(group) for group in result] == [len(group) for group in naive]
