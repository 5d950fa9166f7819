"""Finds nodes that share a question's rarest words, where no index holds their texts."""

from __future__ import annotations

import math
from collections import Counter

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.normal_form import alike_signs, dropped_signs
from pgs_neo4j.text.words import words

LONG_TEXT = 2000  # characters from which a text's length counts against a match


async def find_by_shared_words(
    db: Database, mapping: GraphMapping, question: str, limit: int
) -> dict[str, float]:
    """Return the nodes that share the question's rarest words.

    Maps element id to score, best first.
    """
    terms = sorted(set(words(question)))
    if not terms or not mapping.has_text:
        return {}
    rows = await db.read(
        queries.get("retrieval/find_by_shared_words"),
        labels=list(mapping.labels),
        text=mapping.text_properties,
        facts=mapping.facts,
        terms=terms,
        dropped=list(dropped_signs()),
        alike=alike_signs(terms),
    )
    holders = Counter(place for row in rows for place in row["found"])
    rarity = {place: math.log(1 + len(rows) / count) for place, count in holders.items()}
    scored = [
        (sum(rarity[place] for place in row["found"]) / _length(row["size"]), row["element_id"])
        for row in rows
    ]
    return {node: score for score, node in sorted(scored, key=lambda s: (-s[0], s[1]))[:limit]}


def _length(size: int) -> float:
    return 1.0 + math.log(max(size / LONG_TEXT, 1.0))
