"""Finds the names of a schema that share words with a question.

What does not depend on the question is prepared once, as a ``SchemaIndex``. ``releaseDate``,
``release_date``, and "the date of their release" have the same words. Words that look alike, such
as "rated" and "rating", count less than equal words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from pgs_neo4j.model import GraphSchema
from pgs_neo4j.text.matching import root
from pgs_neo4j.text.normal_form import find_words, fold_case, normal_form
from pgs_neo4j.text.ranking import rarity
from pgs_neo4j.text.words import GRAMMATICAL_WORDS

LONGEST_NAME = 200  # characters of a name to compare
LONGEST_QUESTION = 4_000  # characters of a question to compare
MOST_EXAMPLE_WORDS = 8
ALIKE = 0.8  # weight of a word with the same short root
SIMILAR = 0.6  # weight of a word with the same trigrams; with fewer, it is less
LEAST_SIMILAR = 0.5  # Dice's coefficient of the trigrams of similar words
LEAST_LETTERS = 5  # of similar words
FAINT = 0.3
WEIGHTS = {
    **dict.fromkeys(GRAMMATICAL_WORDS, 0.1),
    **dict.fromkeys(("list", "show", "find", "give", "tell", "identify", "top", "first"), FAINT),
}
"""Weights of words that are seldom about the schema; other words have the weight 1."""

HINTED = 0.75  # weight of a word at which a question hints
_PLACES = ("country", "city", "location", "place", "address")
_PERSONS = ("person", "user", "name")
_TIMES = ("date", "time", "year")
HINTS = {
    **dict.fromkeys(("where", "located", "based", "from"), _PLACES),
    **dict.fromkeys(("who", "whose", "people", "someone"), _PERSONS),
    **dict.fromkeys(("when", "before", "after", "since", "latest", "recent"), _TIMES),
}
"""What questions ask for without its name."""

_HUMP = re.compile(
    r"(?<=[a-z])(?=[A-Z\d])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<=\d)(?=[^\W\d_])|(?<=[A-Z])(?=\d)|_"
)
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|er|or|e|ion|en)$")


class Place(NamedTuple):
    """The place of a name in a schema.

    ``owner`` is the place of a label, or of a relationship type if ``is_type``. ``at`` is the place
    of one of its properties, or -1 for the label or type itself.
    """

    is_type: bool
    owner: int
    at: int = -1


@dataclass(frozen=True, slots=True)
class Match:
    """The share of a name that the words of a question cover, 0 to 1, and these words, by place.

    ``rarity`` is 1 if only one label or type has these words, and near 0 if all have them.
    ``is_example`` shows that the question contains an example of the property.
    """

    share: float
    rarity: float
    words: frozenset[int]
    is_example: bool = False


@dataclass(frozen=True, slots=True)
class SchemaIndex:
    """A schema with the words of its names.

    ``spellings`` are the places of all names, some with several spellings, each with the weight of
    its words. ``holders`` are the spellings with a word, and ``examples`` the spellings of
    properties with an example. ``rarities`` are the weights of words: their inverse document
    frequencies, where a document is a label or type with its properties. ``links`` are the places
    of the pairs of ends that a label is in, each with the place of the label at the other end.
    """

    schema: GraphSchema
    spellings: Sequence[tuple[Place, float]]
    holders: Mapping[str, Sequence[int]]
    examples: Mapping[str, Sequence[Place]]
    rarities: Mapping[str, float]
    short_roots: Mapping[str, Sequence[str]]
    trigrams: Mapping[str, Sequence[str]]
    links: Mapping[int, Sequence[tuple[Place, int]]]


def index_schema(schema: GraphSchema) -> SchemaIndex:
    """Return a schema with the words of its names."""
    names = list(_iterate_names(schema))
    rarities = _weigh_words(names)
    spellings: list[tuple[Place, float]] = []
    holders: dict[str, list[int]] = defaultdict(list)
    examples: dict[str, list[Place]] = defaultdict(list)
    for place, name, values in names:
        words = tuple(dict.fromkeys(split_name(name)))
        joined = root("".join(_find_parts(name)))
        rarities.setdefault(joined, max(map(rarities.__getitem__, words), default=0.0))
        for spelling in dict.fromkeys((words, (joined,))):
            for word in spelling:
                holders[word].append(len(spellings))
            spellings.append((place, sum(map(rarities.__getitem__, spelling))))
        for value in values:
            if key := " ".join(find_words(_prepare(value))):
                examples[key].append(place)
    short_roots: dict[str, list[str]] = defaultdict(list)
    trigrams: dict[str, list[str]] = defaultdict(list)
    for word in holders:
        short_roots[_shorten(word)].append(word)
        for trigram in _find_trigrams(word):
            trigrams[trigram].append(word)
    return SchemaIndex(
        schema, spellings, holders, examples, rarities, short_roots, trigrams, _link_labels(schema)
    )


def match_names(index: SchemaIndex, question: str) -> dict[Place, Match]:
    """Return how the names that share words with a question match it, by their places."""
    words = find_words(_prepare(question[:LONGEST_QUESTION]))
    shares: dict[int, float] = defaultdict(float)
    covering: dict[int, set[int]] = defaultdict(set)
    for word, (weight, number) in _find_known_words(index, words).items():
        for spelling in index.holders[word]:
            shares[spelling] += weight * index.rarities[word]
            covering[spelling].add(number)
    found: dict[Place, Match] = {}
    highest = max(index.rarities.values(), default=1.0)
    for spelling, weight in shares.items():
        place, total = index.spellings[spelling]
        share = weight / total if total else 0.0
        if place not in found or share > found[place].share:
            found[place] = Match(share, min(weight / highest, 1.0), frozenset(covering[spelling]))
    for first in range(len(words)):
        for last in range(first + 1, min(first + MOST_EXAMPLE_WORDS, len(words)) + 1):
            for place in index.examples.get(" ".join(words[first:last]), ()):
                share = found[place].share if place in found else 0.0
                found[place] = Match(share, 1.0, frozenset(range(first, last)), is_example=True)
    return found


def split_name(name: str) -> tuple[str, ...]:
    """Return the roots of a name's words, in order, without grammatical words if others remain."""
    words = _find_parts(name)
    return tuple(map(root, [word for word in words if word not in GRAMMATICAL_WORDS] or words))


def _iterate_names(schema: GraphSchema) -> Iterator[tuple[Place, str, tuple[str, ...]]]:
    """Yield the place of each name, the name, and the examples that may tell it from others."""
    owners = [(False, each.label, each.properties) for each in schema.labels]
    owners += [(True, each.type, each.properties) for each in schema.types]
    first_type = len(schema.labels)
    for number, (is_type, name, properties) in enumerate(owners):
        owner = number - first_type if is_type else number
        yield Place(is_type, owner), name, ()
        for at, own in enumerate(properties):
            values = tuple(each for each in own.examples if any(map(str.isalpha, each)))
            yield Place(is_type, owner, at), own.name, values


def _link_labels(schema: GraphSchema) -> dict[int, list[tuple[Place, int]]]:
    places = {each.label: place for place, each in enumerate(schema.labels)}
    links: dict[int, list[tuple[Place, int]]] = defaultdict(list)
    for owner, type_ in enumerate(schema.types):
        for at, (source, target) in enumerate(type_.ends):
            if source in places and target in places:
                links[places[source]].append((Place(True, owner, at), places[target]))
                if source != target:
                    links[places[target]].append((Place(True, owner, at), places[source]))
    return links


def _weigh_words(names: Sequence[tuple[Place, str, tuple[str, ...]]]) -> dict[str, float]:
    owned: dict[tuple[bool, int], set[str]] = defaultdict(set)
    for place, name, _ in names:
        owned[place.is_type, place.owner].update(split_name(name))
    counts = Counter(word for words in owned.values() for word in words)
    return {word: rarity(len(owned), count) for word, count in counts.items()}


def _find_known_words(index: SchemaIndex, words: Sequence[str]) -> dict[str, tuple[float, int]]:
    """Return the words of names that are like words of a question.

    Each has the weight of the likeness, 0 to 1, and the place of the question's word.
    """
    known: dict[str, tuple[float, int]] = {}

    def add(word: str, weight: float, number: int) -> None:
        if word in index.holders and weight > known.get(word, (0.0, 0))[0]:
            known[word] = weight, number

    for number, word in enumerate(words):
        weight = WEIGHTS.get(word, 1.0)
        own = root(word)
        add(own, weight, number)
        for hinted in HINTS.get(word, ()):
            add(root(hinted), HINTED, number)
        for other in index.short_roots.get(_shorten(own), ()):
            add(other, weight * ALIKE, number)
        if own not in index.holders and len(own) >= LEAST_LETTERS:
            for other, share in _find_similar(index, own):
                add(other, weight * SIMILAR * share, number)
    for number, (one, other) in enumerate(pairwise(words)):
        add(root(one + other), 1.0, number)
    return known


def _find_similar(index: SchemaIndex, word: str) -> Iterator[tuple[str, float]]:
    """Yield words that share trigrams with a word, each with Dice's coefficient."""
    trigrams = _find_trigrams(word)
    shared = Counter(other for each in trigrams for other in index.trigrams.get(each, ()))
    for other, count in shared.items():
        share = 2 * count / (len(trigrams) + len(_find_trigrams(other)))
        if share >= LEAST_SIMILAR and len(other) >= LEAST_LETTERS:
            yield other, share


@lru_cache(maxsize=65536)
def _find_parts(name: str) -> tuple[str, ...]:
    return tuple(find_words(_prepare(name[:LONGEST_NAME])))


@lru_cache(maxsize=65536)
def _find_trigrams(word: str) -> frozenset[str]:
    marked = f"<{word}>"
    return frozenset(marked[start : start + 3] for start in range(len(marked) - 2))


def _prepare(text: str) -> str:
    return fold_case(normal_form(_HUMP.sub(" ", text)))


def _shorten(word: str) -> str:
    """Return a root without a further ending: "acted" and "actor" become "act"."""
    return _ENDING.sub("", word)
