"""Searches all nodes of a generation for many terms at once, whether they were read or not.

The text index of the generation finds every node that may match, however large the graph is, and
this module verifies them by whole words. So a search without a hit proves that the words are
nowhere, unless more nodes might match than are verified.

If the index is missing, or a word is too long for it, the members are scanned. The names of labels
and relationship types are words of their nodes.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
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
from pgs_neo4j.text.matching import Hit, SearchResult, SearchTerms
from pgs_neo4j.text.terms.searches import SoughtTerm, Word, sought_terms

MOST_VERIFIED = 1_000  # nodes to verify for a search until one matches
INDEX = "text index"
Sought = Mapping[SearchTerms, tuple[SoughtTerm, ...]]
"""Searches that the index can answer, with their terms."""


async def look_up(
    db: Database, order: LookupOrder, searches: Iterable[SearchTerms]
) -> dict[SearchTerms, SearchResult]:
    """Run each of ``searches``, and return its result.

    ``searched`` is 0 for a search that no text could satisfy: no term has a word, or there are
    fewer terms than needed. It is also 0 if no node has text. Raises DatabaseError.
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
    """Search the text index of the generation; empty without one.

    Searches that it cannot answer are left out.
    """
    sought = answerable(searches)
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


def answerable(searches: Iterable[SearchTerms]) -> Sought:
    """Return the searches that the index can answer."""
    terms = {search: sought_terms(search) for search in searches}
    return {search: sought for search, sought in terms.items() if sought is not None}


def index_terms(sought: Sought) -> set[int]:
    """Return all terms of the index that some searches need."""
    return {term for terms in sought.values() for one in terms for term in one.index_terms}


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


async def _verify_places(
    db: Database, order: LookupOrder, found: Mapping[SearchTerms, Sequence[Place]]
) -> tuple[dict[SearchTerms, list[Hit]], dict[SearchTerms, int]]:
    """Return the places that hold whole words of the terms, and how many were verified.

    Only a search without a hit has more than ``CANDIDATES`` verified.
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
        await _verify(db, order, seekers, hits)
    return {search: _in_order(hits[search], found[search]) for search in found}, verified


async def _verify(
    db: Database,
    order: LookupOrder,
    seekers: Mapping[Place, Sequence[SearchTerms]],
    hits: Mapping[SearchTerms, list[Hit]],
) -> None:
    """Add the places that match to the ``hits`` of their searches; few texts at a time."""
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
    """Return the results that the names of labels and relationship types change.

    Only searches that no text satisfies are looked at. If some of their terms are in names, a node
    counts that has these names and the other terms in its text.
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
        hits = await _verify_named(db, order, one.search, nodes)
        changed[one.search] = replace(
            found,
            hits=tuple(hits),
            method=f"{found.method}; {NAMES}" if hits else found.method,
            complete=found.complete and complete and (bool(hits) or len(nodes) < MOST),
        )
    # A name that only derives from a word does not hold it, and proves no absence.
    for one in derived:
        found = changed.get(one.search, results[one.search])
        rest = texts[one.rest] if one.rest is not None else None
        possible = rest is None or rest.hits or not rest.complete
        if possible and not found.hits:
            changed[one.search] = replace(found, complete=False)
    return changed


async def _verify_named(
    db: Database, order: LookupOrder, search: SearchTerms, nodes: list[str]
) -> list[Hit]:
    """Return the nodes whose text and names together satisfy a search."""
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


def _in_order(hits: Sequence[Hit], places: Sequence[Place]) -> list[Hit]:
    by_place = {Place(hit.partition, hit.rank): hit for hit in hits}
    return [by_place[place] for place in places if place in by_place]
