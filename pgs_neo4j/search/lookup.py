"""Searches all nodes of a generation for many terms at once, even nodes that no sweep has read.

The text index of the generation finds every node that may match, however large the graph is. Then
this module verifies these nodes by whole words. So a search without a hit proves that the words
occur nowhere, unless there were too many candidates to verify.

A text matches (:mod:`pgs_neo4j.text.matching`) if, for enough terms, it contains all words of one
of the term's forms, each in a stem with the same root. The index does not know whether words are
side by side. So it finds too many texts, never too few.

If the index is missing, or a word is too long for it, the members are scanned. The names of a
node's labels and relationship types count as its words.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.search.lookup_order import CANDIDATES, TEXTS, LookupOrder, make_hit, make_page
from pgs_neo4j.search.names import (
    MOST,
    NAMES,
    find_named,
    match_names,
    read_names,
    read_node_names,
)
from pgs_neo4j.search.nodes import Place, place_node, read_placed
from pgs_neo4j.search.scan import read_placed_nodes, scan
from pgs_neo4j.search.text_index import TextIndex, read_index
from pgs_neo4j.text.matching import Hit, SearchResult, SearchTerms, forms
from pgs_neo4j.text.terms.postings import terms_of, terms_of_stems
from pgs_neo4j.text.terms.spans import LONGEST_WORD, PLANE, UNSPACED_RANGES
from pgs_neo4j.text.words import MIN_STEM

MOST_VERIFIED = 1_000  # nodes to verify for a search until one matches
INDEX = "text index"
_RANGES = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED_RANGES)
_UNSPACED = re.compile(f"[{_RANGES}{chr(PLANE)}-\U0010ffff]+")

Word = tuple[int, ...]
"""The terms of a word's possible stems; a text with the word contains one of them."""


@dataclass(frozen=True, slots=True)
class SoughtTerm:
    """A term of a search: the words of each of its forms."""

    forms: tuple[tuple[Word, ...], ...]

    @property
    def index_terms(self) -> Iterable[int]:
        """All terms of the index that the search term may need."""
        return (term for form in self.forms for word in form for term in word)


Sought = Mapping[SearchTerms, tuple[SoughtTerm, ...]]
"""Searches that the index can answer, with their terms."""


async def look_up(
    db: Database, order: LookupOrder, searches: Iterable[SearchTerms]
) -> dict[SearchTerms, SearchResult]:
    """Run each of ``searches``, and return its result.

    A result's ``searched`` is 0 if no text could satisfy the search, because its terms contain no
    word, or there are fewer terms than needed. It is also 0 if no node has text. Raises
    DatabaseError.
    """
    asked = list(dict.fromkeys(searches))
    searchable = (order.properties or order.mapping.has_text) and order.texts
    possible = [search for search in asked if search.searchable] if searchable else []
    results = dict.fromkeys(asked, SearchResult())
    if not possible:
        return results
    results |= await _search_texts(db, order, possible)
    return results | await _search_names(db, order, results)


async def _search_texts(
    db: Database, order: LookupOrder, searches: Sequence[SearchTerms]
) -> dict[SearchTerms, SearchResult]:
    results = dict.fromkeys(searches, SearchResult())
    if not order.outdated:
        results |= await _search_index(db, order, searches)
    rest = [search for search in searches if not results[search].searched]
    return results | await scan(db, order, rest) if rest else results


async def _search_index(
    db: Database, order: LookupOrder, searches: Sequence[SearchTerms]
) -> dict[SearchTerms, SearchResult]:
    """Return results from the generation's text index, or an empty result without an index.

    Searches that the index cannot answer are left out.
    """
    sought = answerable_searches(searches)
    index = await read_index(db, order.generation, len(order.partitions), index_terms(sought))
    if index is None:
        return {}
    found, counts = await asyncio.to_thread(_find_places, order, index, sought)
    hits, verified = await _verify_places(db, order, found)
    more = {search: counts[search] > verified[search] for search in found}
    searched = sum(partition.size for partition in order.partitions)
    return {
        search: SearchResult(
            searched=searched,
            method=INDEX + (f", the first {verified[search]} candidates" if more[search] else ""),
            hits=tuple(hits[search]),
            complete=not more[search],
            texts=order.count_texts(searched),
        )
        for search in found
    }


def answerable_searches(searches: Iterable[SearchTerms]) -> Sought:
    """Return the searches that the text index can answer, with their terms."""
    terms = {search: sought_terms(search) for search in searches}
    return {search: sought for search, sought in terms.items() if sought is not None}


def index_terms(sought: Sought) -> set[int]:
    """Return the terms of the text index that the searches need, as hashes."""
    return {term for terms in sought.values() for one in terms for term in one.index_terms}


def sought_terms(search: SearchTerms) -> tuple[SoughtTerm, ...] | None:
    """Return the usable terms of a search; None if the index cannot find one of them.

    The index contains no words of more than ``LONGEST_WORD`` letters.
    """
    spelled = [forms(term) for term in search.usable]
    if any(len(root) > LONGEST_WORD for term in spelled for form in term for root in form):
        return None
    return tuple(
        SoughtTerm(
            tuple(tuple(word for root in form for word in _find_words(root)) for form in term)
        )
        for term in spelled
    )


def _find_words(root: str) -> Iterable[Word]:
    """Yield the index terms of a root: its possible stems, or each pair of its letters."""
    signs = " ".join(_UNSPACED.findall(root))
    if signs:
        yield from ((term,) for term in terms_of(signs))
    else:
        yield tuple(terms_of_stems(_find_stems(root)))


def _find_stems(root: str) -> list[str]:
    """Return all stems with this root; see :func:`pgs_neo4j.text.matching.root`."""
    stems = [root]
    if root.isascii() and len(root) >= MIN_STEM:
        stems += [f"{root}i", f"{root}y"]
        if len(root) == MIN_STEM and root.endswith("i"):
            stems.append(f"{root[:-1]}y")
    return stems


def _find_places(
    order: LookupOrder, index: TextIndex, sought: Sought
) -> tuple[dict[SearchTerms, list[Place]], dict[SearchTerms, int]]:
    """Return the places to verify for each search, and how many nodes might match it."""
    sequence = {partition.id: at for at, partition in enumerate(order.sequence)}
    places: dict[SearchTerms, list[Place]] = {}
    counts: dict[SearchTerms, int] = {}
    for search, terms in sought.items():
        places[search], counts[search] = find_places(index, search, terms, sequence, MOST_VERIFIED)
    return places, counts


def find_places(
    index: TextIndex,
    search: SearchTerms,
    terms: Sequence[SoughtTerm],
    order: Mapping[int, int],
    most: int,
) -> tuple[list[Place], int]:
    """Return the first ``most`` places whose text may match a search, and how many there are.

    ``order`` maps partition ids to their position. Places are sorted by it, then by rank.
    """
    holders = [_holders_of_term(index, term) for term in terms]
    texts, counts = np.unique(np.concatenate(holders), return_counts=True)
    chosen = texts[counts >= search.needed]
    # A common word is in most texts of a graph, so Place objects are made only for the first
    # places.
    turn = _positions_of(order, index.partition_ids[chosen])
    chosen, turn = chosen[turn >= 0], turn[turn >= 0]
    first = chosen[np.lexsort((index.ranks[chosen], turn))[:most]]
    columns = (index.partition_ids[first].tolist(), index.ranks[first].tolist())
    return [Place(*place) for place in zip(*columns, strict=True)], len(chosen)


def _positions_of(
    order: Mapping[int, int], partition_ids: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Return the position of each of ``partition_ids`` ``(t,)`` in ``order``, -1 if it has none."""
    turns = np.full(max(max(order, default=0), int(partition_ids.max(initial=0))) + 1, -1)
    turns[list(order)] = list(order.values())
    placed: NDArray[np.int64] = turns[partition_ids]
    return placed


def _holders_of_term(index: TextIndex, term: SoughtTerm) -> NDArray[np.int64]:
    """Return the numbers ``(t,)`` of the texts with all words of any form of a term, ascending."""
    return reduce(np.union1d, (_holders_of_words(index, form) for form in term.forms))


def _holders_of_words(index: TextIndex, words: Sequence[Word]) -> NDArray[np.int64]:
    holders = [reduce(np.union1d, (index.of_term(term).texts for term in word)) for word in words]
    return reduce(np.intersect1d, holders)


async def _verify_places(
    db: Database, order: LookupOrder, found: Mapping[SearchTerms, Sequence[Place]]
) -> tuple[dict[SearchTerms, list[Hit]], dict[SearchTerms, int]]:
    """Return the hits of each search by whole words, and how many places were verified for it.

    More than ``CANDIDATES`` places are verified only while a search has no hit.
    """
    hits: dict[SearchTerms, list[Hit]] = {search: [] for search in found}
    verified = dict.fromkeys(found, 0)
    for first in range(0, MOST_VERIFIED, CANDIDATES):
        seekers: dict[Place, list[SearchTerms]] = defaultdict(list)
        for search, places in found.items():
            if not hits[search]:
                due = places[first : first + CANDIDATES]
                verified[search] += len(due)
                for place in due:
                    seekers[place].append(search)
        await _verify_texts(db, order, seekers, hits)
    return {search: _sort_hits(hits[search], found[search]) for search in found}, verified


async def _verify_texts(
    db: Database,
    order: LookupOrder,
    seekers: Mapping[Place, Sequence[SearchTerms]],
    hits: Mapping[SearchTerms, list[Hit]],
) -> None:
    """Add matching places to the ``hits`` of their searches, reading ``TEXTS`` texts at a time."""
    wanted = sorted(seekers)
    for first in range(0, len(wanted), TEXTS):
        chosen = wanted[first : first + TEXTS]
        placed = await read_placed(db, order.mapping, order.partitions, chosen)
        for place, one in placed.items():
            page = make_page(one)
            for search in seekers[place]:
                if page.counts(search):
                    hits[search].append(make_hit(one))


async def _search_names(
    db: Database, order: LookupOrder, results: Mapping[SearchTerms, SearchResult]
) -> dict[SearchTerms, SearchResult]:
    """Return new results for searches that names of labels and relationship types affect.

    Only searches without a hit in a text are examined. If names contain some of a search's terms, a
    node with these names matches if its text contains the other terms.
    """
    silent = [search for search, found in results.items() if found.searched and not found.hits]
    if not silent:
        return {}
    names = await read_names(db, order.mapping)
    named = match_names(names, silent)
    derived = [one for one in match_names(names, silent, derived=True) if one not in named]
    rests = dict.fromkeys(one.rest for one in (*named, *derived) if one.rest is not None)
    texts = await _search_texts(db, order, list(rests)) if rests else {}
    changed: dict[SearchTerms, SearchResult] = {}
    for one in named:
        found = results[one.search]
        if one.rest is None:
            nodes, complete = await find_named(db, order, one), True
        else:
            within = texts[one.rest]
            nodes, complete = [hit.element_id for hit in within.hits][:MOST], within.complete
        hits = await _verify_named_nodes(db, order, one.search, nodes)
        changed[one.search] = replace(
            found,
            hits=tuple(hits),
            method=f"{found.method}; {NAMES}" if hits else found.method,
            complete=found.complete and complete and (bool(hits) or len(nodes) < MOST),
        )
    # A derived word ("actors" for ACTED_IN) is not in the name itself. Nodes with the name may
    # still answer, so the search is incomplete and its lack of hits proves nothing.
    for one in derived:
        found = changed.get(one.search, results[one.search])
        rest = texts[one.rest] if one.rest is not None else None
        possible = rest is None or rest.hits or not rest.complete
        if possible and not found.hits:
            changed[one.search] = replace(found, complete=False)
    return changed


async def _verify_named_nodes(
    db: Database, order: LookupOrder, search: SearchTerms, nodes: list[str]
) -> list[Hit]:
    """Return the nodes whose text and names together satisfy a search, in search order."""
    if not nodes:
        return []
    names = await read_node_names(db, order.mapping, nodes)
    rows = await read_placed_nodes(db, order, nodes)
    hits = [
        make_hit(placed)
        for placed in map(place_node, rows)
        if make_page(placed, names.get(placed.row["element_id"], ())).counts(search)
    ]
    place = {partition.id: at for at, partition in enumerate(order.sequence)}
    return sorted(hits, key=lambda hit: (place[hit.partition], hit.rank))


def _sort_hits(hits: Sequence[Hit], places: Sequence[Place]) -> list[Hit]:
    by_place = {Place(hit.partition, hit.rank): hit for hit in hits}
    return [by_place[place] for place in places if place in by_place]
