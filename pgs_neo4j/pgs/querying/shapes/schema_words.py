"""Finds the labels, types, and properties of a schema that words of a question spell.

A name is found if all its words are spelled, in any number of words and with any common ending:
``time zones`` is the label ``TimeZone``, and ``cited`` the type ``CITES``. Labels may have one
wrong letter if they are long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pgs_neo4j.model.graph import GraphMapping
from pgs_neo4j.model.graph_schema import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.shapes.question_words import QuestionWords
from pgs_neo4j.text.property_names import KEY_WORDS, is_part, rank_name, rank_title

MOST_WORDS = 4
"""Words of a question that one name may take."""

SHORTEST_MISSPELLED = 6
"""Letters. In a shorter word, one other letter makes another word: "gene" is no "genre"."""

SHORTEST_VERB = 5
"""Letters of a verb that can be recognized at the start of a noun."""

_PART = re.compile(r"[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|[A-Z][^\W\d_A-Z]+|\d+")
_NO_LETTER = re.compile(r"[\W_]+")
_NUMBER_WORDS = frozenset(("count", "number", "num", "nbr", "no", "total", "of"))
_NUMBERS = frozenset(("INTEGER", "FLOAT"))
_DATES = frozenset(("DATE", "DATETIME", "LOCALDATETIME", "ZONEDDATETIME"))


@dataclass(frozen=True)
class SchemaWords:
    """A schema whose names can be found by words of one language.

    ``titles`` are the properties that contain the name of a node, by label, the best first.
    """

    schema: GraphSchema
    titles: Mapping[str, tuple[str, ...]]
    language: QuestionWords

    @cached_property
    def labels(self) -> Mapping[str, SchemaLabel]:
        """The labels by their names."""
        return {one.label: one for one in self.schema.labels}

    def find_labels(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the labels that these words spell together."""
        spelled = _find_nouns("".join(words), self.language)
        exact = tuple(one for one in self.labels if _joined(one, self.language) & spelled)
        if exact or len(words) > 1 or len(words[0]) < SHORTEST_MISSPELLED:
            return exact
        return tuple(
            one for one in self.labels if any(_is_close(words[0], own) for own in _plural(one))
        )

    def find_types(self, words: Sequence[str]) -> tuple[SchemaType, ...]:
        """Return the types whose words these are, but for words such as HAS and IN."""
        given = [find_verbs(word, self.language) for word in words]
        return tuple(
            one
            for one in self.schema.types
            if len(own := self.list_type_words(one.type)) == len(given)
            and all(
                find_verbs(a, self.language) & b for a, b in zip(own, given, strict=True)
            )
        )  # fmt: skip

    def list_type_words(self, name: str) -> list[str]:
        """Return the words of a type that have a meaning; all its words if none has one."""
        words = split_name(name)
        return [word for word in words if word not in self.language.empty_type_words] or words

    def find_properties(
        self, label: str, words: Sequence[str]
    ) -> tuple[tuple[SchemaProperty, ...], bool]:
        """Return the properties of a label that these words spell, and whether they spell all.

        If no property is spelled as a whole, ``rating`` finds ``imdbRating``.
        """
        own = self.labels[label].properties if label in self.labels else ()
        return self._match_properties(own, words)

    def has_linked_property(self, label: str, words: Sequence[str], whole: bool) -> bool:
        """Return whether a type that touches a label has a property that fits just as well."""
        for one in self.schema.types:
            if any(label in ends for ends in one.ends):
                found, all_of_it = self._match_properties(one.properties, words)
                if found and (all_of_it or not whole):
                    return True
        return False

    def find_related_type(self, label: str, words: Sequence[str]) -> str:
        """Return a type that touches a label and has a verb of which a word is made, else empty.

        ``dependencies`` is made of the verb of ``DEPENDS_ON``.
        """
        for one in self.schema.types:
            if any(label in ends for ends in one.ends):
                for own in self.list_type_words(one.type):
                    for verb in find_verbs(own, self.language):
                        if len(verb) >= SHORTEST_VERB and words[-1].startswith(verb):
                            return one.type
        return ""

    def _match_properties(
        self, properties: Iterable[SchemaProperty], words: Sequence[str]
    ) -> tuple[tuple[SchemaProperty, ...], bool]:
        spelled = _find_nouns("".join(words), self.language)
        listed = tuple(properties)
        whole = tuple(one for one in listed if _joined(one.name, self.language) & spelled)
        if whole:
            return whole, True
        ends = (
            (one, split_name(one.name)[-len(words) :]) for one in listed if split_name(one.name)
        )
        return (
            tuple(one for one, end in ends if _find_nouns("".join(end), self.language) & spelled),
            False,
        )

    def find_times(self, label: str) -> tuple[SchemaProperty, ...]:
        """Return the properties of a label that contain a date or a year."""
        own = self.labels[label].properties if label in self.labels else ()
        return tuple(one for one in own if is_date(one) or self.is_year(one))

    def is_year(self, one: SchemaProperty) -> bool:
        """Return whether a property contains years as numbers, such as ``year`` or ``born``."""
        words = split_name(one.name)
        is_event = len(words) == 1 and words[0] in self.language.events
        return _plain_types(one) == {"INTEGER"} and (words[-1:] == ["year"] or is_event)

    def find_routes(self, labels: Iterable[str], types: Iterable[SchemaType]) -> list[OwnRoute]:
        """Return the types that touch one of the labels: type, direction, own and other label."""
        asked = frozenset(labels)
        routes = [
            OwnRoute(one.type, outgoing, own, other)
            for one in types
            for source, target in one.ends
            for outgoing, own, other in ((True, source, target), (False, target, source))
            if own in asked
        ]
        return list(dict.fromkeys(routes))

    def name_property(self, label: str) -> str:
        """Return the title of a label's nodes, else a property with their own key, else empty."""
        if self.titles.get(label):
            return self.titles[label][0]
        own = self.labels[label].properties if label in self.labels else ()
        for one in own:
            before = tuple(split_name(one.name)[:-1])
            is_key = rank_name(one.name, KEY_WORDS) is not None
            if is_key and (not before or is_part(before, label)):
                return one.name
        return ""

    def has_number_of(self, label: str, counted: str) -> bool:
        """Return whether nodes of a label have a number of nodes of another label as a property."""
        own = self.labels[label].properties if label in self.labels else ()
        other = _find_nouns("".join(split_name(counted)), self.language)
        for one in own:
            words = [word for word in split_name(one.name) if word not in _NUMBER_WORDS]
            if is_number(one) and _find_nouns("".join(words), self.language) & other:
                return True
        return False


@dataclass(frozen=True, slots=True)
class OwnRoute:
    """A type between two labels, as seen from ``own``."""

    type: str
    outgoing: bool
    own: str
    label: str


def find_titles(schema: GraphSchema, mapping: GraphMapping) -> dict[str, tuple[str, ...]]:
    """Return the properties with names of nodes, by label: of the mapping, else by their names."""
    named = GraphMapping(labels=mapping.labels, titles=mapping.titles, title=mapping.title)
    found: dict[str, tuple[str, ...]] = {}
    for one in schema.labels:
        own = [each.name for each in one.properties if is_text(each)]
        mapped = [name for name in named.list_words(one.label) if name in own]
        ranks = {name: rank_title(one.label, name) for name in own}
        ranked = sorted(
            (rank, own.index(name), name) for name, rank in ranks.items() if rank in (0, 1, 2)
        )
        found[one.label] = tuple(dict.fromkeys((*mapped, *(name for _, _, name in ranked))))
    return found


def split_name(name: str) -> list[str]:
    """Return the words of a name in lower case; digits are a word, as in ``INTERACTS1``."""
    return [part.lower() for part in _PART.findall(name)]


def is_text(one: SchemaProperty) -> bool:
    """Return whether all values of a property are texts."""
    return _plain_types(one) == {"STRING"}


def is_number(one: SchemaProperty) -> bool:
    """Return whether all values of a property are numbers."""
    return bool(one.types) and _plain_types(one) <= _NUMBERS


def is_flag(one: SchemaProperty) -> bool:
    """Return whether all values of a property are true or false."""
    return _plain_types(one) == {"BOOLEAN"}


def is_date(one: SchemaProperty) -> bool:
    """Return whether all values of a property are dates or times, of which a year can be read."""
    return bool(one.types) and _plain_types(one) <= _DATES


def _plain_types(one: SchemaProperty) -> set[str]:
    plain = (name.upper().removesuffix(" NOT NULL") for name in one.types)
    return {name.replace("_", "").replace(" ", "") for name in plain}


def _joined(name: str, language: QuestionWords) -> frozenset[str]:
    return _find_nouns("".join(split_name(name)), language)


def _plural(label: str) -> tuple[str, str]:
    joined = "".join(split_name(label))
    return (joined, joined[:-1] + "ies" if joined.endswith("y") else f"{joined}s")


def _find_nouns(word: str, language: QuestionWords) -> frozenset[str]:
    """Return the nouns of which a word may be the plural, and itself."""
    word = _NO_LETTER.sub("", word)
    return _strip_plural(word) | {language.irregular.get(word, word)}


def find_verbs(word: str, language: QuestionWords) -> frozenset[str]:
    """Return the verbs of which a word may be a form; two forms of one verb share one of them."""
    word = _NO_LETTER.sub("", word)
    return _strip_ending(word) | {language.irregular.get(word, word)}


@lru_cache(maxsize=65536)
def _strip_plural(word: str) -> frozenset[str]:
    found = {word}
    if word.endswith("ies"):
        found.add(word[:-3] + "y")
    if word.endswith("s") and not word.endswith("ss"):
        found.add(word[:-1])
    if word.endswith("es") and word[:-2].endswith(("s", "x", "z", "ch", "sh", "o")):
        found.add(word[:-2])
    if word.endswith("ses"):
        found.add(word[:-2] + "is")
    return frozenset(one for one in found if len(one) > 2 or one == word)


@lru_cache(maxsize=65536)
def _strip_ending(word: str) -> frozenset[str]:
    found = set(_strip_plural(word))
    if word.endswith("ied"):
        found.add(word[:-3] + "y")
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            found |= {rest, rest + "e"}
            if len(rest) > 2 and rest[-1] == rest[-2]:
                found.add(rest[:-1])
    return frozenset(one for one in found if len(one) > 2 or one == word)


def _is_close(a: str, b: str) -> bool:
    """Return whether two letters have changed places, or one letter differs or is missing.

    The first letter must be right. One of the last three must not differ, since other endings make
    other words: "persona" is no "person".
    """
    if min(len(a), len(b)) < SHORTEST_MISSPELLED or a[0] != b[0]:
        return False
    if len(a) == len(b):
        wrong = [at for at, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        if len(wrong) == 2 and wrong[1] == wrong[0] + 1:
            return a[wrong[0]] == b[wrong[1]] and a[wrong[1]] == b[wrong[0]]
        return len(wrong) == 1 and wrong[0] < len(a) - 3
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    places = range(1, len(longer) - 3)
    return any(longer[:at] + longer[at + 1 :] == shorter for at in places)
