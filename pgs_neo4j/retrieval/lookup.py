"""Searches all nodes of a generation for many terms at once.

Nodes are searched whether they were read or not. There are three ways, in this order:

- A full-text index of the user's, if one covers the whole view.
- Otherwise one scan of the members in the database, within the bounds of the scan.
- Beyond those bounds, the nodes that a vector index calls nearest are searched in addition.

The database finds candidates by parts of words; this module verifies them by whole words. It
never creates an index.

An index can prove that a term is somewhere, but not that it is nowhere. It holds no numbers or
dates, takes ``rest.api`` for one word, and in large graphs is not asked to look inside words.
A search without a hit, or without one in the partitions to be read first, is scanned for. If the
scan would exceed its bounds, the result is incomplete.

Measured on 12,000 nodes of 1.2 KB, warm, 2 cores (ms, median). Five searches of 1 to 5 terms take
70. Of that, walking the members takes 7, reading their texts 18, and lowering them 13. Looking
for every term takes 30, or 15 if each search begins with its rarest terms. Five searches that
each match thousands of nodes take 160 to 200, half of it to verify 200 candidates each. Two or
three parallel statements take as long as one; one per partition takes three times as long, and
``toLower`` for each term twice. 64 searches take 370, and 110 to verify. A closer look at five
whose two-letter words are in every second node takes 1,900. A full-text index answers five
searches in 20 by beginnings of words, and in 70 to 100 if it looks inside words. Among 120,000
nodes of 300 bytes, the scan takes 350 and the index 13.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.errors import ModelError
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.protocol import Embedder
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.retrieval import lucene, topk
from pgs_neo4j.text import node_text
from pgs_neo4j.text.matching import Hit, Page, SearchResult, SearchTerms, filters, pattern, probe

CANDIDATES = 200  # nodes to verify for each search
FETCHED = 5 * CANDIDATES  # hits of a full-text index, which may also cover other graphs
NEAREST = 50  # nodes of a vector index for each search
# The most that one scan reads: about 200 MB of text, seconds of a server's time.
MAX_NODES = 1_000_000
MAX_TOKENS = 50_000_000
# The most that one statement of a scan reads, so that none runs long or needs much memory.
PORTION_NODES = 20_000
PORTION_TOKENS = 10_000_000
TEXTS = 200  # nodes whose texts are read at once
# Up to this many tokens, an index has few enough words to look inside each of them. Each hit of
# an index saves a scan.
INNER_TOKENS = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupOrder:
    """The generation to search: all its ``partitions``.

    Those whose ids are in ``first`` come before the others.
    """

    mapping: GraphMapping
    generation: str
    partitions: tuple[Partition, ...]
    first: frozenset[int] = frozenset()
    max_nodes: int = MAX_NODES
    max_tokens: int = MAX_TOKENS

    @property
    def sequence(self) -> list[Partition]:
        """The partitions in search order: those in ``first``, then by id."""
        return sorted(
            self.partitions, key=lambda partition: (partition.id not in self.first, partition.id)
        )

    @property
    def properties(self) -> list[str]:
        """The properties to search: those that a prompt shows of a node."""
        title = [self.mapping.title] if self.mapping.title else []
        return list(dict.fromkeys((*self.mapping.text, *title)))

    def among_first(self, result: SearchResult) -> bool:
        """Return whether a search has a hit in ``first``.

        If ``first`` is empty, any hit counts.
        """
        return any(not self.first or hit.partition in self.first for hit in result.hits)

    @property
    def fits(self) -> bool:
        """Whether one scan may read all partitions."""
        return len(self.fitting) == len(self.partitions)

    @property
    def fitting(self) -> list[Partition]:
        """The partitions that one scan may read, in search order."""
        fitting, nodes, tokens = [], 0, 0
        for partition in self.sequence:
            if (
                nodes + partition.size <= self.max_nodes
                and tokens + partition.tokens <= self.max_tokens
            ):
                fitting.append(partition)
                nodes, tokens = nodes + partition.size, tokens + partition.tokens
        return fitting


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupTools:
    """The connections that search a generation.

    ``embedder`` makes vectors of the kind that the graph stores; it may be None.
    """

    db: Database
    embedder: Embedder | None = None


@dataclass(slots=True)
class _Candidates:
    """Nodes that may match one search, at most ``CANDIDATES``.

    ``count`` counts all of them.
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


async def look_up(
    order: LookupOrder, tools: LookupTools, searches: Iterable[SearchTerms]
) -> dict[SearchTerms, SearchResult]:
    """Run each of ``searches``, and return its result.

    ``searched`` is 0 for a search that no text could satisfy: no term has a word, or there are
    fewer terms than needed. It is also 0 if nodes have no text. Raises DatabaseError.
    """
    asked = list(dict.fromkeys(searches))
    possible = [search for search in asked if search.searchable] if order.properties else []
    results = dict.fromkeys(asked, SearchResult())
    if not possible:
        return results
    indexes = await tools.db.read(queries.get("retrieval/read_fulltext_indexes"))
    index = lucene.covering(indexes, order.mapping.labels, order.properties)
    if index is None:
        return results | await _scan(order, tools, possible)
    results |= await _verify(order, tools, await _find_by_index(order, tools, index, possible))
    missed = {
        search: results[search] for search in possible if not order.among_first(results[search])
    }
    return results | await _scan_missed(order, tools, missed)


async def _scan_missed(
    order: LookupOrder, tools: LookupTools, missed: dict[SearchTerms, SearchResult]
) -> dict[SearchTerms, SearchResult]:
    """Scan for searches without an index hit where hits matter most."""
    if not missed:
        return {}
    if not order.fits:
        return {search: replace(result, complete=False) for search, result in missed.items()}
    scanned = await _scan(order, tools, list(missed))
    return {
        search: SearchResult(
            searched=scan.searched,
            method=f"{missed[search].method}, then {scan.method}",
            hits=_in_order(order, (*missed[search].hits, *scan.hits)),
            complete=scan.complete,
        )
        for search, scan in scanned.items()
    }


async def _scan(
    order: LookupOrder, tools: LookupTools, searches: Sequence[SearchTerms]
) -> dict[SearchTerms, SearchResult]:
    results = await _verify(order, tools, await _find_by_scan(order, tools, searches))
    # Many nodes hold parts of the words but not the words: look more closely.
    unsure = [
        search
        for search in searches
        if not results[search].complete and results[search].count < CANDIDATES // 2
    ]
    if unsure:
        closer = await _verify(
            order, tools, await _find_by_scan(order, tools, unsure, closely=True)
        )
        results |= {
            search: seen for search, seen in closer.items() if seen.count >= results[search].count
        }
    return results


async def _find_by_index(
    order: LookupOrder, tools: LookupTools, index: str, searches: Sequence[SearchTerms]
) -> dict[SearchTerms, _Candidates]:
    inside = sum(partition.tokens for partition in order.partitions) <= INNER_TOKENS
    [row] = await tools.db.read(
        queries.get("retrieval/nodes_by_fulltext"),
        index=index,
        queries=[lucene.query(search, inside=inside) for search in searches],
        generation=order.generation,
        fetched=FETCHED,
        most=CANDIDATES,
    )
    method = f"full-text index {index}" + ("" if inside else ", by beginnings of words")
    candidates = {
        search: _Candidates(searched=row["searched"], method=method) for search in searches
    }
    for item in row["found"]:
        count = max(item["count"], CANDIDATES + 1) if item["full"] else item["count"]
        candidates[searches[item["wanted"]]].add(count, item["nodes"])
    return candidates


async def _find_by_scan(
    order: LookupOrder,
    tools: LookupTools,
    searches: Sequence[SearchTerms],
    *,
    closely: bool = False,
) -> dict[SearchTerms, _Candidates]:
    """Scan the members within bounds; a search with enough candidates is dropped."""
    fitting = order.fitting
    candidates = {search: _Candidates() for search in searches}
    for portion in _portions(fitting):
        sought = [search for search in searches if not candidates[search].full]
        if not sought:
            break
        [row] = await tools.db.read(
            queries.get("retrieval/scan_members"),
            partitions=[partition.uid for partition in portion],
            text=order.properties,
            wanted=[_scan_row(place, search, closely) for place, search in enumerate(sought)],
            most=CANDIDATES,
        )
        for search in sought:
            candidates[search].searched += row["searched"]
        for item in row["found"]:
            candidates[sought[item["wanted"]]].add(item["count"], item["nodes"])
    whole = order.fits
    total = sum(partition.size for partition in order.partitions)
    for pool in candidates.values():
        extent = "every node" if whole else f"{pool.searched:,} of {total:,} nodes"
        pool.method = f"scan of {extent}"
    if not whole:
        await _add_nearest(order, tools, candidates)
    return candidates


async def _add_nearest(
    order: LookupOrder, tools: LookupTools, candidates: dict[SearchTerms, _Candidates]
) -> None:
    """Add the nodes with the nearest stored vectors.

    This requires an index that covers all nodes.
    """
    if tools.embedder is None or not order.mapping.embedding:
        return
    try:
        vectors = await tools.embedder.embed([" ".join(search.terms) for search in candidates])
    except ModelError:
        return  # it would only have added to the scan's candidates
    for (search, pool), vector in zip(candidates.items(), vectors, strict=True):
        # Without an index it would compare every vector of a graph too large to be scanned.
        if not await topk.covering_indexes(tools.db, order.mapping, len(vector)):
            return
        nearest = await topk.nearest(
            tools.db, order.mapping, " ".join(search.terms), unit(vector), NEAREST
        )
        pool.add(0, (node.element_id for node in nearest.nodes))
        pool.method += f" and of the {len(nearest.nodes)} nearest by {nearest.method}"


async def _verify(
    order: LookupOrder, tools: LookupTools, candidates: dict[SearchTerms, _Candidates]
) -> dict[SearchTerms, SearchResult]:
    """Keep the candidates that hold whole words of the terms."""
    seekers: dict[str, list[SearchTerms]] = {}
    for search, pool in candidates.items():
        for node in pool.nodes:
            seekers.setdefault(node, []).append(search)
    hits: dict[SearchTerms, list[Hit]] = {search: [] for search in candidates}
    nodes = list(seekers)
    for first in range(0, len(nodes), TEXTS):
        for row in await _read_placed(order, tools, nodes[first : first + TEXTS]):
            page = Page.of(node_text.joined_text((row["title"], *row["text"])))
            for search in seekers[row["element_id"]]:
                if page.counts(search):
                    hits[search].append(_make_hit(row))
    return {
        search: SearchResult(
            searched=pool.searched,
            method=pool.method + (f", the first {CANDIDATES} candidates" if pool.full else ""),
            hits=_in_order(order, hits[search]),
            complete=not pool.full,
        )
        for search, pool in candidates.items()
    }


def _in_order(order: LookupOrder, hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Return each hit once, by partition in search order, then by rank."""
    place = {partition.id: place for place, partition in enumerate(order.sequence)}
    return tuple(sorted(set(hits), key=lambda hit: (place[hit.partition], hit.rank)))


async def _read_placed(order: LookupOrder, tools: LookupTools, nodes: list[str]) -> list[Row]:
    return await tools.db.read(
        queries.get("retrieval/read_placed_nodes"),
        generation=order.generation,
        nodes=nodes,
        text=list(order.mapping.text),
        title=order.mapping.title or "",
        key=order.mapping.key or "",
    )


def _make_hit(row: Row) -> Hit:
    names = ("rank", "element_id", "labels", "text", "title", "key")
    node = node_text.node(**{name: row[name] for name in names})
    return Hit(
        partition=row["partition"],
        rank=node.rank,
        element_id=node.element_id,
        key=node.key,
        title=node.title,
    )


def _scan_row(place: int, search: SearchTerms, closely: bool) -> Row:
    """Return the parameters of the scan.

    A text without any of the ``probes`` cannot match.
    """
    terms = search.usable
    return {
        "place": place,
        "terms": [list(filters(term)) for term in terms],
        "needed": search.needed,
        "probes": [probe(term) for term in terms[: len(terms) - search.needed + 1]],
        "patterns": [pattern(term) for term in terms] if closely else [],
        "strict": search.needed if closely else 0,
    }


def _portions(partitions: Sequence[Partition]) -> list[list[Partition]]:
    portions: list[list[Partition]] = []
    nodes = tokens = 0
    for partition in partitions:
        nodes, tokens = nodes + partition.size, tokens + partition.tokens
        if not portions or nodes > PORTION_NODES or tokens > PORTION_TOKENS:
            portions.append([])
            nodes, tokens = partition.size, partition.tokens
        portions[-1].append(partition)
    return portions
