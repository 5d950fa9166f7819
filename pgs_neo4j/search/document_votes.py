"""Lets documents vote for partitions, where a graph has passages of documents.

A question about a collection of documents needs several of them, and each is whole in a partition.
The passages of one document repeat each other, so every document has one vote, by its rank. Three
things speak for a document, and each counts relative to the best one by it: its best passage; that
it mentions the entities that match the question; and that the best documents hold the words of its
title. A question seldom says all that its answer needs, but what answers it refers to the rest.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import together
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.model.graph import PART_TYPES
from pgs_neo4j.search.nodes import Place, group_by_partition
from pgs_neo4j.text.ranking import rarity
from pgs_neo4j.text.terms.postings import count_terms, terms_by_text

HEAD = 3
"""Added to the rank of a document, so that the first does not decide alone (Cormack 2009 has 60 for
long lists). On pages of manuals, 3 and 10 read the same share of the needed text."""
MOST_MENTIONS = 50
"""Passages that mention an entity for it to speak for their documents. What more of them mention
tells documents apart too little to be worth the time of reading it."""
BEST = 3
"""Documents whose texts are searched for the titles of others. 1 to 10 read as much."""
MOST_PASSAGES, MOST_CHARACTERS = 15, 4_000
"""Passages of such a document that are searched, and characters of each. With a third of them, 15
passages become 5, and the partitions that are read hold 1 % less of the needed text."""
MOST_TIMES = 19
"""Times that a word of a title counts in a document. It counts by its logarithm."""


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """How many passages of a document in one partition mention the node at a place."""

    place: Place
    document: str
    partition: int
    passages: int


async def find_document_votes(
    db: Database,
    mapping: GraphMapping,
    partitions: Sequence[Partition],
    scores: Mapping[Place, float],
) -> dict[int, float]:
    """Return the votes of documents for partitions, the most first.

    ``scores`` are those of the nodes that match a question, best first. Empty if none of them is a
    passage. Raises DatabaseError.
    """
    documents = await read_documents(db, mapping, partitions, scores)
    if not documents:
        return {}
    by_passage = score_by_passages(scores, documents)
    best = sorted(by_passage, key=lambda one: (-by_passage[one], one))[:BEST]
    others = scores.keys() - documents.keys()
    mentions, texts = await together(
        read_mentions(db, mapping, partitions, others), _read_texts(db, mapping, best)
    )
    by_mention = score_by_mentions(scores, mentions)
    titles = await _read_titles(db, {**by_passage, **by_mention})
    by_title = await asyncio.to_thread(
        score_by_titles, titles, {one: texts.get(one, "") for one in best}, by_passage
    )
    ranked = rank_documents(by_passage, by_mention, by_title)
    return count_document_votes(ranked, place_documents(documents, mentions))


async def read_documents(
    db: Database, mapping: GraphMapping, partitions: Iterable[Partition], places: Iterable[Place]
) -> Mapping[Place, str]:
    """Return the document of each passage among ``places``, as an element id, in their order.

    Nodes that are no passages are left out. Raises DatabaseError.
    """
    if not mapping.chunk_labels:
        return {}
    wanted = list(places)
    rows = await db.read(
        queries.get("search/read_documents"),
        places=group_by_partition(partitions, wanted),
        labels=list(mapping.chunk_labels),
        types=list(PART_TYPES),
    )
    found = {Place(row["partition"], row["rank"]): row["document"] for row in rows}
    return {place: found[place] for place in wanted if place in found}


async def read_mentions(
    db: Database, mapping: GraphMapping, partitions: Sequence[Partition], places: Collection[Place]
) -> list[Mention]:
    """Return what documents mention of ``places``, which are no passages. Raises DatabaseError."""
    if not (places and mapping.mention_types):
        return []
    rows = await db.read(
        queries.get("search/read_mentioning_documents"),
        places=group_by_partition(partitions, places),
        partitions=[part.uid for part in partitions],
        labels=list(mapping.chunk_labels),
        types=list(PART_TYPES),
        mentions=list(mapping.mention_types),
        most=MOST_MENTIONS,
    )
    # In one order, since sums of floats depend on it.
    return sorted(
        Mention(Place(row["partition"], row["rank"]), row["document"], row["home"], row["passages"])
        for row in rows
    )


async def _read_titles(db: Database, documents: Iterable[str]) -> dict[str, str]:
    query = queries.get("search/read_document_titles")
    rows = await db.read(query, ids=sorted(documents))
    return {row["document"]: row["title"] for row in rows}


async def _read_texts(
    db: Database, mapping: GraphMapping, documents: Sequence[str]
) -> dict[str, str]:
    rows = await db.read(
        queries.get("search/read_document_texts"),
        ids=list(documents),
        labels=list(mapping.chunk_labels),
        types=list(PART_TYPES),
        text=mapping.text_properties,
        passages=MOST_PASSAGES,
        most=MOST_CHARACTERS,
    )
    return {row["document"]: "\n".join(row["texts"]) for row in rows}


def score_by_passages(
    scores: Mapping[Place, float], documents: Mapping[Place, str]
) -> dict[str, float]:
    """Return the score of the best passage of each document."""
    found: dict[str, float] = {}
    for place, document in documents.items():
        found[document] = max(found.get(document, 0.0), scores[place])
    return found


def score_by_mentions(
    scores: Mapping[Place, float], mentions: Iterable[Mention]
) -> dict[str, float]:
    """Return what the entities that documents mention say for them.

    An entity divides its score among the documents that mention it, so what few of them mention
    says more. In each it counts by the logarithm of the passages that do.
    """
    passages: dict[Place, Counter[str]] = defaultdict(Counter)
    for one in mentions:
        passages[one.place][one.document] += one.passages
    found: dict[str, float] = defaultdict(float)
    for place, counts in passages.items():
        for document, count in counts.items():
            found[document] += scores[place] / len(counts) * math.log1p(count)
    return dict(found)


def score_by_titles(
    titles: Mapping[str, str], texts: Mapping[str, str], weights: Mapping[str, float]
) -> dict[str, float]:
    """Return how strongly other documents refer to each one by the words of its title.

    ``texts`` are those of the documents that may refer to others. Each counts by the square of its
    weight. A word counts by its rarity among the ``titles``, and longer titles need more words.
    """
    names, terms = list(titles), terms_by_text(list(titles.values()))
    holders = Counter(term for of_title in terms for term in of_title)
    found: dict[str, float] = defaultdict(float)
    for document, counts in zip(texts, _count_texts(list(texts.values()), holders), strict=True):
        said = {
            term: math.log1p(min(count, MOST_TIMES)) * rarity(len(names), holders[term])
            for term, count in counts.items()
        }
        for name, of_title in zip(names, terms, strict=True):
            if name != document:
                told = sum(said.get(term, 0.0) for term in of_title)
                found[name] += weights[document] ** 2 * told / math.sqrt(1 + len(of_title))
    return {name: score for name, score in found.items() if score > 0}


def _count_texts(texts: Sequence[str], wanted: Collection[int]) -> list[dict[int, int]]:
    """Return how often each text holds those of its terms that are ``wanted``."""
    counted = []
    for text in texts:
        of_text = count_terms([text])
        pairs = zip(of_text.terms.tolist(), of_text.counts.tolist(), strict=True)
        counted.append({term: count for term, count in pairs if term in wanted})
    return counted


def rank_documents(*scores: Mapping[str, float]) -> list[str]:
    """Return documents by the sum of several scores, each relative to the best one, best first."""
    total: dict[str, float] = defaultdict(float)
    for by_document in scores:
        best = max(by_document.values(), default=0.0)
        for document, score in by_document.items():
            total[document] += score / best if best else 0.0
    return sorted(total, key=lambda one: (-total[one], one))


def place_documents(documents: Mapping[Place, str], mentions: Iterable[Mention]) -> dict[str, int]:
    """Return the partition of each document.

    One that is too large for a partition lies in several. It is in that of its best passage, the
    first of ``documents``, or else in the one where most of its passages mention something.
    """
    homes: dict[str, Counter[int]] = defaultdict(Counter)
    for one in mentions:
        homes[one.document][one.partition] += one.passages
    found = {
        document: min(counts, key=lambda part: (-counts[part], part))
        for document, counts in homes.items()
    }
    best: dict[str, int] = {}
    for place, document in documents.items():
        best.setdefault(document, place.partition)
    return {**found, **best}


def count_document_votes(ranked: Sequence[str], homes: Mapping[str, int]) -> dict[int, float]:
    """Return the votes for partitions, the most first, of documents that are ranked best first.

    A document votes for its partition by the reciprocal of its rank.
    """
    votes: dict[int, float] = defaultdict(float)
    for rank, document in enumerate(ranked):
        votes[homes[document]] += 1 / (HEAD + rank)
    return dict(sorted(votes.items(), key=lambda pair: (-pair[1], pair[0])))
