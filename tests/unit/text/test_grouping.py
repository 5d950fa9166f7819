"""Texts that say the same share a group; the order of texts decides ties."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pgs_neo4j.text.gist import SAME, Rarity
from pgs_neo4j.text.grouping import ROUNDING, grouped

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
    for place, gist in enumerate(gists):
        equal = [group for group in naive if gist in (gists[member] for member in group)]
        if gist and equal:
            equal[0].append(place)
            continue
        scores = [rarity.alike(gist, gists[group[0]]) for group in naive]
        best = max(scores, default=0.0)
        if gist and best >= SAME - ROUNDING:
            naive[scores.index(best)].append(place)
        else:
            naive.append([place])
    result = grouped(gists, rarity)
    assert sorted(place for group in result for place in group) == list(range(len(gists)))
    assert [len(group) for group in result] == [len(group) for group in naive]
