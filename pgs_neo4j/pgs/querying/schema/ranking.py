"""Orders the parts of a schema by what a question probably needs of it.

A label is needed if the question has the words of its name, of its properties, or of the
relationship types beside it, or an example of its values. Types between needed labels are needed,
and so are labels that lie between them. Where nothing matches, the most frequent labels and types
come first.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Literal, NamedTuple

from pgs_neo4j.model import SchemaProperty
from pgs_neo4j.pgs.querying.schema.index import (
    LONGEST_NAME,
    Match,
    Place,
    SchemaIndex,
    match_names,
)
from pgs_neo4j.text.property_names import TITLE_WORDS, rank_name

PROPERTY_SHARE = 0.5  # what a matching property adds to its label or type
EXAMPLE_SHARE = 0.5  # what an example in the question adds to its label or type
TYPE_SHARE = 0.6  # what a matching type adds to the labels at its ends
NEIGHBOR_SHARE = 0.3  # the least relevance of a neighbor, as a share of a label's relevance
BETWEEN_SHARE = 0.5  # the least relevance of a label between two, as a share of their relevance
ENDS = 0.8  # the least relevance of a pair of ends, as a share of that of both labels
FREQUENT = 0.02  # the least relevance of the most frequent label and type
PROPERTY = 0.5  # the least relevance of a property, as a share of its owner's relevance
TITLE = 0.95  # the same of a property that names its owner
SHARPNESS = 3  # a name of two words of which one matches counts much less than half
MOST_SEEDS = 8  # labels whose neighbors are searched
LEAST_SEED = 0.4  # of the best label's relevance
MOST_BETWEEN = 3  # labels to choose between two

PieceKind = Literal["name", "ends", "types", "examples"]


class Piece(NamedTuple):
    """A part of a schema: a name, a pair of ends, or the types or the examples of a property.

    The place of a pair of ends is that of its type, with the place of the pair in ``ends``.
    """

    kind: PieceKind
    place: Place


@dataclass(slots=True)
class _Relevance:
    """How relevant labels and types are, by place; those that are missing are not relevant."""

    labels: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    types: dict[int, float] = field(default_factory=lambda: defaultdict(float))


def rank_pieces(index: SchemaIndex, question: str, most: int) -> list[Piece]:
    """Return the pieces of a schema, the most needed first: ``most`` names, and their details.

    All names come before the types of properties, and these come before their examples. But an
    example that occurs in the question is as needed as its property.
    """
    matches = match_names(index, question)
    relevance = _match_owners(matches)
    _spread_over_types(index, relevance)
    _spread_over_labels(index, relevance)
    _add_frequent(index, relevance, most)
    ranked = heapq.nlargest(
        most, _weigh_pieces(index, matches, relevance, most), key=lambda each: each[0]
    )
    names = [piece for _, piece in ranked]
    properties = [each.place for each in names if each.kind == "name" and each.place.at >= 0]
    found = [_get_property(index, place) for place in properties]
    return [
        *names,
        *(Piece("types", at) for at, own in zip(properties, found, strict=True) if own.types),
        *(Piece("examples", at) for at, own in zip(properties, found, strict=True) if own.examples),
    ]


def _match_owners(matches: Mapping[Place, Match]) -> _Relevance:
    """Return how labels and types match by their own names, properties, and examples."""
    found = _Relevance()
    covered: dict[tuple[bool, int], frozenset[int]] = {}
    for place, match in matches.items():
        if place.at < 0:
            owners = found.types if place.is_type else found.labels
            owners[place.owner] = match.share**SHARPNESS * (1 + 0.05 * (len(match.words) - 1))
            if match.share > 0.7:
                covered[place.is_type, place.owner] = match.words
    # Each word of the question counts once for an owner, with the property that it suits best.
    by_word: dict[tuple[bool, int, int], float] = defaultdict(float)
    examples: set[tuple[bool, int]] = set()
    for place, match in matches.items():
        if place.at >= 0:
            owner = place.is_type, place.owner
            for word in match.words - covered.get(owner, frozenset()):
                key = *owner, word
                by_word[key] = max(
                    by_word[key], match.share**SHARPNESS * match.rarity / len(match.words)
                )
            if match.is_example:
                examples.add(owner)
    for (is_type, owner_at, _), value in by_word.items():
        owners = found.types if is_type else found.labels
        owners[owner_at] += PROPERTY_SHARE * value
    for is_type, owner_at in examples:
        owners = found.types if is_type else found.labels
        owners[owner_at] += EXAMPLE_SHARE
    return found


def _spread_over_types(index: SchemaIndex, relevance: _Relevance) -> None:
    """Add the relevance of types to the labels at their ends.

    A type counts most where the label at its other end is relevant.
    """
    added: dict[int, float] = defaultdict(float)
    before = dict(relevance.labels)
    places = {each.label: place for place, each in enumerate(index.schema.labels)}
    for owner, value in relevance.types.items():
        for pair in index.schema.types[owner].ends:
            source, target = (places.get(label, -1) for label in pair)
            for one, other in ((source, target), (target, source)):
                share = 0.3 + 0.7 * min(before.get(other, 0.0), 1.0)
                added[one] = max(added[one], TYPE_SHARE * min(value, 1.0) * share)
    for label, value in added.items():
        if label >= 0:
            relevance.labels[label] += value


def _spread_over_labels(index: SchemaIndex, relevance: _Relevance) -> None:
    """Give the neighbors of the most relevant labels, and the labels between, some relevance."""
    labels = relevance.labels
    seeds = heapq.nlargest(MOST_SEEDS, labels, key=lambda each: labels[each])
    least = LEAST_SEED * max(labels.values(), default=0.0)
    before = {seed: labels[seed] for seed in seeds if labels[seed] >= least and labels[seed] > 0}
    neighbors = {seed: {other for _, other in index.links.get(seed, ())} for seed in before}
    for seed, others in neighbors.items():
        for other in others:
            labels[other] = max(labels[other], NEIGHBOR_SHARE * before[seed])
    for one, other in combinations(before, 2):
        if other not in neighbors[one]:
            value = BETWEEN_SHARE * math.sqrt(before[one] * before[other])
            for label in _find_between(index, neighbors[one], neighbors[other], labels):
                labels[label] = max(labels[label], value)


def _find_between(
    index: SchemaIndex, some: set[int], others: set[int], labels: Mapping[int, float]
) -> list[int]:
    """Return the labels on the shortest ways between two labels with these neighbors.

    The ways have one or two labels. Of several, those with the most relevant labels are chosen.
    """
    ways: list[tuple[int, ...]] = [(label,) for label in some & others]
    if not ways:
        ways = [
            (label, other)
            for label in some
            for _, other in index.links.get(label, ())
            if other in others
        ]
    best = heapq.nlargest(
        MOST_BETWEEN,
        ways,
        key=lambda way: (sum(labels[label] for label in way), *(-label for label in way)),
    )
    return [label for way in best for label in way]


def _add_frequent(index: SchemaIndex, relevance: _Relevance, most: int) -> None:
    """Give the first labels and types, which are the most frequent, the least relevance."""
    for place in range(min(most, len(index.schema.labels))):
        relevance.labels[place] = max(relevance.labels[place], FREQUENT / (1 + place / 10))
    for place in range(min(most, len(index.schema.types))):
        relevance.types[place] = max(relevance.types[place], FREQUENT / (1 + place / 10))


def _weigh_pieces(
    index: SchemaIndex, matches: Mapping[Place, Match], relevance: _Relevance, most: int
) -> Iterator[tuple[float, Piece]]:
    """Yield the names and pairs of ends that may be needed, with their relevance."""
    schema = index.schema
    chosen = heapq.nlargest(most // 4, relevance.labels, key=lambda each: relevance.labels[each])
    labels = {
        label: relevance.labels[label] for label in chosen if _is_short(schema.labels[label].label)
    }
    types: dict[int, float] = {
        owner: value / 10
        for owner, value in relevance.types.items()
        if not schema.types[owner].ends and _is_short(schema.types[owner].type)
    }
    seen: set[Place] = set()
    for label, value in labels.items():
        yield value, Piece("name", Place(False, label))
        properties = schema.labels[label].properties
        yield from _weigh_properties(properties, Place(False, label), value, matches)
        for place, other in index.links.get(label, ()):
            short = _is_short(schema.types[place.owner].type)
            if short and other in labels and place not in seen:
                seen.add(place)
                match = min(relevance.types.get(place.owner, 0.0), 1.0)
                both = math.sqrt(value * labels[other]) * (ENDS + (1 - ENDS) * match)
                types[place.owner] = max(types.get(place.owner, 0.0), both)
                yield both, Piece("ends", place)
    for owner, value in types.items():
        kind = schema.types[owner]
        if not kind.ends:
            yield value, Piece("name", Place(True, owner))
        yield from _weigh_properties(kind.properties, Place(True, owner), value, matches)


def _weigh_properties(
    properties: tuple[SchemaProperty, ...],
    owner: Place,
    value: float,
    matches: Mapping[Place, Match],
) -> Iterator[tuple[float, Piece]]:
    for at, own in enumerate(properties):
        if not _is_short(own.name):
            continue
        place = owner._replace(at=at)
        match = matches.get(place)
        share = match.share**SHARPNESS if match else 0.0
        least = TITLE if _is_title(own.name) else PROPERTY
        part = value * (least + (0.95 - least) * min(share, 1.0))
        if match and match.is_example:
            yield part, Piece("examples", place)
        yield part, Piece("name", place)


@lru_cache(maxsize=65536)
def _is_title(name: str) -> bool:
    return rank_name(name, TITLE_WORDS) is not None


def _is_short(name: str) -> bool:
    """Return whether a name leaves room for others in the text."""
    return len(name) <= LONGEST_NAME


def _get_property(index: SchemaIndex, place: Place) -> SchemaProperty:
    owners = index.schema.types if place.is_type else index.schema.labels
    return owners[place.owner].properties[place.at]
