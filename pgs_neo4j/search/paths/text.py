"""Finds nodes by the words of a question in their texts or titles, and findings of earlier runs.

Full-text indexes are used if they cover the view. Otherwise texts and titles are read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.model import FoundFinding, GraphMapping
from pgs_neo4j.search.evidence import list_words
from pgs_neo4j.search.known_indexes import covering_text_indexes
from pgs_neo4j.search.names import NAMES, find_named_nodes
from pgs_neo4j.search.paths.own_index import OwnIndex
from pgs_neo4j.search.paths.walk import Hits
from pgs_neo4j.search.paths.words import find_by_words
from pgs_neo4j.text.normal_form import find_words
from pgs_neo4j.text.words import FUNCTION_WORDS, STOP_WORDS, words

MOST_WORDS = 200
"""Maximum number of words of a question that are searched, so that a long question stays quick."""
SHORT = 2
"""Maximum letters of a stop word that also counts as a function word, such as "is"."""
CANDIDATES = 4
"""Nodes to request from an index per wanted node if the index also has nodes of other labels."""
# The following values are published defaults of the FalkorDB GraphRAG SDK.
MOST_KEYWORDS = 8
EXACT = 3
"""Maximum number of nodes per keyword whose title equals the keyword."""
PART = 5
"""Maximum number of nodes per keyword whose title contains the keyword, shorter titles first."""
LEAST_CHARACTERS = 2
"""Minimum length of a keyword, because a single letter is in almost every title."""
TITLE_CANDIDATES = 50
"""Nodes to request from an index per keyword, because an index does not order by title length."""
_WORD = re.compile(r"[^\W_]")
_UNQUOTABLE = re.compile(r'["\\]')
_FIELD = re.compile(r"\w+")
LEAST_SHARE = 0.5
"""Minimum share of the question's words that a finding must contain."""


async def find_by_text(
    db: Database,
    indexes: Sequence[SearchIndex],
    own: OwnIndex | None,
    mapping: GraphMapping,
    question: str,
    k: int,
) -> Hits:
    """Return the ``k`` nodes that match the question's words best.

    Full-text indexes are searched if they cover every label of the view. Otherwise the text index
    of its partitions is searched. All texts are read if there are no partitions, or if the graph
    has changed since the partitioning. The text index of the partitions is also searched if the
    mapping names facts, because a full-text index of nodes does not contain facts. The names of a
    node's labels and relationship types count as its words. Raises DatabaseError.
    """
    asked_words = words_to_search(question)
    if not asked_words:
        return Hits("no words to search for")
    covering = covering_text_indexes(indexes, mapping)
    hits = await _find_in_texts(db, covering, own, mapping, question, k)
    # Without any index, every text was read, so the graph is small enough to read relationships.
    # With only a full-text index, its size is unknown.
    partitions = own.partitions if own else None if covering else ()
    named = await find_named_nodes(db, mapping, partitions, list_words(question), [*hits.scores], k)
    if not named.gains:
        return hits
    scores = dict(islice(named.add_to(hits.scores).items(), k))
    return Hits(f"{hits.method}; {NAMES}" if hits.scores else NAMES, scores)


async def _find_in_texts(
    db: Database,
    covering: Sequence[SearchIndex],
    own: OwnIndex | None,
    mapping: GraphMapping,
    question: str,
    k: int,
) -> Hits:
    if not covering:
        return await find_by_words(db, own, mapping, question, k)
    exact = all(set(index.labels) <= set(mapping.labels) for index in covering)
    rows = await db.read(
        queries.get("search/paths/find_by_text"),
        indexes=[index.name for index in covering],
        words=" ".join(words_to_search(question)),
        labels=list(mapping.labels),
        candidates=k if exact else CANDIDATES * k,
        k=k,
    )
    hits = Hits(f"full-text index {', '.join(index.name for index in covering)}", scores_of(rows))
    if not (mapping.relationship_text and own):
        return hits
    return _merge_hits(hits, await find_by_words(db, own, mapping, question, k), k)


def _merge_hits(one: Hits, other: Hits, k: int) -> Hits:
    """Return the ``k`` best nodes of two results, by the higher of their two scores.

    Scores are relative to the best score of the same result.
    """
    merged: dict[str, float] = {}
    for scores in (one.scores, other.scores):
        best = max(scores.values(), default=1.0)
        for node, score in scores.items():
            merged[node] = max(merged.get(node, 0.0), score / best)
    ordered = sorted(merged.items(), key=lambda pair: (-pair[1], pair[0]))
    return Hits(f"{one.method} and {other.method}", dict(ordered[:k]))


def words_to_search(question: str) -> list[str]:
    """Return the words of a question to search for in a full-text index, each once.

    Each word is returned both as it appears in the question and as ``words`` splits it, in lower
    case, so that no word is an operator. Other signs and words without a letter or digit are left
    out. Function words are left out if there are other words.
    """
    found = find_words(question.lower())
    content = [word for word in found if not _is_function_word(word)]
    named = [
        word for word in (*(content or found), *words(question)) if any(map(str.isalnum, word))
    ]
    return list(dict.fromkeys(named))[:MOST_WORDS]


def _is_function_word(word: str) -> bool:
    return word in FUNCTION_WORDS or (len(word) <= SHORT and word in STOP_WORDS)


async def find_by_title(
    db: Database, indexes: Sequence[SearchIndex], mapping: GraphMapping, keywords: Sequence[str]
) -> Hits:
    """Return the nodes whose titles equal or contain a keyword, best first.

    ``keywords`` are in lower case; the first ``MOST_KEYWORDS`` count. The score is the share of the
    title that the keyword fills, 1 for an equal title. Full-text indexes are used if they cover the
    titles of every label; then a keyword matches whole words only. Otherwise all titles are
    compared. Raises DatabaseError.
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
        rows = await db.read(queries.get("search/paths/find_by_title"), keywords=sought, **asked)
        return Hits(f"titles with {', '.join(sought)}", scores_of(rows))
    phrases = {keyword: _quote_phrase(_title_fields(mapping), keyword) for keyword in sought}
    rows = await db.read(
        queries.get("search/paths/find_by_title_index"),
        keywords=[keyword for keyword, phrase in phrases.items() if phrase],
        phrases=[phrase for phrase in phrases.values() if phrase],
        indexes=names,
        candidates=TITLE_CANDIDATES,
        **asked,
    )
    method = f"titles with {', '.join(sought)} by full-text index {', '.join(names)}"
    return Hits(method, scores_of(rows))


def covering_title_indexes(
    indexes: Sequence[SearchIndex], mapping: GraphMapping
) -> tuple[SearchIndex, ...]:
    """Return the full-text indexes that together cover every label's titles, or an empty tuple.

    The result is also empty if a property name is not a single word, because a query cannot be
    limited to such a property.
    """
    fields = _title_fields(mapping)
    if not fields or not all(map(_FIELD.fullmatch, fields)):
        return ()
    return covering_text_indexes(indexes, replace(mapping, text=()))


def _title_fields(mapping: GraphMapping) -> tuple[str, ...]:
    return replace(mapping, text=()).words


def _quote_phrase(titles: Sequence[str], keyword: str) -> str:
    """Return the index query for a keyword in titles, empty without words.

    The keyword is quoted, so that no sign in it is an operator.
    """
    plain = _UNQUOTABLE.sub(" ", keyword).strip()
    return " ".join(f'{title}:"{plain}"' for title in titles) if _WORD.search(plain) else ""


async def find_findings(
    db: Database, graph: str | None, question: str, k: int, *, sessions: str = ""
) -> Hits:
    """Return the ``k`` findings of a graph's runs that contain the most of a question's words.

    Only runs count whose session's name begins with ``sessions``. Raises DatabaseError.
    """
    asked_words = words_to_search(question)
    if graph is None or not asked_words:
        return Hits("no runs to look at" if graph is None else "no words to search for")
    rows = await db.read(
        queries.get("search/paths/find_findings"),
        graph=graph,
        prefix=sessions,
        words=asked_words,
        least=math.ceil(LEAST_SHARE * len(asked_words)),
        k=k,
    )
    findings = (
        FoundFinding(
            id=row["id"],
            text=row["text"],
            run=row["run"],
            partition=row["partition"],
            score=row["count"] / len(asked_words),
        )
        for row in rows
    )
    return Hits("words in the findings of earlier runs", things=tuple(findings))


def scores_of(rows: Sequence[Row]) -> dict[str, float]:
    """Return the scores in the first row by element id, in the row's order."""
    return dict(zip(rows[0]["ids"], rows[0]["scores"], strict=True))
