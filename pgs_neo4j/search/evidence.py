"""Finds the nodes that match a question, by their words and by their stored embeddings.

There are two paths: the text index of the partitions, and the embeddings of their members. The best
nodes by the index are scored again by their titles and texts. The names of a node's labels and
relationship types count as its words. The scores of each path are divided by its best score, and
both are added with weights.

The constants were chosen on the CACM collection, by the mean over eight Leiden partitionings.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import QueryError
from pgs_neo4j.model import Generation, GraphMapping, Partition
from pgs_neo4j.search.document_votes import find_document_votes
from pgs_neo4j.search.known_indexes import covering_indexes
from pgs_neo4j.search.names import find_named_members, match_words
from pgs_neo4j.search.nodes import Place, PlacedNode
from pgs_neo4j.search.paths.own_index import score_nodes, score_texts
from pgs_neo4j.search.text_index import KnownTexts, TextIndex, read_index
from pgs_neo4j.text.terms.postings import terms_by_text, terms_of
from pgs_neo4j.text.words import words

NUMBER = re.compile(r"\d{2,}")
MOST_NODES = 200
"""Maximum number of matching nodes that count. Further nodes share only common words with the
question.
"""
VECTOR_SHARE = 0.2
"""Weight of embeddings; words have the rest of 1. With LSA vectors, 0.2 was best of 0.1 to 0.6."""
FURTHER = 0.6
"""Weight of a partition's next node relative to the previous one. A higher value favors partitions
with many matches, a lower value favors partitions with one strong match.
"""
CANDIDATES = 4
"""Nodes to request from an index per wanted node, because some may lie outside the partitions."""
# Up to this many floats, all stored embeddings are compared: about 0.4 s of server time.
QUICK = 8_000_000
TOO_MANY = (
    "there are too many embeddings to compare without a vector index, so only words count; "
    "'pgs index create' makes one"
)


@dataclass(frozen=True, slots=True)
class EvidenceNode:
    """A node that matches a question: its partition, its rank there, and its score."""

    partition: int
    rank: int
    score: float

    @property
    def place(self) -> Place:
        """The partition of the node and its rank there."""
        return Place(self.partition, self.rank)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The nodes that match a question, best first, at most ``MOST_NODES``.

    ``unknown`` are the content words of the question that occur neither in a text nor in the name
    of a label or relationship type. ``word_count`` counts all content words. ``only_names`` is true
    if some of them occur in names, and none in a text. ``best_cosine`` is the cosine of the nearest
    stored embedding, None if no embedding was compared. ``advice`` says how embeddings could count.
    ``titles`` has the title of each partition's best node, unless that node matches only by its
    embedding or by names. ``document_votes`` has the votes of documents by partition, the most
    first, if any node is a passage.
    """

    nodes: tuple[EvidenceNode, ...]
    unknown: tuple[str, ...] = ()
    word_count: int = 0
    only_names: bool = False
    best_cosine: float | None = None
    method: str = "text index"
    advice: str = ""
    document_votes: Mapping[int, float] = field(default_factory=dict)
    titles: Mapping[Place, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceOrder:
    """A question, and the partitions of a generation to search for it.

    ``vector`` ``(d,)`` is the question in the space of the stored embeddings, at unit length.
    """

    question: str
    mapping: GraphMapping
    generation: Generation
    partitions: Sequence[Partition]
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class NearMembers:
    """Places with their cosines, all above 0, best first, and the ``method`` that found them.

    If embeddings could not be compared, ``method`` is empty and ``advice`` says what would help.
    """

    scores: dict[Place, float]
    method: str
    advice: str = ""


async def find_evidence(
    db: Database, order: EvidenceOrder, known: KnownTexts | None = None
) -> Evidence | None:
    """Return the nodes that match a question, None if a partition has no text index.

    ``known`` caches the places of texts, so that they are read only once. Raises DatabaseError.
    """
    terms = terms_of(order.question)
    generation = order.generation
    content_words = list_words(order.question)
    # Names and embeddings do not depend on the text index, so all three are read at once.
    (index, asked), near = await together(
        together(
            read_index(db, generation.id, generation.partition_count, terms, known),
            match_words(db, order.mapping, content_words),
        ),
        find_near_members(db, order.mapping, order.partitions, order.vector, MOST_NODES),
    )
    if index is None:
        return None
    best = score_nodes(index, terms, [part.id for part in order.partitions], MOST_NODES)
    texts = await score_texts(
        db, order.mapping, order.partitions, order.question, index, best, related=False
    )
    named = await find_named_members(
        db,
        order.mapping,
        order.partitions,
        asked,
        {placed.place: placed.row["element_id"] for placed, _ in texts},
    )
    scored = named.add_to({placed.place: score for placed, score in texts})
    nodes = _select_best_nodes(fuse(scored, near))
    scores = {node.place: node.score for node in nodes}
    return Evidence(
        nodes=nodes,
        titles=_list_titles(nodes, {placed.place: placed for placed, _ in texts}),
        document_votes=await find_document_votes(db, order.mapping, order.partitions, scores),
        unknown=tuple(
            word for word in find_unknown(index, content_words) if word not in named.words
        ),
        word_count=len(content_words),
        only_names=bool(named.gains and not texts),
        best_cosine=max(near.scores.values(), default=0.0) if near and near.method else None,
        method=f"text index and {near.method}" if near and near.method else "text index",
        advice=near.advice if near else "",
    )


def _list_titles(
    nodes: Sequence[EvidenceNode], texts: Mapping[Place, PlacedNode]
) -> dict[Place, str]:
    """Return the title of each partition's best node, if this node is among ``texts``."""
    best = {node.partition: node.place for node in reversed(nodes)}
    return {place: texts[place].node.title for place in best.values() if place in texts}


def list_words(question: str) -> list[str]:
    """Return the distinct content words of a question that the index can contain.

    For a question without content words, returns its numbers.
    """
    found = list(dict.fromkeys(words(question) or NUMBER.findall(question)))
    return [word for word, terms in zip(found, terms_by_text(found), strict=True) if terms]


def find_unknown(index: TextIndex, spoken: Sequence[str]) -> tuple[str, ...]:
    """Return the words that no text contains in any form.

    ``index`` must have been read with the terms of these words.
    """
    terms = terms_by_text(spoken)
    return tuple(
        word
        for word, of_word in zip(spoken, terms, strict=True)
        if not any(term in index.postings for term in of_word)
    )


async def find_near_members(
    db: Database,
    mapping: GraphMapping,
    partitions: Sequence[Partition],
    vector: NDArray[np.float32] | None,
    k: int,
) -> NearMembers | None:
    """Return the ``k`` members of ``partitions`` nearest to ``vector`` ``(d,)``.

    A small number of embeddings is compared one by one. Otherwise the user's vector index finds the
    nearest. Returns None without a vector or embeddings, or if they cannot be compared. Raises
    DatabaseError.
    """
    if vector is None or not mapping.embedding or not partitions:
        return None
    wanted: Row = {
        "partitions": [part.uid for part in partitions],
        "embedding": mapping.embedding,
        "vector": vector.tolist(),
        "k": k,
    }
    indexes: list[str] = []
    if not can_compare_all(sum(part.size for part in partitions), len(vector)):
        indexes = await covering_indexes(db, mapping, len(vector))
        if not indexes:
            return NearMembers({}, "", TOO_MANY)
    try:
        rows = await _read_nearest(db, indexes, k, wanted)
    except QueryError:
        # The index was just dropped, or an embedding is not finite. Then words decide alone.
        return None
    method = f"vector index {', '.join(indexes)}" if indexes else "every stored embedding"
    scores = {Place(row["partition"], row["rank"]): row["score"] for row in rows}
    return NearMembers(dict(list(scores.items())[:k]), method)


async def _read_nearest(db: Database, indexes: Sequence[str], k: int, wanted: Row) -> list[Row]:
    """Return the members nearest to a vector, best first.

    Uses all ``indexes``; without any, compares all embeddings.
    """
    if not indexes:
        return await db.read(queries.get("search/nearest_members"), **wanted)
    statement = queries.get("search/nearest_members_by_index")
    rows = [
        row
        for index in indexes
        for row in await db.read(statement, index=index, candidates=CANDIDATES * k, **wanted)
    ]
    return sorted(rows, key=lambda row: (-row["score"], row["partition"], row["rank"]))


def can_compare_all(count: int, dimensions: int) -> bool:
    """Return whether ``count`` embeddings can all be compared with a question quickly."""
    return count * dimensions <= QUICK


def fuse(scored: Mapping[Place, float], near: NearMembers | None) -> dict[Place, float]:
    """Return the weighted sum of the scores by words and by embeddings.

    Each kind is first divided by its best score. Without embeddings, the scores by words are
    returned unchanged.
    """
    if near is None or not near.scores:
        return dict(scored)
    total: dict[Place, float] = defaultdict(float)
    for scores, weight in ((scored, 1 - VECTOR_SHARE), (near.scores, VECTOR_SHARE)):
        best = max(scores.values(), default=1.0)
        for place, score in scores.items():
            total[place] += weight * score / best
    return total


def _select_best_nodes(scores: Mapping[Place, float]) -> tuple[EvidenceNode, ...]:
    # Many nodes with the same name have equal scores. The best-ranked of each partition come first.
    best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0].rank, pair[0].partition))
    return tuple(EvidenceNode(*place, score) for place, score in best[:MOST_NODES])


def vote(evidence: Evidence) -> dict[int, float]:
    """Return the evidence for each partition, by partition id, the most first."""
    nodes = evidence.nodes
    return count_votes([node.partition for node in nodes], [node.score for node in nodes])


def count_votes(partition_ids: Sequence[int], scores: Sequence[float]) -> dict[int, float]:
    """Return the evidence for each partition, the most first.

    ``partition_ids`` and ``scores`` describe the best nodes, best first. A node counts by the
    square of its score relative to the best node. Each further node of a partition has ``FURTHER``
    times the weight of the previous one. So one node with the answer outweighs many that share a
    word, and of two partitions with such a node, the one with more matches wins.
    """
    votes: dict[int, float] = defaultdict(float)
    share: dict[int, float] = defaultdict(lambda: 1.0)
    for partition, score in zip(partition_ids, scores, strict=True):
        votes[partition] += (score / scores[0]) ** 2 * share[partition]
        share[partition] *= FURTHER
    return dict(sorted(votes.items(), key=lambda pair: (-pair[1], pair[0])))
