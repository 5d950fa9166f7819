"""Finds nodes by their titles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.hits import Hits
from pgs_neo4j.search.paths.indexes import covering_text_indexes
from pgs_neo4j.search.paths.text import scores_of

# FalkorDB GraphRAG SDK, published defaults.
MOST_KEYWORDS = 8
EXACT = 3
"""Nodes of each keyword whose title is the keyword."""
PART = 5
"""Nodes of each keyword whose title holds it, the shorter first."""
LEAST_CHARACTERS = 2
"""Characters of a keyword; a single letter is in almost every title."""


CANDIDATES = 50
"""Nodes that an index returns for a keyword; it knows no shortest title."""

_WORD = re.compile(r"[^\W_]")
_UNQUOTABLE = re.compile(r'["\\]')
_FIELD = re.compile(r"\w+")


async def find_by_title(
    db: Database, indexes: Sequence[SearchIndex], mapping: GraphMapping, keywords: Sequence[str]
) -> Hits:
    """Return the nodes whose titles are keywords or hold them, best first.

    ``keywords`` are in lower case; the first ``MOST_KEYWORDS`` count. The score is the share of the
    title that the keyword fills, 1 for an equal title. Full-text indexes are asked if they hold the
    titles of every label; a keyword then is whole words. Otherwise all titles are compared. Raises
    DatabaseError.
    """
    sought = [word for word in keywords if len(word) >= LEAST_CHARACTERS][:MOST_KEYWORDS]
    if not sought or not mapping.has_title:
        return Hits("no titles to compare")
    asked = {
        "title": mapping.title_properties,
        "labels": list(mapping.labels),
        "exact": EXACT,
        "part": PART,
    }
    names = [index.name for index in covering_title_indexes(indexes, mapping)]
    if not names:
        rows = await db.read(queries.get("search/find_by_title"), keywords=sought, **asked)
        return Hits(f"titles with {', '.join(sought)}", scores_of(rows))
    phrases = {keyword: _phrase(_fields(mapping), keyword) for keyword in sought}
    rows = await db.read(
        queries.get("search/find_by_title_index"),
        keywords=[keyword for keyword, phrase in phrases.items() if phrase],
        phrases=[phrase for phrase in phrases.values() if phrase],
        indexes=names,
        candidates=CANDIDATES,
        **asked,
    )
    method = f"titles with {', '.join(sought)} by full-text index {', '.join(names)}"
    return Hits(method, scores_of(rows))


def covering_title_indexes(
    indexes: Sequence[SearchIndex], mapping: GraphMapping
) -> tuple[SearchIndex, ...]:
    """Return the full-text indexes that together hold the titles of every label, or none at all.

    A property whose name is not a single word cannot be asked for alone.
    """
    fields = _fields(mapping)
    if not fields or not all(map(_FIELD.fullmatch, fields)):
        return ()
    return covering_text_indexes(indexes, replace(mapping, text=()))


def _fields(mapping: GraphMapping) -> tuple[str, ...]:
    return replace(mapping, text=()).words


def _phrase(titles: Sequence[str], keyword: str) -> str:
    """Return the query for a keyword in titles, empty without words.

    Between quotation marks, no other sign is an operator.
    """
    plain = _UNQUOTABLE.sub(" ", keyword).strip()
    return " ".join(f'{title}:"{plain}"' for title in titles) if _WORD.search(plain) else ""
