"""Finds nodes by the words of a question, also in a graph that changed since it was partitioned.

The text index of the partitions holds the texts as of the last partitioning. If the graph may have
changed, the nodes that it finds are checked by their present texts, and where that is affordable,
all texts are read for what is new. Without a text index, nodes are found by the words that their
texts share with the question.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import GraphMapping, Node
from pgs_neo4j.search.nodes import read_nodes
from pgs_neo4j.search.paths.own_index import RECENT_TOKENS, OwnIndex, find_by_own_index
from pgs_neo4j.search.paths.walk import Hits
from pgs_neo4j.text.node_text import searched_text
from pgs_neo4j.text.normal_form import alike_signs, dropped_signs
from pgs_neo4j.text.ranking import rarity
from pgs_neo4j.text.terms.postings import terms_of, terms_of_stems
from pgs_neo4j.text.terms.rescoring import Candidate, rescore
from pgs_neo4j.text.words import MIN_STEM, stem, words

MOST_READ_TOKENS = 2_000_000
"""Tokens of a graph whose texts a search reads if it changed: about 8 MB."""
MOST_READ_S = 2.0
"""Seconds for that; a path must end before the time limit that would leave it out."""
SHARED_WORDS = "shared words"
READ_AGAIN = "text index of the partitions and all present texts"
LONG_TEXT = 2000  # characters from which a text's length counts against a match
CANDIDATES = 200
"""Nodes that are scored again by their texts, unless more are wanted."""
PART_SHARE = 0.1
"""Share of its score that a text keeps whose words only contain those of the question. It may be a
match in a language that compounds words, and comes after texts with whole words."""
HEAD = 6_000
"""Characters of each property that are read for it."""


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


async def find_by_shared_words(
    db: Database, mapping: GraphMapping, question: str, limit: int
) -> dict[str, float]:
    """Return the nodes whose texts match a question best.

    Every text is searched for the beginnings of the question's words, which texts with any form of
    them contain. The best by these are then scored by their words. Maps element id to score, best
    first. Raises DatabaseError.
    """
    spoken = words(question)
    asked = Counter(map(_beginning, spoken))
    terms = sorted(asked)
    if not terms or not mapping.has_text:
        return {}
    rows = await db.read(
        queries.get("search/find_by_shared_words"),
        labels=list(mapping.labels),
        text=mapping.text_properties,
        facts=mapping.facts,
        terms=terms,
        dropped=list(dropped_signs()),
        alike=alike_signs(terms),
    )
    holders = Counter(place for row in rows for place in row["found"])
    weights = {
        place: asked[terms[place]] * math.log(1 + len(rows) / count)
        for place, count in holders.items()
    }
    scores = {row["element_id"]: _score(row, weights) for row in rows}
    best = sorted(scores, key=lambda node: (-scores[node], node))[: max(limit, CANDIDATES)]
    heads = await db.read(
        queries.get("search/read_heads"),
        nodes=best,
        text=mapping.text_properties,
        title=mapping.title_properties,
        most=HEAD,
    )
    candidates = [
        Candidate(
            searched_text([head["title"]]),
            searched_text(head["text"]),
            scores[head["element_id"]] * (1.0 if head["cut"] or mapping.facts else PART_SHARE),
        )
        for head in heads
    ]
    held = {terms[place]: count for place, count in holders.items()}
    stems = {stem(word): held.get(_beginning(word), 0) for word in spoken}
    counts = dict(zip(terms_of_stems([*stems]), stems.values(), strict=True))
    scored = await asyncio.to_thread(
        rescore, question, candidates, counts, len(rows), read=RECENT_TOKENS.read
    )
    found = {head["element_id"]: score for head, score in zip(heads, scored, strict=True) if score}
    nodes = sorted(found, key=lambda node: (-found[node], node))
    return {node: found[node] for node in nodes[:limit]}


def _beginning(word: str) -> str:
    """Return what every form of a word begins with; a short stem would begin too many others."""
    stemmed = stem(word)
    return stemmed if len(stemmed) >= MIN_STEM else word


def _score(row: Row, weights: dict[int, float]) -> float:
    """Return the rarity of the words that a text holds, less for a long text."""
    length = 1.0 + math.log(max(row["size"] / LONG_TEXT, 1.0))
    return sum(weights[place] for place in row["found"]) / length
