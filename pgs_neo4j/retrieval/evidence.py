"""Finds the nodes that speak to a question, by the text index of a generation.

A node's score is BM25 (Robertson and Zaragoza 2009): the sum, over the question's terms that its
text holds, of the term's rarity times its impact on the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import Generation, GraphMapping
from pgs_neo4j.text import node_text
from pgs_neo4j.text.ranking import rarity
from pgs_neo4j.text.terms.cells import PostingList, bucket_of, cell_uid, read_cell
from pgs_neo4j.text.terms.postings import FULL, terms_of

MOST_NODES = 200
"""Nodes of a question that count. More add nodes that share only its common words."""


class SegmentRow(TypedDict):
    """A row of ``read_segments``; ``partitions`` holds id, first number, and size."""

    id: str
    size: int
    bits: int
    partitions: list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class EvidenceNode:
    """A node that speaks to a question: its partition, its rank there, and its score."""

    partition: int
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """The nodes that speak to a question, best first, at most ``MOST_NODES``.

    ``terms`` counts the question's terms, ``known`` those that any text holds.
    """

    nodes: tuple[EvidenceNode, ...]
    terms: int
    known: int


@dataclass(frozen=True, slots=True, eq=False)
class SegmentMap:
    """Where the texts of a segment are.

    Text ``i`` is the member of rank ``ranks[i]`` of partition ``partition_ids[i]``. That is 0 for a
    text that is in none of the generation. Both are ``(n,)``.
    """

    partition_ids: NDArray[np.int64]
    ranks: NDArray[np.int64]


async def find_evidence(
    db: Database, generation: Generation, question: str, partition_ids: Collection[int]
) -> Evidence | None:
    """Return the nodes of some partitions of a generation that speak to a question.

    None if a partition has no text index. Raises DatabaseError.
    """
    rows = await db.read(queries.get("retrieval/read_segments"), generation=generation.id)
    segments = cast("list[SegmentRow]", rows)
    if sum(len(segment["partitions"]) for segment in segments) < generation.partition_count:
        return None
    terms = terms_of(question)
    uids = {_uid(segment, term) for segment in segments for term in terms}
    cells = await db.read(queries.get("retrieval/read_postings"), uids=sorted(uids))
    data = {row["uid"]: bytes(row["data"]) for row in cells}
    return score_nodes(segments, data, terms, partition_ids)


async def read_titles(
    db: Database, mapping: GraphMapping, generation: str, nodes: Iterable[EvidenceNode]
) -> dict[int, str]:
    """Return the title of each partition's first node among ``nodes``, by partition id."""
    best: dict[int, int] = {}
    for node in nodes:
        best.setdefault(node.partition, node.rank)
    rows = await db.read(
        queries.get("retrieval/read_evidence_nodes"),
        generation=generation,
        places=[list(place) for place in best.items()],
        text=list(mapping.text),
        title=mapping.title or "",
        key=mapping.key or "",
    )
    names = ("rank", "element_id", "labels", "text", "title", "key")
    return {
        row["partition"]: node_text.node(**{name: row[name] for name in names}).title
        for row in rows
    }


def score_nodes(
    segments: Sequence[SegmentRow],
    cells: Mapping[str, bytes],
    terms: Sequence[int],
    partition_ids: Collection[int],
) -> Evidence:
    """Score the texts of some segments; see :func:`find_evidence`."""
    if not segments:
        return Evidence((), len(terms), 0)
    maps = [_map(segment) for segment in segments]
    lists = [_read(segment, cells, terms) for segment in segments]
    count = sum(int(np.count_nonzero(found.partition_ids)) for found in maps)
    scores = [np.zeros(len(found.ranks)) for found in maps]
    known = 0
    for term in terms:
        hits = [(at, found[term]) for at, found in enumerate(lists) if term in found]
        live = [maps[at].partition_ids[postings.texts] > 0 for at, postings in hits]
        holders = sum(int(np.count_nonzero(mask)) for mask in live)
        known += holders > 0
        weight = rarity(count, holders) / FULL
        for (at, postings), mask in zip(hits, live, strict=True):
            scores[at][postings.texts[mask]] += weight * postings.impacts[mask]
    return Evidence(_best(maps, scores, partition_ids), len(terms), known)


def _read(
    segment: SegmentRow, cells: Mapping[str, bytes], terms: Sequence[int]
) -> dict[int, PostingList]:
    """Return the postings of terms in a segment, each cell read once."""
    by_cell: dict[str, list[int]] = defaultdict(list)
    for term in terms:
        by_cell[_uid(segment, term)].append(term)
    found: dict[int, PostingList] = {}
    for uid, wanted in by_cell.items():
        if uid in cells:
            found |= read_cell(cells[uid], wanted, segment["bits"])
    return found


def _best(
    maps: Sequence[SegmentMap],
    scores: Sequence[NDArray[np.float64]],
    wanted: Collection[int],
) -> tuple[EvidenceNode, ...]:
    score = np.concatenate(list(scores))
    partition_ids = np.concatenate([found.partition_ids for found in maps])
    ranks = np.concatenate([found.ranks for found in maps])
    places = np.flatnonzero((score > 0) & np.isin(partition_ids, list(wanted)))
    if len(places) > MOST_NODES:
        least = np.partition(score[places], -MOST_NODES)[-MOST_NODES]
        places = places[score[places] >= least]
    order = np.lexsort((ranks[places], partition_ids[places], -score[places]))
    return tuple(
        EvidenceNode(int(partition_ids[at]), int(ranks[at]), float(score[at]))
        for at in places[order][:MOST_NODES]
    )


def _map(segment: SegmentRow) -> SegmentMap:
    partition_ids = np.zeros(segment["size"], np.int64)
    ranks = np.zeros(segment["size"], np.int64)
    for partition_id, first, size in segment["partitions"]:
        partition_ids[first : first + size] = partition_id
        ranks[first : first + size] = np.arange(size)
    return SegmentMap(partition_ids, ranks)


def _uid(segment: SegmentRow, term: int) -> str:
    return cell_uid(segment["id"], bucket_of(term, segment["bits"]))


def vote(evidence: Evidence) -> dict[int, float]:
    """Return the evidence of each partition, the most first.

    A node counts as the square of its score relative to the best one. The second node of a
    partition counts half, the third a quarter, and so on. So one node that answers outweighs many
    that share a word, and of two partitions with such a node, the one with more wins. Chosen on
    CACM (``tests/bench/routing``) among the maximum, the sum, and powers of both.
    """
    if not evidence.nodes:
        return {}
    best = evidence.nodes[0].score
    votes: dict[int, float] = defaultdict(float)
    seen: dict[int, int] = defaultdict(int)
    for node in evidence.nodes:
        votes[node.partition] += (node.score / best) ** 2 * 0.5 ** seen[node.partition]
        seen[node.partition] += 1
    return dict(sorted(votes.items(), key=lambda pair: (-pair[1], pair[0])))
