"""Judges properties: text, title, key, weight, or embedding, by name and by content. Pure.

The thresholds are judgement, tried on the Stack Overflow, physics, and standard-library
graphs; a person reads the proposal before it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pgs_neo4j.survey.values import LabelSample, NodeProperty, RelationshipProperty, Survey

# Best first: where two properties cover as many nodes, the earlier word wins.
TITLE_WORDS = (
    "title",
    "name",
    "label",
    "headline",
    "heading",
    "subject",
    "caption",
    "username",
    "fullname",
)
TEXT_WORDS = (
    "text",
    "content",
    "body",
    "description",
    "summary",
    "abstract",
    "concept",
    "definition",
    "comment",
    "note",
    "notes",
)
KEY_WORDS = ("id", "uuid", "guid", "key", "identifier", "uri", "iri", "doi", "isbn", "slug", "code")
WEIGHT_WORDS = (
    "weight",
    "importance",
    "pagerank",
    "centrality",
    "salience",
    "relevance",
    "score",
    "rank",
)
RELATIONSHIP_WEIGHT_WORDS = (
    "weight",
    "strength",
    "similarity",
    "confidence",
    "score",
    "count",
    "frequency",
)
EMBEDDING_WORDS = ("embedding", "embeddings", "vector", "emb")

MIN_TEXT_SHARE = 0.05  # of a label's nodes
MAX_TITLE_LENGTH = 200
MIN_KEY_SHARE = 0.99
MIN_DIMENSIONS = 32  # of a list of numbers that is not called an embedding

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")


def words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case: ``displayName`` and ``display_name`` have two."""
    return tuple(word.lower() for word in _WORD.findall(name[:200]))


def rank(name: str, known: tuple[str, ...]) -> int | None:
    """Place of the name's last word, or of the last two as one, among those known."""
    parts = words(name)
    ends = ("".join(parts[-2:]), *parts[-1:])
    return next((known.index(end) for end in ends if end in known), None)


def is_prose(sample: LabelSample, found: NodeProperty) -> bool:
    """Whether strings in natural language that differ stand on a fair share of the nodes."""
    return (
        sample.share(found) >= MIN_TEXT_SHARE
        and found.prose >= 0.5 * found.nodes
        and found.distinct >= 0.05 * found.nodes
    )


def is_title(sample: LabelSample, found: NodeProperty) -> bool:
    """Whether it is called a title or name, and holds short strings on most nodes."""
    return (
        rank(found.name, TITLE_WORDS) is not None
        and found.texts == found.nodes
        and sample.share(found) >= 0.5
        and (found.mean_length or 0.0) <= MAX_TITLE_LENGTH
    )


def is_named_text(sample: LabelSample, found: NodeProperty) -> bool:
    """Whether it is called a text though its strings are too short to show it."""
    return (
        rank(found.name, TEXT_WORDS) is not None
        and found.texts == found.nodes
        and sample.share(found) >= MIN_TEXT_SHARE
    )


def is_key(sample: LabelSample, found: NodeProperty) -> bool:
    """Whether it tells the label's nodes apart: by constraint, or by name and in the sample."""
    if found.unique:
        return True
    return (
        rank(found.name, KEY_WORDS) is not None
        and found.types in (("INTEGER",), ("STRING",))
        and found.distinct == found.nodes
        and sample.share(found) >= MIN_KEY_SHARE
    )


def is_numeric(found: NodeProperty | RelationshipProperty) -> bool:
    """Whether every value is an integer or a float."""
    return set(found.types) <= {"INTEGER", "FLOAT"} and bool(found.types)


def is_weight(found: NodeProperty) -> bool:
    """Whether it is called a weight and numeric; a whole-numbered rank is a place, not a weight."""
    place = rank(found.name, WEIGHT_WORDS)
    if place is None or not is_numeric(found):
        return False
    return WEIGHT_WORDS[place] != "rank" or found.types == ("FLOAT",)


def is_relationship_weight(found: RelationshipProperty) -> bool:
    """Whether it is called a weight and numeric."""
    return rank(found.name, RELATIONSHIP_WEIGHT_WORDS) is not None and is_numeric(found)


def is_embedding(found: NodeProperty) -> bool:
    """Whether it holds lists of numbers that are called a vector, or long enough to be one."""
    if not found.sizes or not found.sizes[0][0]:
        return False
    named = any(word in EMBEDDING_WORDS for word in words(found.name))
    return named or found.sizes[0][0] >= MIN_DIMENSIONS


def node_shares(
    survey: Survey, wanted: Callable[[LabelSample, NodeProperty], bool]
) -> dict[str, float]:
    """Property name to the share of all nodes that carry it under a label where it is wanted."""
    total = sum(sample.count for sample in survey.labels if sample.sampled)
    shares: dict[str, float] = {}
    for sample in survey.labels:
        for found in sample.properties:
            if wanted(sample, found):
                covered = sample.count * sample.share(found) / total
                shares[found.name] = shares.get(found.name, 0.0) + covered
    return shares


def best(shares: dict[str, float], known: tuple[str, ...]) -> str | None:
    """The name with the largest share; ties by place among the known words, then by name."""

    def place(name: str) -> int:
        found = rank(name, known)
        return len(known) if found is None else found

    order = sorted(shares, key=lambda name: (-round(shares[name], 2), place(name), name))
    return order[0] if order else None
