"""Words of a question are found in the names of labels and relationship types."""

from __future__ import annotations

import pytest

from pgs_neo4j.search.names import Names, derivation, match_names
from pgs_neo4j.text.matching import Page, SearchTerms

TYPES = ("ACTED_IN", "RUNS", "CITES", "MOVED_TO", "USED_BY", "DIRECTED")
NAMES = Names({"Movie": Page.of("Movie")}, {name: Page.of(name) for name in TYPES})


@pytest.mark.parametrize(
    "family",
    [
        "act acts acted acting action actions actor actors",
        "run runs runner runners running",
        "cite cites cited citation citations citing",
        "own owns owner owners owned",
        "direct directs directed director directors",
    ],
)
def test_words_that_derive_from_each_other_have_the_same_in_common(family: str) -> None:
    assert len(set(map(derivation, family.split()))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("movies", "moved"),
        ("cities", "cited"),
        ("users", "us"),
        ("string", "strs"),
        ("акты", "акт"),
    ],
)
def test_words_that_only_begin_alike_have_nothing_in_common(one: str, other: str) -> None:
    assert derivation(one) != derivation(other)


@pytest.mark.parametrize(
    ("word", "held", "derived"),
    [
        ("acted", ["ACTED_IN"], ["ACTED_IN"]),
        ("actors", [], ["ACTED_IN"]),
        ("runner", [], ["RUNS"]),
        ("directors", ["DIRECTED"], ["DIRECTED"]),
        ("movies", ["Movie"], ["Movie"]),
        ("cities", [], []),
        ("famous actors", [], []),
    ],
)
def test_a_derived_word_counts_only_where_that_is_asked_for(
    word: str, held: list[str], derived: list[str]
) -> None:
    search = SearchTerms((word,), 1)

    def found(matches: list[str], *, loosely: bool) -> bool:
        named = match_names(NAMES, [search], derived=loosely)
        return [name for one in named for name in (*one.labels, *one.types)] == matches

    assert found(held, loosely=False)
    assert found(derived, loosely=True)
