"""Finds nodes that share words with a question, where no index holds their texts."""

from __future__ import annotations

import asyncio
import math
from collections import Counter

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.recent_tokens import RECENT_TOKENS
from pgs_neo4j.text.node_text import searched_text
from pgs_neo4j.text.normal_form import alike_signs, dropped_signs
from pgs_neo4j.text.terms.postings import terms_of_stems
from pgs_neo4j.text.terms.rescoring import Candidate, rescore
from pgs_neo4j.text.words import MIN_STEM, stem, words

LONG_TEXT = 2000  # characters from which a text's length counts against a match
CANDIDATES = 200
"""Nodes that are scored again by their texts, unless more are wanted."""
PART_SHARE = 0.1
"""Share of its score that a text keeps whose words only contain those of the question. It may be a
match in a language that compounds words, and comes after texts with whole words."""
HEAD = 6_000
"""Characters of each property that are read for it."""


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
