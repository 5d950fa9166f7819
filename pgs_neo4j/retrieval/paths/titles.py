"""Finds nodes by their titles."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval.paths.hits import Hits
from pgs_neo4j.retrieval.paths.text import scores_of

# FalkorDB GraphRAG SDK, published defaults.
MOST_KEYWORDS = 8
EXACT = 3
"""Nodes of each keyword whose title is the keyword."""
PART = 5
"""Nodes of each keyword whose title holds it, the shorter first."""
LEAST_CHARACTERS = 2
"""Characters of a keyword; a single letter is in almost every title."""


async def find_by_title(db: Database, mapping: GraphMapping, keywords: Sequence[str]) -> Hits:
    """Return the nodes whose titles are keywords or hold them, best first.

    ``keywords`` are in lower case; the first ``MOST_KEYWORDS`` count. The score is the share of the
    title that the keyword fills, 1 for an equal title. Raises DatabaseError.
    """
    sought = [word for word in keywords if len(word) >= LEAST_CHARACTERS][:MOST_KEYWORDS]
    if not sought or not mapping.title:
        return Hits("no titles to compare")
    rows = await db.read(
        queries.get("retrieval/find_by_title"),
        keywords=sought,
        title=mapping.title,
        labels=list(mapping.labels),
        exact=EXACT,
        part=PART,
    )
    return Hits(f"titles with {', '.join(sought)}", scores_of(rows))
