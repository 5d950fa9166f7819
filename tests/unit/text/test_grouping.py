"""Texts that say the same share a group; the order of texts decides ties."""

from hypothesis import example, given
from hypothesis import strategies as st

from pgs_neo4j.text.gist import SAME, Rarity
from pgs_neo4j.text.grouping import ROUNDING, grouped

Gists = list[frozenset[str]]


def groups_of(*texts: str) -> list[list[int]]:
    gists = [frozenset(text.split()) for text in texts]
    return grouped(gists, Rarity.of(gists))


def test_equal_and_similar_texts_share_a_group() -> None:
    assert groups_of("a b c", "x y", "a b c", "a b c d") == [[0, 2, 3], [1]]


def test_texts_without_words_stay_alone() -> None:
    assert groups_of("", "a", "") == [[0], [1], [2]]


def test_one_shared_root_is_not_enough() -> None:
    assert groups_of("a b", "a c") == [[0], [1]]


def test_nothing_gives_no_groups() -> None:
    assert groups_of() == []


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
