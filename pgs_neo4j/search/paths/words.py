"""Finds nodes by the words of a question, also in a graph that changed since it was partitioned.

The text index of the partitions holds the texts as of the last partitioning. If the graph may have
changed, the nodes that it finds are checked by their present texts, and where that is affordable,
all texts are read for what is new.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping, Node
from pgs_neo4j.search.nodes import read_nodes
from pgs_neo4j.search.paths.hits import Hits
from pgs_neo4j.search.paths.own_index import OwnIndex, find_by_own_index
from pgs_neo4j.search.shared_words import find_by_shared_words
from pgs_neo4j.text.ranking import rarity
from pgs_neo4j.text.terms.postings import terms_of

MOST_READ_TOKENS = 2_000_000
"""Tokens of a graph whose texts a search reads if it changed: about 8 MB."""
MOST_READ_S = 2.0
"""Seconds for that; a path must end before the time limit that would leave it out."""
SHARED_WORDS = "shared words"
READ_AGAIN = "text index of the partitions and all present texts"


async def find_by_words(
    db: Database, own: OwnIndex | None, mapping: GraphMapping, question: str, k: int
) -> Hits:
    """Return the ``k`` nodes that hold the question's words best, by the text index if any.

    Without one, all texts are read. Raises DatabaseError.
    """
    hits = await find_by_own_index(db, own, mapping, question, k) if own else None
    if own is None or hits is None:
        return Hits(SHARED_WORDS, await find_by_shared_words(db, mapping, question, k))
    if not own.changed:
        return hits
    more = await _read_all(db, own, mapping, question, k)
    nodes = await read_nodes(db, mapping, list(dict.fromkeys((*hits.scores, *(more or ())))))
    scores = await asyncio.to_thread(score_present, question, nodes, hits.scores)
    return Hits(hits.method if more is None else READ_AGAIN, dict(list(scores.items())[:k]))


async def _read_all(
    db: Database, own: OwnIndex, mapping: GraphMapping, question: str, k: int
) -> list[str] | None:
    """Return nodes that share a question's words now; None if there is too much to read."""
    if sum(part.tokens for part in own.partitions) > MOST_READ_TOKENS:
        return None
    try:
        async with asyncio.timeout(MOST_READ_S):
            return [*await find_by_shared_words(db, mapping, question, k)]
    except TimeoutError:
        return None


def score_present(
    question: str, nodes: Sequence[Node], scores: Mapping[str, float]
) -> dict[str, float]:
    """Return the scores of the nodes whose present text holds a word of a question, best first.

    ``scores`` are those of the text index. A node that it lacks counts by the share of the
    question, weighted by rarity among ``nodes``, that its text holds, relative to the best score.
    """
    terms = frozenset(terms_of(question))
    held = {
        node.element_id: terms.intersection(terms_of(f"{node.title}\n{node.text}"))
        for node in nodes
    }
    holders = Counter(term for own in held.values() for term in own)
    weights = {term: rarity(len(held), count) for term, count in holders.items()}
    total = sum(weights.values())
    best = max((scores.get(node, 0.0) for node, own in held.items() if own), default=0.0) or 1.0
    present = {
        node: scores[node] if node in scores else best * sum(weights[term] for term in own) / total
        for node, own in held.items()
        if own
    }
    return dict(sorted(present.items(), key=lambda pair: (-pair[1], pair[0])))
