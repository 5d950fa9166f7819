"""Chooses a full-text index, and writes its queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations
from math import comb

from pgs_neo4j.database.connection import Row
from pgs_neo4j.text.matching import UNSPACED, SearchTerms, filters
from pgs_neo4j.text.words import words

# Analyzers that split texts into lower-case words. Others index whole texts, capitals, or
# letters only, and would miss words that are present.
ANALYZERS = ("standard-no-stop-words", "standard", "standard-folding", "english")
MOST_COMBINATIONS = 20  # Lucene refuses more than 1,024 clauses in all
SHORTEST_INSIDE = 4  # letters of a part that is looked for inside of words


def covering(
    indexes: Iterable[Row], labels: Collection[str], properties: Collection[str]
) -> str | None:
    """Return the first index that covers all properties of all nodes.

    A view without labels includes nodes of any label, which no index covers.
    """
    return next(
        (
            str(index["name"])
            for index in indexes
            if labels
            and index["analyzer"] in ANALYZERS
            and set(labels).issubset(index["labels"])
            and set(properties).issubset(index["properties"])
        ),
        None,
    )


def query(search: SearchTerms, *, inside: bool) -> str:
    """Return a Lucene query for every combination of enough terms.

    ``inside`` also looks inside words, such as ``max_retries`` or ``asyncio.timeout``. That takes
    time in proportion to the number of distinct words in the index.
    """
    clauses = [_term(term, inside) for term in search.usable]
    if comb(len(clauses), search.needed) > MOST_COMBINATIONS:
        return " OR ".join(clauses)
    return " OR ".join(
        f"({' AND '.join(chosen)})" for chosen in combinations(clauses, search.needed)
    )


def _term(term: str, inside: bool) -> str:
    """Return a term as a clause; closer spellings score higher.

    Words are lower-case letters and digits, so no Lucene syntax needs escaping.
    """
    parts = filters(term)
    spelled = words(term) if len(words(term)) == len(parts) else list(parts)
    both = zip(spelled, parts, strict=True)
    clause = " AND ".join(_part(word, part, inside) for word, part in both)
    if len(parts) == 1:
        return clause
    return f'("{" ".join(spelled)}"~{len(parts)}^4 OR ({clause}))'


def _part(word: str, part: str, inside: bool) -> str:
    if any(ord(letter) >= UNSPACED for letter in part):
        return f'("{part}" OR *{part}*)'  # an index has each sign as a word of its own
    choices = [f"{word}^4", f"{part}*"]
    if inside and len(part) >= SHORTEST_INSIDE:
        choices.append(f"*{part}*")
    return f"({' OR '.join(choices)})"
