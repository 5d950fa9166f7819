"""Judges the role of a property by its name and content. Pure.

The roles are text, title, key, weight, and embedding. The thresholds are estimates, tested on the
Stack Overflow, physics, and standard-library graphs. A person reviews the proposal before it is
stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pgs_neo4j.survey.values import LabelSample, NodeProperty, RelationshipProperty, Survey

# Best first: if two properties cover as many nodes, the earlier word wins.
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

NUMBERS = frozenset({"INTEGER", "FLOAT"})
MIN_TEXT_SHARE = 0.05  # of a label's nodes
MIN_TEXT_NODES = 0.5  # of all nodes, for a key to be their title
MAX_TITLE_LENGTH = 200
MIN_KEY_SHARE = 0.99
MIN_DIMENSIONS = 32  # of a list of numbers whose name does not say embedding

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")


def split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case.

    ``displayName`` and ``display_name`` have two.
    """
    return tuple(word.lower() for word in _WORD.findall(name[:200]))


def rank_name(name: str, vocabulary: tuple[str, ...]) -> int | None:
    """Return the index in ``vocabulary`` of a name's end.

    The end is the last word, or the last two joined.
    """
    parts = split_words(name)
    ends = ("".join(parts[-2:]), *parts[-1:])
    return next((vocabulary.index(end) for end in ends if end in vocabulary), None)


def is_prose(sample: LabelSample, candidate: NodeProperty) -> bool:
    """Whether enough nodes have differing strings in natural language."""
    return (
        sample.share(candidate) >= MIN_TEXT_SHARE
        and candidate.prose >= 0.5 * candidate.nodes
        and candidate.distinct >= 0.05 * candidate.nodes
    )


def is_title(sample: LabelSample, candidate: NodeProperty) -> bool:
    """Whether its name says title and most nodes have short strings."""
    return (
        rank_name(candidate.name, TITLE_WORDS) is not None
        and candidate.texts == candidate.nodes
        and sample.share(candidate) >= 0.5
        and (candidate.mean_length or 0.0) <= MAX_TITLE_LENGTH
    )


def is_named_text(sample: LabelSample, candidate: NodeProperty) -> bool:
    """Whether its name says text, though its strings are too short."""
    return (
        rank_name(candidate.name, TEXT_WORDS) is not None
        and candidate.texts == candidate.nodes
        and sample.share(candidate) >= MIN_TEXT_SHARE
    )


def is_key(sample: LabelSample, candidate: NodeProperty) -> bool:
    """Whether it identifies the nodes of a label.

    A constraint proves it. Otherwise its name says key and its sampled values are unique.
    """
    if candidate.unique:
        return True
    return (
        rank_name(candidate.name, KEY_WORDS) is not None
        and candidate.types in (("INTEGER",), ("STRING",))
        and candidate.distinct == candidate.nodes
        and sample.share(candidate) >= MIN_KEY_SHARE
    )


def distinct_share(survey: Survey, name: str | None) -> float:
    """Share of the sampled values of a property that differ, 0 to 1; 1 without a value.

    Values of different labels count apart.
    """
    named = [item for s in survey.labels for item in s.properties if item.name == name]
    nodes = sum(item.nodes for item in named)
    return sum(item.distinct for item in named) / nodes if nodes else 1.0


def is_legible(survey: Survey, name: str) -> bool:
    """Whether a key can serve as a title: short strings on most nodes, of varying length.

    Codes that a machine made have all the same length.
    """
    named = [item for s in survey.labels for item in s.properties if item.name == name]
    short = all(
        item.texts == item.nodes and (item.mean_length or 0.0) <= MAX_TITLE_LENGTH for item in named
    )
    varying = any((item.longest or 0) > 1.2 * (item.mean_length or 0.0) for item in named)
    share = node_shares(survey, lambda _, candidate: candidate.name == name).get(name, 0.0)
    return short and varying and share >= MIN_TEXT_NODES


def is_numeric(candidate: NodeProperty | RelationshipProperty) -> bool:
    """Whether every value is an integer or a float."""
    return set(candidate.types) <= NUMBERS and bool(candidate.types)


def is_weight(candidate: NodeProperty) -> bool:
    """Whether its name says weight and all its values are numbers.

    A whole-numbered rank is a place in an order, not a weight.
    """
    place = rank_name(candidate.name, WEIGHT_WORDS)
    if place is None or not is_numeric(candidate):
        return False
    return WEIGHT_WORDS[place] != "rank" or candidate.types == ("FLOAT",)


def is_relationship_weight(candidate: RelationshipProperty) -> bool:
    """Whether its name says weight and all its values are numbers."""
    return rank_name(candidate.name, RELATIONSHIP_WEIGHT_WORDS) is not None and is_numeric(
        candidate
    )


def is_embedding(candidate: NodeProperty) -> bool:
    """Whether it holds vectors.

    Its lists of numbers have a name that says embedding, or at least 32 entries.
    """
    if not candidate.sizes or not candidate.sizes[0][0]:
        return False
    named = any(word in EMBEDDING_WORDS for word in split_words(candidate.name))
    return named or candidate.sizes[0][0] >= MIN_DIMENSIONS


def may_be_vector(candidate: RelationshipProperty) -> bool:
    """Whether some of its values are lists of numbers."""
    return any(
        kind.startswith("LIST<") and any(number in kind for number in NUMBERS)
        for kind in candidate.types
    )


def node_shares(
    survey: Survey, is_candidate: Callable[[LabelSample, NodeProperty], bool]
) -> dict[str, float]:
    """Share of all nodes that each candidate property covers, by its name.

    A property covers the nodes of a label only if it is a candidate for that label.
    """
    total = sum(sample.count for sample in survey.labels if sample.sampled)
    shares: dict[str, float] = {}
    for sample in survey.labels:
        for candidate in sample.properties:
            if is_candidate(sample, candidate):
                covered = sample.count * sample.share(candidate) / total
                shares[candidate.name] = shares.get(candidate.name, 0.0) + covered
    return shares


def choose_best(shares: dict[str, float], vocabulary: tuple[str, ...]) -> str | None:
    """Return the name with the largest share.

    Ties go to the name whose word is first in ``vocabulary``, then to the alphabet.
    """

    def place(name: str) -> int:
        rank = rank_name(name, vocabulary)
        return len(vocabulary) if rank is None else rank

    order = sorted(shares, key=lambda name: (-round(shares[name], 2), place(name), name))
    return order[0] if order else None
