"""Places of texts that may match a search, by the text index."""

from __future__ import annotations

import pytest

from pgs_neo4j.retrieval.places import Place
from pgs_neo4j.retrieval.text_index import TextIndex, TextTable
from pgs_neo4j.retrieval.word_search import answerable, find_places, index_terms
from pgs_neo4j.text.matching import SearchTerms
from tests.unit.retrieval.conftest import stored

TEXTS = ["ice melts", "ice", "courts", "ice in courts", "melting ice"]
PARTITIONS = [(7, 0, 2), (3, 2, 2), (5, 4, 1)]


def places(search: SearchTerms, order: dict[int, int], most: int = 9) -> tuple[list[Place], int]:
    """The places of a search among ``TEXTS``."""
    row, cells = stored("a", TEXTS, PARTITIONS)
    sought = answerable([search])
    index = TextIndex.of(TextTable.of([row]), cells, sorted(index_terms(sought)))
    return find_places(index, search, sought[search], order, most)


@pytest.mark.parametrize("most", [1, 2, 4, 9])
def test_only_the_first_places_are_returned_and_all_are_counted(most: int) -> None:
    first = [Place(5, 0), Place(3, 1), Place(7, 0), Place(7, 1)]
    search = SearchTerms(("ice",), 1)
    assert places(search, {5: 0, 3: 1, 7: 2}, most) == (first[:most], 4)


def test_partitions_that_are_not_in_the_order_are_left_out() -> None:
    search = SearchTerms(("ice",), 1)
    assert places(search, {7: 0}) == ([Place(7, 0), Place(7, 1)], 2)
    assert places(search, {90: 0}) == ([], 0)
    assert places(search, {}) == ([], 0)
