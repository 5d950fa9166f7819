"""Lets documents vote for partitions, if a graph has passages of documents.

A question about a collection of documents needs several of them. A document usually lies in one
partition. The passages of one document repeat each other, so each document has one vote, which
counts by its rank. Documents are ranked by the sum of three scores, each relative to the best
document by that score: the score of its best passage, the scores of the matching entities that it
mentions, and how often the best documents use the words of its title. A question seldom names every
document that its answer needs, but the best documents refer to the others.
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
"""Added to the rank of a document, so that the first does not decide alone (Cormack 2009 uses 60
for long lists). On pages of manuals, 3 and 10 lead to the same share of the needed text."""
MOST_MENTIONS = 50
"""An entity that more passages mention does not count. It distinguishes documents too little to be
worth the time of reading its mentions."""
BEST = 3
"""Number of best documents whose texts are searched for the titles of other documents. All numbers
from 1 to 10 lead to the same share of the needed text.
"""
MOST_PASSAGES, MOST_CHARACTERS = 15, 4_000
"""Limits of the search for titles: passages of a document, and characters of each passage. With 5
passages instead of 15, the partitions that are read contain 1 % less of the needed text.
"""
MOST_TIMES = 19
"""Maximum number of occurrences of a title's word that count in a document; they count by their
logarithm.
"""


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """The number of a document's passages in one partition that mention the node at ``place``."""

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
    """Return the documents' votes by partition id, the most votes first.

    ``scores`` maps the nodes that match a question to their scores, best first. The result is empty
    if no such node is a passage. Raises DatabaseError.
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
    """Return the element id of each passage's document, in the order of ``places``.

    Nodes that are not passages are left out. Raises DatabaseError.
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
    """Return the mentions of the nodes at ``places``, which are not passages, in a fixed order.

    Raises DatabaseError.
    """
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
    # The order is fixed because sums of floats depend on it.
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
    """Return the score that each document earns from the entities it mentions.

    An entity divides its score among the documents that mention it, so an entity of few documents
    adds more to each. The share of a document counts by the logarithm of the number of mentioning
    passages.
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
    """Return how strongly other documents refer to each document by the words of its title.

    ``texts`` maps the documents that may refer to others to their texts. Each referring document
    counts by the square of its weight. A word counts by its rarity among the ``titles``. A longer
    title needs more matching words for the same score.
    """
    names, terms = list(titles), terms_by_text(list(titles.values()))
    holders = Counter(term for of_title in terms for term in of_title)
    found: dict[str, float] = defaultdict(float)
    for document, counts in zip(texts, _count_texts(list(texts.values()), holders), strict=True):
        term_weights = {
            term: math.log1p(min(count, MOST_TIMES)) * rarity(len(names), holders[term])
            for term, count in counts.items()
        }
        for name, of_title in zip(names, terms, strict=True):
            if name != document:
                strength = sum(term_weights.get(term, 0.0) for term in of_title)
                found[name] += weights[document] ** 2 * strength / math.sqrt(1 + len(of_title))
    return {name: score for name, score in found.items() if score > 0}


def _count_texts(texts: Sequence[str], wanted: Collection[int]) -> list[dict[int, int]]:
    """Return how often each text contains each of the ``wanted`` terms, omitting absent terms."""
    counted = []
    for text in texts:
        of_text = count_terms([text])
        pairs = zip(of_text.terms.tolist(), of_text.counts.tolist(), strict=True)
        counted.append({term: count for term, count in pairs if term in wanted})
    return counted


def rank_documents(*scores: Mapping[str, float]) -> list[str]:
    """Return documents, best first, by the sum of several scores.

    Each score counts relative to the best document by that score.
    """
    total: dict[str, float] = defaultdict(float)
    for by_document in scores:
        best = max(by_document.values(), default=0.0)
        for document, score in by_document.items():
            total[document] += score / best if best else 0.0
    return sorted(total, key=lambda one: (-total[one], one))


def place_documents(documents: Mapping[Place, str], mentions: Iterable[Mention]) -> dict[str, int]:
    """Return the partition of each document.

    A document that is too large for one partition lies in several. Then the partition of its best
    passage, the first in ``documents``, counts. A document without a matching passage counts for
    the partition in which most of its passages mention a matching node.
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
    """Return the votes by partition, the most first; ``ranked`` are the documents, best first.

    A document gives its partition the reciprocal of its rank plus ``HEAD``.
    """
    votes: dict[int, float] = defaultdict(float)
    for rank, document in enumerate(ranked):
        votes[homes[document]] += 1 / (HEAD + rank)
    return dict(sorted(votes.items(), key=lambda pair: (-pair[1], pair[0])))
