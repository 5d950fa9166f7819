"""Finds nodes by the words of a question, even in a graph that changed since it was partitioned.

The text index of the partitions contains the texts as of the last partitioning. If the graph may
have changed, the nodes that the index finds are checked by their present texts. If the graph is
small enough, all texts are read to find new ones. Without a text index, nodes are found by the
words that their texts share with the question.
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
"""Maximum size in tokens of a changed graph whose texts a search reads completely: about 8 MB."""
MOST_READ_S = 2.0
"""Maximum seconds to read these texts. The path has to end before its own time limit, which would
leave it out.
"""
SHARED_WORDS = "shared words"
READ_AGAIN = "text index of the partitions and all present texts"
LONG_TEXT = 2000  # characters above which a text's length lowers its score
CANDIDATES = 200
"""Number of nodes that are scored again by their texts, unless more are wanted."""
PART_SHARE = 0.1
"""Share of its score that a text keeps if its words only contain words of the question. It may
match in a language with compound words, but comes after texts with whole words."""
HEAD = 6_000
"""Characters of each property that are read to score a node again."""


async def find_by_words(
    db: Database, own: OwnIndex | None, mapping: GraphMapping, question: str, k: int
) -> Hits:
    """Return the ``k`` nodes that match the question's words best.

    Without a text index of the partitions, all texts are read. Raises DatabaseError.
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
    """Return the nodes whose present texts share words with the question, best first.

    Returns None if the graph is too large to read, or if reading takes too long.
    """
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
    """Return the scores of the nodes whose present text contains a word of a question, best first.

    ``scores`` come from the text index. A node that the index lacks gets a share of the best score:
    the share of the question's words, weighted by rarity among ``nodes``, that its text contains.
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
    """Return the scores of the nodes whose texts match a question best, by element id, best first.

    Every text is searched for the beginnings of the question's words, which all forms of a word
    share. The best nodes are then scored again by whole words. Raises DatabaseError.
    """
    question_words = words(question)
    asked = Counter(map(_common_beginning, question_words))
    terms = sorted(asked)
    if not terms or not mapping.has_text:
        return {}
    rows = await db.read(
        queries.get("search/paths/find_by_shared_words"),
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
    scores = {row["element_id"]: _score_row(row, weights) for row in rows}
    best = sorted(scores, key=lambda node: (-scores[node], node))[: max(limit, CANDIDATES)]
    heads = await db.read(
        queries.get("search/paths/read_heads"),
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
    stems = {stem(word): held.get(_common_beginning(word), 0) for word in question_words}
    counts = dict(zip(terms_of_stems([*stems]), stems.values(), strict=True))
    scored = await asyncio.to_thread(
        rescore, question, candidates, counts, len(rows), read=RECENT_TOKENS.read
    )
    found = {head["element_id"]: score for head, score in zip(heads, scored, strict=True) if score}
    nodes = sorted(found, key=lambda node: (-found[node], node))
    return {node: found[node] for node in nodes[:limit]}


def _common_beginning(word: str) -> str:
    """Return the beginning that all forms of a word share.

    That is its stem, or the whole word if the stem is so short that many other words begin with it.
    """
    stemmed = stem(word)
    return stemmed if len(stemmed) >= MIN_STEM else word


def _score_row(row: Row, weights: dict[int, float]) -> float:
    """Return the summed rarity of the question's words in a text, lowered for a long text."""
    length = 1.0 + math.log(max(row["size"] / LONG_TEXT, 1.0))
    return sum(weights[place] for place in row["found"]) / length
