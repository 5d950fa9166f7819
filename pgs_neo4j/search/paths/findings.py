"""Finds what earlier runs found about the words of a question."""

from __future__ import annotations

import math

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import FoundFinding
from pgs_neo4j.search.paths.hits import Hits
from pgs_neo4j.search.paths.text import searched_words

LEAST_SHARE = 0.5
"""Share of the question's words that a finding holds."""


async def find_findings(
    db: Database, graph: str | None, question: str, k: int, *, sessions: str = ""
) -> Hits:
    """Return the ``k`` findings of a graph's runs that hold most of a question's words.

    Only runs of sessions whose names begin with ``sessions`` count. Raises DatabaseError.
    """
    spoken = searched_words(question)
    if graph is None or not spoken:
        return Hits("no runs to look at" if graph is None else "no words to search for")
    rows = await db.read(
        queries.get("search/find_findings"),
        graph=graph,
        prefix=sessions,
        words=spoken,
        least=math.ceil(LEAST_SHARE * len(spoken)),
        k=k,
    )
    findings = (
        FoundFinding(
            id=row["id"],
            text=row["text"],
            run=row["run"],
            partition=row["partition"],
            score=row["count"] / len(spoken),
        )
        for row in rows
    )
    return Hits("words in the findings of earlier runs", things=tuple(findings))
