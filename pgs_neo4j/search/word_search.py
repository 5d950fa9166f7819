"""Finds the nodes that may match searches, by the text index of a generation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.search.places import Place
from pgs_neo4j.search.text_index import TextIndex
from pgs_neo4j.text.matching import SearchTerms
from pgs_neo4j.text.terms.searches import SoughtTerm, Word, sought_terms

Sought = Mapping[SearchTerms, tuple[SoughtTerm, ...]]
"""Searches that the index can answer, with their terms."""


def answerable(searches: Iterable[SearchTerms]) -> Sought:
    """Return the searches that the index can answer."""
    terms = {search: sought_terms(search) for search in searches}
    return {search: sought for search, sought in terms.items() if sought is not None}


def index_terms(sought: Sought) -> set[int]:
    """Return all terms of the index that some searches need."""
    return {term for terms in sought.values() for one in terms for term in one.index_terms}


def find_places(
    index: TextIndex,
    search: SearchTerms,
    terms: Sequence[SoughtTerm],
    order: Mapping[int, int],
    most: int,
) -> tuple[list[Place], int]:
    """Return the first ``most`` places whose text may match a search, and the number of all.

    They are sorted by the place of their partition in ``order``, then by rank.
    """
    holders = [_holders_of_term(index, term) for term in terms]
    texts, counts = np.unique(np.concatenate(holders), return_counts=True)
    chosen = texts[counts >= search.needed]
    # A common word is in most texts of a graph, so only the first places become objects.
    turn = _turns(order, index.partition_ids[chosen])
    chosen, turn = chosen[turn >= 0], turn[turn >= 0]
    first = chosen[np.lexsort((index.ranks[chosen], turn))[:most]]
    columns = (index.partition_ids[first].tolist(), index.ranks[first].tolist())
    return [Place(*place) for place in zip(*columns, strict=True)], len(chosen)


def _turns(order: Mapping[int, int], partition_ids: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the place in ``order`` of partitions ``(t,)``, -1 for others."""
    turns = np.full(max(max(order, default=0), int(partition_ids.max(initial=0))) + 1, -1)
    turns[list(order)] = list(order.values())
    placed: NDArray[np.int64] = turns[partition_ids]
    return placed


def _holders_of_term(index: TextIndex, term: SoughtTerm) -> NDArray[np.int64]:
    """Return the texts that hold all words of one form, ascending, ``(t,)``."""
    return reduce(np.union1d, (_holders_of_words(index, form) for form in term.forms))


def _holders_of_words(index: TextIndex, words: Sequence[Word]) -> NDArray[np.int64]:
    holders = [reduce(np.union1d, (index.of_term(term).texts for term in word)) for word in words]
    return reduce(np.intersect1d, holders)
