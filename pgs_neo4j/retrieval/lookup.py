"""Looks for many things at once among all nodes of a generation, read or not.

By a full-text index that covers the whole view, where the user has one; else by one scan of the
members in the database, as far as its bounds allow; and beyond those also among the nodes that a
vector index calls nearest. The database finds candidates by parts of words; they are verified
here by whole words. No index is ever created.

An index says where a thing is, and never that it is nowhere: it holds no numbers and dates, takes
``rest.api`` for one word, and in large graphs is not asked for what is inside of words. What it
does not find, or not in what is to be read, is scanned for; where a scan would take too much, it
is not known to be absent.

Measured on 12,000 nodes of 1.2 KB, warm, 2 cores (ms, median). Five things of 1 to 5 terms: 70 in
all, of which walking the members is 7, reading their texts 18, lowering them 13, and looking for
every term 30, or 15 when each thing's rarest terms are asked for first. 160 to 200 when all five
are in thousands of nodes, half of it for verifying 200 candidates of each. The same scan as two or
three statements side by side takes as long as one, as one per partition three times as long, and
with ``toLower`` for each term twice. 64 things: 370, and 110 to verify; a closer look at five of
them, whose two-letter words are in every second node, 1,900. A full-text index answers five things
in 20 by beginnings of words, in 70 to 100 when it looks inside of words, too; among 120,000 nodes
of 300 bytes the scan takes 350 and the index 13.
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
from pgs_neo4j.text.matching import Found, Hit, Page, Wanted, filters, pattern, probe

CANDIDATES = 200  # of each thing wanted that are verified
FETCHED = 5 * CANDIDATES  # of a full-text index, which may know nodes of other graphs, too
NEAREST = 50  # of a vector index for each thing wanted
# What a scan takes at most: some 200 MB of text, seconds of a server's time.
MAX_NODES = 1_000_000
MAX_TOKENS = 50_000_000
# What one statement of a scan takes, so that none runs for long or holds much.
PORTION_NODES = 20_000
PORTION_TOKENS = 10_000_000
TEXTS = 200  # nodes whose texts are read at once
# Up to so many tokens a graph has few enough words for an index to look inside of each: hits of
# an index spare a scan.
INNER_TOKENS = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where to look: all ``partitions`` of a generation, those of ids in ``first`` before others.

    ``embedder`` is one that makes vectors of the kind that the graph stores, if there is one.
    """

    db: Database
    mapping: GraphMapping
    generation: str
    partitions: Sequence[Partition]
    first: frozenset[int] = frozenset()
    embedder: Embedder | None = None
    max_nodes: int = MAX_NODES
    max_tokens: int = MAX_TOKENS

    @property
    def order(self) -> list[Partition]:
        """The partitions as they are searched: those to be read first, then by id."""
        return sorted(self.partitions, key=lambda each: (each.id not in self.first, each.id))

    @property
    def properties(self) -> list[str]:
        """What is looked into: what a prompt shows of a node."""
        title = [self.mapping.title] if self.mapping.title else []
        return list(dict.fromkeys((*self.mapping.text, *title)))

    def among_first(self, found: Found) -> bool:
        """Whether a thing was found in the partitions to be read first, if there are such."""
        return any(not self.first or hit.partition in self.first for hit in found.hits)

    @property
    def fits(self) -> bool:
        """Whether a scan may take them all."""
        return len(self.fitting) == len(self.partitions)

    @property
    def fitting(self) -> list[Partition]:
        """The partitions that a scan may take, in order."""
        fitting, nodes, tokens = [], 0, 0
        for partition in self.order:
            if (
                nodes + partition.size <= self.max_nodes
                and tokens + partition.tokens <= self.max_tokens
            ):
                fitting.append(partition)
                nodes, tokens = nodes + partition.size, tokens + partition.tokens
        return fitting


@dataclass(slots=True)
class _Candidates:
    """Nodes that may hold a thing, at most ``CANDIDATES``; ``count`` of them are known."""

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


async def look_up(ground: Ground, wanted: Iterable[Wanted]) -> dict[Wanted, Found]:
    """What became of each thing wanted.

    What no text could hold (no term with a word, or fewer of them than needed) is found with
    ``searched`` 0, as is everything where nodes have no text. Raises DatabaseError.
    """
    asked = list(dict.fromkeys(wanted))
    possible = [each for each in asked if each.searchable] if ground.properties else []
    found = dict.fromkeys(asked, Found())
    if not possible:
        return found
    indexes = await ground.db.read(queries.get("retrieval/read_fulltext_indexes"))
    index = lucene.covering(indexes, ground.mapping.labels, ground.properties)
    if index is None:
        return found | await _scanned(ground, possible)
    found |= await _verified(ground, await _by_index(ground, index, possible))
    missed = {each: found[each] for each in possible if not ground.among_first(found[each])}
    return found | await _missed(ground, missed)


async def _missed(ground: Ground, missed: dict[Wanted, Found]) -> dict[Wanted, Found]:
    """What becomes of what an index found nowhere, or not where it matters most."""
    if not missed:
        return {}
    if not ground.fits:
        return {each: replace(found, complete=False) for each, found in missed.items()}
    scanned = await _scanned(ground, list(missed))
    return {
        each: Found(
            searched=scan.searched,
            method=f"{missed[each].method}, then {scan.method}",
            hits=_in_order(ground, (*missed[each].hits, *scan.hits)),
            complete=scan.complete,
        )
        for each, scan in scanned.items()
    }


async def _scanned(ground: Ground, wanted: Sequence[Wanted]) -> dict[Wanted, Found]:
    found = await _verified(ground, await _by_scan(ground, wanted))
    # Where parts of words were in many nodes that do not hold them, look more closely.
    unsure = [
        each for each in wanted if not found[each].complete and found[each].count < CANDIDATES // 2
    ]
    if unsure:
        closer = await _verified(ground, await _by_scan(ground, unsure, closely=True))
        found |= {each: seen for each, seen in closer.items() if seen.count >= found[each].count}
    return found


async def _by_index(
    ground: Ground, index: str, wanted: Sequence[Wanted]
) -> dict[Wanted, _Candidates]:
    inside = sum(partition.tokens for partition in ground.partitions) <= INNER_TOKENS
    [row] = await ground.db.read(
        queries.get("retrieval/nodes_by_fulltext"),
        index=index,
        queries=[lucene.query(each, inside=inside) for each in wanted],
        generation=ground.generation,
        fetched=FETCHED,
        most=CANDIDATES,
    )
    method = f"full-text index {index}" + ("" if inside else ", by beginnings of words")
    found = {each: _Candidates(searched=row["searched"], method=method) for each in wanted}
    for held in row["found"]:
        known = max(held["count"], CANDIDATES + 1) if held["full"] else held["count"]
        found[wanted[held["wanted"]]].add(known, held["nodes"])
    return found


async def _by_scan(
    ground: Ground, wanted: Sequence[Wanted], *, closely: bool = False
) -> dict[Wanted, _Candidates]:
    """Candidates among the members that fit; what has enough of them is not looked for further."""
    fitting = ground.fitting
    found = {each: _Candidates() for each in wanted}
    for portion in _portions(fitting):
        sought = [each for each in wanted if not found[each].full]
        if not sought:
            break
        [row] = await ground.db.read(
            queries.get("retrieval/scan_members"),
            partitions=[partition.uid for partition in portion],
            text=ground.properties,
            wanted=[_row(place, each, closely) for place, each in enumerate(sought)],
            most=CANDIDATES,
        )
        for each in sought:
            found[each].searched += row["searched"]
        for held in row["found"]:
            found[sought[held["wanted"]]].add(held["count"], held["nodes"])
    whole = ground.fits
    total = sum(partition.size for partition in ground.partitions)
    for candidates in found.values():
        extent = "every node" if whole else f"{candidates.searched:,} of {total:,} nodes"
        candidates.method = f"scan of {extent}"
    if not whole:
        await _add_nearest(ground, found)
    return found


async def _add_nearest(ground: Ground, found: dict[Wanted, _Candidates]) -> None:
    """Add the nodes whose stored vectors are nearest, where an index knows all of them."""
    if ground.embedder is None or not ground.mapping.embedding:
        return
    try:
        vectors = await ground.embedder.embed([" ".join(each.terms) for each in found])
    except ModelError:
        return  # it would only have added to what the scan says
    for (each, candidates), vector in zip(found.items(), vectors, strict=True):
        # Without an index it would compare every vector of a graph too large to be scanned.
        if not await topk.covering_indexes(ground.db, ground.mapping, len(vector)):
            return
        nearest = await topk.nearest(
            ground.db, ground.mapping, " ".join(each.terms), unit(vector), NEAREST
        )
        candidates.add(0, (node.element_id for node in nearest.nodes))
        candidates.method += f" and of the {len(nearest.nodes)} nearest by {nearest.method}"


async def _verified(ground: Ground, candidates: dict[Wanted, _Candidates]) -> dict[Wanted, Found]:
    """The candidates that hold whole words of what is wanted."""
    seekers: dict[str, list[Wanted]] = {}
    for each, found in candidates.items():
        for node in found.nodes:
            seekers.setdefault(node, []).append(each)
    hits: dict[Wanted, list[Hit]] = {each: [] for each in candidates}
    nodes = list(seekers)
    for first in range(0, len(nodes), TEXTS):
        for row in await _placed(ground, nodes[first : first + TEXTS]):
            page = Page.of(node_text.joined_text((row["title"], *row["text"])))
            for each in seekers[row["element_id"]]:
                if page.counts(each):
                    hits[each].append(_hit(row))
    return {
        each: Found(
            searched=found.searched,
            method=found.method + (f", the first {CANDIDATES} candidates" if found.full else ""),
            hits=_in_order(ground, hits[each]),
            complete=not found.full,
        )
        for each, found in candidates.items()
    }


def _in_order(ground: Ground, hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Each hit once, by partition as they are searched, and rank."""
    place = {partition.id: place for place, partition in enumerate(ground.order)}
    return tuple(sorted(set(hits), key=lambda hit: (place[hit.partition], hit.rank)))


async def _placed(ground: Ground, nodes: list[str]) -> list[Row]:
    return await ground.db.read(
        queries.get("retrieval/read_placed_nodes"),
        generation=ground.generation,
        nodes=nodes,
        text=list(ground.mapping.text),
        title=ground.mapping.title or "",
        key=ground.mapping.key or "",
    )


def _hit(row: Row) -> Hit:
    names = ("rank", "element_id", "labels", "text", "title", "key")
    node = node_text.node(**{name: row[name] for name in names})
    return Hit(
        partition=row["partition"],
        rank=node.rank,
        element_id=node.element_id,
        key=node.key,
        title=node.title,
    )


def _row(place: int, wanted: Wanted, closely: bool) -> Row:
    """What the scan is told: without one of the ``probes`` a text cannot have enough terms."""
    terms = wanted.usable
    return {
        "place": place,
        "terms": [list(filters(term)) for term in terms],
        "needed": wanted.needed,
        "probes": [probe(term) for term in terms[: len(terms) - wanted.needed + 1]],
        "patterns": [pattern(term) for term in terms] if closely else [],
        "strict": wanted.needed if closely else 0,
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
