"""Judges the role of a property by its name and content. Pure.

The roles are text, title, key, weight, embedding, and the fact of a relationship. The thresholds
are estimates, tested on the Stack Overflow, physics, and standard-library graphs. A person reviews
the proposal before it is stored.
"""

from __future__ import annotations

from collections.abc import Callable

from pgs_neo4j.engine.survey.values import (
    LabelSample,
    NodeProperty,
    RelationshipProperty,
    Survey,
    TypeSample,
)
from pgs_neo4j.text.property_names import (
    KEY_WORDS,
    NUMBER_WORDS,
    TITLE_WORDS,
    is_part,
    names_another,
    names_fact,
    names_text,
    rank_name,
    rank_title,
    split_words,
)

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
# Names for the role of a person in a film or on a team. Roles are short texts, and only
# relationships have them.
ROLE_WORDS = ("role", "roles", "character", "characters")
EMBEDDING_WORDS = ("embedding", "embeddings", "vector", "emb")

NUMBERS = frozenset({"INTEGER", "FLOAT"})
MIN_TEXT_SHARE = 0.05  # of a label's nodes
MIN_TEXT_NODES = 0.5  # minimum share of nodes with a key for the key to serve as title
MIN_LONG = 120  # mean characters from which a property counts as prose, whatever its name
MIN_DISTINCT_SHARE = 0.05  # of the nodes; a property with fewer distinct values is an enumeration
# Minimum share of distinct titles, by the rank of the property's name. The less clearly the name
# means title, the more titles must differ.
LEAST_DISTINCT = (0.0, 0.5, 0.5, 0.5, 0.9)
MAX_TITLE_LENGTH = 200
MIN_KEY_SHARE = 0.99
IDENTIFYING_WORDS = (*KEY_WORDS, *NUMBER_WORDS)
MIN_DIMENSIONS = 32  # from this length on, a list of numbers is an embedding, whatever its name


def is_prose(sample: LabelSample, candidate: NodeProperty) -> bool:
    """Return whether enough nodes have different strings in natural language.

    Quantities with units, addresses, codes, and links do not count, however many words they have.
    """
    if sample.share(candidate) < MIN_TEXT_SHARE or is_enumerated(candidate):
        return False
    other = names_fact(candidate.name) or names_another(sample.label, candidate.name)
    if other and (candidate.mean_length or 0.0) < MIN_LONG:
        return False
    prose = candidate.share_of("prose") if candidate.shapes else candidate.prose / candidate.nodes
    return prose >= 0.5 and candidate.prose >= 0.5 * candidate.nodes


def is_title(sample: LabelSample, candidate: NodeProperty) -> bool:
    """Return whether a property's name says title, and most of its values are short strings."""
    rank = rank_title(sample.label, candidate.name)
    if rank is None or candidate.texts != candidate.nodes:
        return False
    if sample.share(candidate) < 0.5 or (candidate.mean_length or 0.0) > MAX_TITLE_LENGTH:
        return False
    if candidate.share_of("blank", "link", "moment") >= 0.5:
        return False
    return candidate.distinct >= LEAST_DISTINCT[rank] * candidate.nodes


def is_named_text(sample: LabelSample, candidate: NodeProperty) -> bool:
    """Return whether a property's name says text, even if its strings are too short for prose."""
    if not names_text(candidate.name) or candidate.texts != candidate.nodes:
        return False
    if sample.share(candidate) < MIN_TEXT_SHARE or is_enumerated(candidate):
        return False
    if candidate.share_of("blank", "link", "moment", "number", "code") >= 0.5:
        return False
    # A description of one word, as in "jurisdiction_description: Samoa", spells out a code.
    qualified = len(split_words(candidate.name)) > 1
    return not (qualified and candidate.share_of("word") >= 0.5)


def is_enumerated(candidate: NodeProperty) -> bool:
    """Return whether a property has a few values, each of which many nodes share."""
    return candidate.distinct < MIN_DISTINCT_SHARE * candidate.nodes


def is_key(sample: LabelSample, candidate: NodeProperty) -> bool:
    """Return whether a property identifies the nodes of a label.

    A constraint proves it. Otherwise its name must say key, and its sampled values must be unique.
    """
    if candidate.unique:
        return True
    return (
        rank_name(candidate.name, IDENTIFYING_WORDS) is not None
        and candidate.types in (("INTEGER",), ("STRING",))
        and candidate.distinct == candidate.nodes
        and sample.share(candidate) >= MIN_KEY_SHARE
    )


def choose_title(sample: LabelSample) -> NodeProperty | None:
    """Return the property that names the nodes of a label, if any."""
    found = [item for item in sample.properties if is_title(sample, item)]
    named = any((rank_title(sample.label, item.name) or 0) == 3 for item in found)
    # If there are first and last names, a title that several people share is a job title.
    found = [
        item
        for item in found
        if not (named and rank_name(item.name, ("title",)) is not None and _is_shared(item))
    ]

    def order(item: NodeProperty) -> tuple[int, float, int, str]:
        word = rank_name(item.name, TITLE_WORDS)
        place = len(TITLE_WORDS) if word is None else word
        rank = rank_title(sample.label, item.name) or 0
        return rank, -round(sample.share(item), 1), place, item.name

    return min(found, key=order, default=None)


def choose_texts(sample: LabelSample, title: str | None) -> list[NodeProperty]:
    """Return the properties to read on the nodes of a label: its title and its texts.

    The title comes first, and short texts come before long ones.
    """
    found = [
        item
        for item in sample.properties
        if item.name == title or is_prose(sample, item) or is_named_text(sample, item)
    ]
    return sorted(found, key=lambda item: (item.name != title, item.mean_length or 0.0, item.name))


def choose_key(sample: LabelSample) -> NodeProperty | None:
    """Return the property that identifies the nodes of a label, if any."""
    found = [item for item in sample.properties if is_key(sample, item)]

    def order(item: NodeProperty) -> tuple[bool, bool, int, str]:
        place = rank_name(item.name, IDENTIFYING_WORDS)
        before = split_words(item.name)[:-1]
        own = not before or is_part(before, sample.label)
        last = len(IDENTIFYING_WORDS)
        return not item.unique, not own, last if place is None else place, item.name

    return min(found, key=order, default=None)


def _is_shared(item: NodeProperty) -> bool:
    """Return whether more than a fifth of the values repeat."""
    return item.distinct < 0.8 * item.nodes


def is_legible(sample: LabelSample, key: NodeProperty) -> bool:
    """Return whether a key can serve as a title: most nodes have short strings of varying length.

    Codes that a machine made all have the same length, and numbers mean nothing to people.
    """
    if key.texts != key.nodes or (key.mean_length or 0.0) > MAX_TITLE_LENGTH:
        return False
    if key.share_of("number", "code", "link", "moment", "blank") >= 0.5:
        return False
    varying = (key.longest or 0) > 1.2 * (key.mean_length or 0.0)
    return varying and sample.share(key) >= MIN_TEXT_NODES


def is_numeric(candidate: NodeProperty | RelationshipProperty) -> bool:
    """Return whether every value is an integer or a float."""
    return set(candidate.types) <= NUMBERS and bool(candidate.types)


def is_weight(candidate: NodeProperty) -> bool:
    """Return whether a property's name says weight, and all its values are numbers.

    A whole-numbered rank is a place in an order, not a weight.
    """
    place = rank_name(candidate.name, WEIGHT_WORDS)
    if place is None or not is_numeric(candidate):
        return False
    return WEIGHT_WORDS[place] != "rank" or candidate.types == ("FLOAT",)


def is_relationship_weight(candidate: RelationshipProperty) -> bool:
    """Return whether a property's name says weight, and all its values are numbers."""
    return rank_name(candidate.name, RELATIONSHIP_WEIGHT_WORDS) is not None and is_numeric(
        candidate
    )


def is_relationship_text(sample: TypeSample, candidate: RelationshipProperty) -> bool:
    """Return whether relationships of a type state different facts in this property.

    Facts are texts like those of nodes, and the roles that people play.
    """
    count = candidate.relationships
    if candidate.texts != count or sample.share(candidate) < MIN_TEXT_SHARE:
        return False
    if candidate.distinct < MIN_DISTINCT_SHARE * count:
        return False
    if names_role(candidate) or names_text(candidate.name):
        return candidate.share_of("word", "phrase", "prose") >= 0.5
    if names_fact(candidate.name) and (candidate.mean_length or 0.0) < MIN_LONG:
        return False
    return candidate.share_of("prose") >= 0.5 and candidate.prose >= 0.5 * count


def names_role(candidate: RelationshipProperty) -> bool:
    """Return whether a property's name says that it is a role that a person plays."""
    return rank_name(candidate.name, ROLE_WORDS) is not None


def is_embedding(candidate: NodeProperty) -> bool:
    """Return whether a property holds vectors.

    It holds lists of numbers, and its name says embedding, or the lists have at least 32 entries.
    """
    if not candidate.sizes or not candidate.sizes[0][0]:
        return False
    named = any(word in EMBEDDING_WORDS for word in split_words(candidate.name))
    return named or candidate.sizes[0][0] >= MIN_DIMENSIONS


def may_be_vector(candidate: RelationshipProperty) -> bool:
    """Return whether some values of a property are lists of numbers."""
    return any(
        kind.startswith("LIST<") and any(number in kind for number in NUMBERS)
        for kind in candidate.types
    )


def sum_node_shares(
    survey: Survey, is_candidate: Callable[[LabelSample, NodeProperty], bool]
) -> dict[str, float]:
    """Return the share of all nodes that each candidate property covers, by its name.

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
