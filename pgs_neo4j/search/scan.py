"""Searches the members of a generation by reading their texts in the database.

The scan finds texts with parts of the words, within bounds. Then this module verifies whole words.

Measured as medians on 12,000 nodes of 1.2 KB with a warm cache and 2 cores: five searches of 1 to 5
terms take 70 ms. Of that, walking the members takes 7 ms, reading their texts 18 ms, and converting
them to lower case 13 ms. Looking for every term takes 30 ms, or 15 ms if each search begins with
its rarest terms. Five searches that each match thousands of nodes take 160 to 200 ms, and half of
this time verifies 200 candidates per search. Five searches for two-letter words that occur in every
second node take 1,900 ms, because they need a closer scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import Partition
from pgs_neo4j.search.lookup_order import CANDIDATES, TEXTS, LookupOrder, make_hit, make_page
from pgs_neo4j.search.nodes import place_node
from pgs_neo4j.text.matching import (
    Hit,
    SearchResult,
    SearchTerms,
    filters,
    pattern,
    probe,
    stored_part,
)
from pgs_neo4j.text.normal_form import alike_signs, dropped_signs
from pgs_neo4j.text.shown import counted

# One statement of a scan reads at most this much, so that it ends soon and needs little memory.
PORTION_NODES = 20_000
PORTION_TOKENS = 10_000_000


@dataclass(slots=True)
class _Candidates:
    """The first ``CANDIDATES`` nodes that may match one search.

    ``count`` is the number of all such nodes.
    """

    nodes: list[str] = field(default_factory=list)
    count: int = 0
    searched: int = 0
    method: str = ""

    def add(self, count: int, nodes: Iterable[str]) -> None:
        self.count += count
        self.nodes = list(dict.fromkeys((*self.nodes, *nodes)))[:CANDIDATES]

    @property
    def full(self) -> bool:
        return self.count > CANDIDATES


async def scan(
    db: Database, order: LookupOrder, searches: Sequence[SearchTerms]
) -> dict[SearchTerms, SearchResult]:
    """Return the results of searches, by a scan as far as its bounds allow.

    Raises DatabaseError.
    """
    results = await _verify_candidates(db, order, await _find_by_scan(db, order, searches))
    # If many nodes contain parts of the words but few contain whole words, a closer scan finds
    # more.
    unclear = [
        search
        for search in searches
        if not results[search].complete and results[search].count < CANDIDATES // 2
    ]
    if unclear:
        closer = await _verify_candidates(
            db, order, await _find_by_scan(db, order, unclear, closely=True)
        )
        results |= {
            search: seen for search, seen in closer.items() if seen.count >= results[search].count
        }
    return results


async def _find_by_scan(
    db: Database,
    order: LookupOrder,
    searches: Sequence[SearchTerms],
    *,
    closely: bool = False,
) -> dict[SearchTerms, _Candidates]:
    """Scan the members within bounds, for each search until it has enough candidates."""
    fitting = order.fitting
    candidates = {search: _Candidates() for search in searches}
    for portion in _divide_into_portions(fitting):
        sought = [search for search in searches if not candidates[search].full]
        if not sought:
            break
        [row] = await db.read(
            queries.get("search/scan_members"),
            partitions=[partition.uid for partition in portion],
            text=order.properties,
            facts=order.mapping.facts,
            wanted=[_scan_row(place, search, closely) for place, search in enumerate(sought)],
            most=CANDIDATES,
            dropped=list(dropped_signs()),
            alike=alike_signs(
                part for search in sought for term in search.usable for part in filters(term)
            ),
        )
        for search in sought:
            candidates[search].searched += row["searched"]
        for item in row["found"]:
            candidates[sought[item["wanted"]]].add(item["count"], item["nodes"])
    whole = order.fits
    total = sum(partition.size for partition in order.partitions)
    for pool in candidates.values():
        extent = "every node" if whole else f"{pool.searched:,} of {counted(total, 'node')}"
        pool.method = f"scan of {extent}"
    return candidates


async def _verify_candidates(
    db: Database, order: LookupOrder, candidates: dict[SearchTerms, _Candidates]
) -> dict[SearchTerms, SearchResult]:
    """Return the results of searches: the candidates that contain whole words of the terms."""
    seekers: dict[str, list[SearchTerms]] = {}
    for search, pool in candidates.items():
        for node in pool.nodes:
            seekers.setdefault(node, []).append(search)
    hits: dict[SearchTerms, list[Hit]] = {search: [] for search in candidates}
    nodes = list(seekers)
    for first in range(0, len(nodes), TEXTS):
        for row in await read_placed_nodes(db, order, nodes[first : first + TEXTS]):
            placed = place_node(row)
            page = make_page(placed)
            for search in seekers[row["element_id"]]:
                if page.counts(search):
                    hits[search].append(make_hit(placed))
    return {
        search: SearchResult(
            searched=pool.searched,
            method=pool.method + (f", the first {CANDIDATES} candidates" if pool.full else ""),
            hits=_sort_hits(order, hits[search]),
            complete=not pool.full,
            texts=order.count_texts(pool.searched),
        )
        for search, pool in candidates.items()
    }


def _sort_hits(order: LookupOrder, hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Return each hit once, in search order."""
    place = {partition.id: place for place, partition in enumerate(order.sequence)}
    return tuple(sorted(set(hits), key=lambda hit: (place[hit.partition], hit.rank)))


async def read_placed_nodes(db: Database, order: LookupOrder, nodes: list[str]) -> list[Row]:
    """Return rows of nodes with their places in the generation, without nodes outside of it."""
    return await db.read(
        queries.get("search/read_placed_nodes"),
        generation=order.generation,
        nodes=nodes,
        text=order.mapping.text_properties,
        facts=order.mapping.facts,
        title=order.mapping.title_properties,
        key=order.mapping.key_properties,
    )


def _scan_row(place: int, search: SearchTerms, closely: bool) -> Row:
    """Return the parameters for one search of the scan.

    The database skips a text without any of the ``probes``, because it cannot match.
    """
    terms = search.usable
    return {
        "place": place,
        "terms": [list(map(stored_part, filters(term))) for term in terms],
        "needed": search.needed,
        "probes": [stored_part(probe(term)) for term in terms[: len(terms) - search.needed + 1]],
        "patterns": [pattern(term) for term in terms] if closely else [],
        "strict": search.needed if closely else 0,
    }


def _divide_into_portions(partitions: Sequence[Partition]) -> list[list[Partition]]:
    portions: list[list[Partition]] = []
    nodes = tokens = 0
    for partition in partitions:
        nodes, tokens = nodes + partition.size, tokens + partition.tokens
        if not portions or nodes > PORTION_NODES or tokens > PORTION_TOKENS:
            portions.append([])
            nodes, tokens = partition.size, partition.tokens
        portions[-1].append(partition)
    return portions
