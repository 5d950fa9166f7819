"""Finds the nodes that match a question, by their words and by their stored embeddings.

Both are paths: the text index of the partitions, and the embeddings of their members. The best
nodes by the index are scored again by their titles and texts, and the names of labels and
relationship types are words of their nodes. The scores of both paths are added relative to the best
node of each.

The constants here were chosen on CACM, as the mean of eight divisions into partitions by Leiden.
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
"""Nodes of a question that count. More add nodes that share only its common words."""
VECTOR_SHARE = 0.2
"""Weight of embeddings relative to words. The best of 0.1 to 0.6 with LSA vectors."""
FURTHER = 0.6
"""Weight of a partition's next node. More favors subjects, less favors single nodes."""
CANDIDATES = 4
"""Nodes that an index returns for each one wanted: others may be of no partition asked for."""
# Numbers of stored embeddings up to which all are compared: about 0.4 s of the server.
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
        """Its partition and rank."""
        return Place(self.partition, self.rank)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The nodes that match a question, best first, at most ``MOST_NODES``.

    ``unknown`` are the content words of the question that no text holds, nor a name of a label or
    relationship type; ``word_count`` counts all of them. ``only_names``: no text holds any, but
    names do. ``best_cosine`` is that of the nearest stored embedding, None if none was compared.
    ``advice`` says what would let embeddings count. ``titles`` are those of the best nodes of
    partitions, unless only their embeddings or names match. ``document_votes`` are those of the
    documents for partitions, the most first, if any node is a passage of one.
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
    """A question to some partitions of a generation.

    ``vector`` ``(d,)`` is the question in the space of the stored embeddings, at unit length.
    """

    question: str
    mapping: GraphMapping
    generation: Generation
    partitions: Sequence[Partition]
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class NearMembers:
    """Places with their cosine above 0, best first, and how they were found.

    ``advice`` says how more could be found; then ``method`` is empty.
    """

    scores: dict[Place, float]
    method: str
    advice: str = ""


async def find_evidence(
    db: Database, order: EvidenceOrder, known: KnownTexts | None = None
) -> Evidence | None:
    """Return the nodes that match a question.

    The places of the texts are read once if ``known`` keeps them. None if a partition has no text
    index. Raises DatabaseError.
    """
    terms = terms_of(order.question)
    generation = order.generation
    spoken = list_words(order.question)
    # What does not need the texts is read while the index is.
    (index, asked), near = await together(
        together(
            read_index(db, generation.id, generation.partition_count, terms, known),
            match_words(db, order.mapping, spoken),
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
    nodes = _best_nodes(fuse(scored, near))
    scores = {node.place: node.score for node in nodes}
    return Evidence(
        nodes=nodes,
        titles=_list_titles(nodes, {placed.place: placed for placed, _ in texts}),
        document_votes=await find_document_votes(db, order.mapping, order.partitions, scores),
        unknown=tuple(word for word in find_unknown(index, spoken) if word not in named.words),
        word_count=len(spoken),
        only_names=bool(named.gains and not texts),
        best_cosine=max(near.scores.values(), default=0.0) if near and near.method else None,
        method=f"text index and {near.method}" if near and near.method else "text index",
        advice=near.advice if near else "",
    )


def _list_titles(
    nodes: Sequence[EvidenceNode], texts: Mapping[Place, PlacedNode]
) -> dict[Place, str]:
    """Return the title of the best node of each partition that is among ``texts``."""
    best = {node.partition: node.place for node in reversed(nodes)}
    return {place: texts[place].node.title for place in best.values() if place in texts}


def list_words(question: str) -> list[str]:
    """Return the distinct content words of a question that the index can hold.

    Without any, these are its numbers.
    """
    spoken = list(dict.fromkeys(words(question) or NUMBER.findall(question)))
    return [word for word, terms in zip(spoken, terms_by_text(spoken), strict=True) if terms]


def find_unknown(index: TextIndex, spoken: Sequence[str]) -> tuple[str, ...]:
    """Return those of some words that no text holds in any form.

    ``index`` has the postings of these words.
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

    While that is quick, every embedding is compared. Otherwise a vector index of the user's finds
    them. None without a vector or embeddings, or if they cannot be compared. Raises DatabaseError.
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
    if not is_quick(sum(part.size for part in partitions), len(vector)):
        indexes = await covering_indexes(db, mapping, len(vector))
        if not indexes:
            return NearMembers({}, "", TOO_MANY)
    try:
        rows = await _read_nearest(db, indexes, k, wanted)
    except QueryError:
        # The index was dropped a moment ago, or an embedding is not finite: words decide alone.
        return None
    method = f"vector index {', '.join(indexes)}" if indexes else "every stored embedding"
    scores = {Place(row["partition"], row["rank"]): row["score"] for row in rows}
    return NearMembers(dict(list(scores.items())[:k]), method)


async def _read_nearest(db: Database, indexes: Sequence[str], k: int, wanted: Row) -> list[Row]:
    """Return the nearest members by each index, or without one; best first."""
    if not indexes:
        return await db.read(queries.get("search/nearest_members"), **wanted)
    statement = queries.get("search/nearest_members_by_index")
    rows = [
        row
        for index in indexes
        for row in await db.read(statement, index=index, candidates=CANDIDATES * k, **wanted)
    ]
    return sorted(rows, key=lambda row: (-row["score"], row["partition"], row["rank"]))


def is_quick(count: int, dimensions: int) -> bool:
    """Return whether ``count`` embeddings can be compared with a question in a moment."""
    return count * dimensions <= QUICK


def fuse(scored: Mapping[Place, float], near: NearMembers | None) -> dict[Place, float]:
    """Return the scores by words and embeddings as one, each relative to its best node.

    Without embeddings, these are the scores by words.
    """
    if near is None or not near.scores:
        return dict(scored)
    total: dict[Place, float] = defaultdict(float)
    for scores, weight in ((scored, 1 - VECTOR_SHARE), (near.scores, VECTOR_SHARE)):
        best = max(scores.values(), default=1.0)
        for place, score in scores.items():
            total[place] += weight * score / best
    return total


def _best_nodes(scores: Mapping[Place, float]) -> tuple[EvidenceNode, ...]:
    # Of equal nodes, as many with the same name are, each partition's heaviest ones come first.
    best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0].rank, pair[0].partition))
    return tuple(EvidenceNode(*place, score) for place, score in best[:MOST_NODES])


def vote(evidence: Evidence) -> dict[int, float]:
    """Return the evidence of each partition, the most first."""
    nodes = evidence.nodes
    return count_votes([node.partition for node in nodes], [node.score for node in nodes])


def count_votes(partition_ids: Sequence[int], scores: Sequence[float]) -> dict[int, float]:
    """Return the evidence of each partition, from the partitions and scores of the best nodes.

    A node counts as the square of its score relative to the best one, which comes first. Each
    further node of a partition counts ``FURTHER`` of what the one before it would. So one node that
    answers outweighs many that share a word, and of two partitions with such a node, the one with
    more wins.
    """
    votes: dict[int, float] = defaultdict(float)
    share: dict[int, float] = defaultdict(lambda: 1.0)
    for partition, score in zip(partition_ids, scores, strict=True):
        votes[partition] += (score / scores[0]) ** 2 * share[partition]
        share[partition] *= FURTHER
    return dict(sorted(votes.items(), key=lambda pair: (-pair[1], pair[0])))
