"""Finds nodes that hold the words of a question, by full-text indexes, else by a scan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval.paths.hits import Hits
from pgs_neo4j.retrieval.space import lexical_matches
from pgs_neo4j.text.stopwords import FUNCTION_WORDS
from pgs_neo4j.text.words import STOP_WORDS, words

MOST_WORDS = 200
"""Words of a question that are searched, so that a long one stays quick."""
SHORT = 2
"""Letters of the words that are in no list of function words, such as "is"."""
CANDIDATES = 4
"""Nodes that an index returns for each one wanted, since it may know other labels as well."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class FullTextIndex:
    """A full-text index on nodes."""

    name: str
    labels: tuple[str, ...]
    properties: tuple[str, ...]


async def find_by_text(db: Database, mapping: GraphMapping, question: str, k: int) -> Hits:
    """Return the ``k`` nodes that hold the question's words best.

    Without a full-text index on every label of the view, all its texts are read. Raises
    DatabaseError.
    """
    spoken = searched_words(question)
    if not spoken:
        return Hits("no words to search for")
    names = covering_text_indexes(await list_text_indexes(db), mapping)
    if not names:
        return Hits("shared words", await lexical_matches(db, mapping, question, k))
    rows = await db.read(
        queries.get("retrieval/find_by_text"),
        indexes=list(names),
        words=" ".join(spoken),
        labels=list(mapping.labels),
        candidates=CANDIDATES * k,
        k=k,
    )
    return Hits(f"full-text index {', '.join(names)}", scores_of(rows))


async def list_text_indexes(db: Database) -> list[FullTextIndex]:
    """Return the full-text indexes on nodes that can be asked. Raises DatabaseError."""
    rows = await db.read(queries.get("retrieval/read_text_indexes"))
    return [
        FullTextIndex(row["name"], tuple(row["labels"]), tuple(row["properties"])) for row in rows
    ]


def covering_text_indexes(
    indexes: Sequence[FullTextIndex], mapping: GraphMapping
) -> tuple[str, ...]:
    """Return the indexes that together hold texts or titles of every mapped label, or none at all.

    Searching only a part of the view would give a wrong answer. For each label, the index with the
    most of its texts is taken.
    """
    wanted = [*mapping.text, *([mapping.title] if mapping.title else [])]
    names: dict[str, None] = {}
    for label in mapping.labels:
        covering = [
            (sum(name in index.properties for name in wanted), index.name)
            for index in indexes
            if label in index.labels and set(wanted) & set(index.properties)
        ]
        if not covering:
            return ()
        names[max(covering, key=lambda pair: (pair[0], pair[1]))[1]] = None
    return tuple(names)


def searched_words(question: str) -> list[str]:
    """Return the words of a question that a full-text index is asked for, each once.

    They are as they stand in it and as ``words`` splits them, in lower case, so that none is an
    operator. Every other sign is left out, and so are function words unless there are no others.
    """
    spoken = _WORD.findall(question.lower())
    content = [word for word in spoken if not _is_function_word(word)]
    return list(dict.fromkeys([*(content or spoken), *words(question)]))[:MOST_WORDS]


def _is_function_word(word: str) -> bool:
    return word in FUNCTION_WORDS or (len(word) <= SHORT and word in STOP_WORDS)


def scores_of(rows: Sequence[Row]) -> dict[str, float]:
    """Return the scores of rows by element id, in their order."""
    return {row["element_id"]: row["score"] for row in rows}
