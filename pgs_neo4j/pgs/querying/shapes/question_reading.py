"""Finds labels, types, properties, and names at a place of a question.

Each function yields what the words from a place on may be, with the place behind it. What hinders
a reading is kept in the question, so that a refusal can say it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from pgs_neo4j.model.graph_schema import SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.shapes.question_tokens import Word
from pgs_neo4j.pgs.querying.shapes.question_words import QuestionWords
from pgs_neo4j.pgs.querying.shapes.schema_words import (
    MOST_WORDS,
    SchemaWords,
    split_name,
)

LONGEST_NAME = 9
"""Words of a name without quotes."""

LONGEST_PHRASE = 7
"""Words of the longest phrase of ``QuestionWords``."""


@dataclass(slots=True)
class Question:
    """The words of a question, the schema, and what hindered the reading that came farthest.

    ``steps`` are the phrases that have been read, in all readings.
    """

    words: tuple[Word, ...]
    text: str
    schema: SchemaWords
    farthest: int = 0
    steps: int = 0
    obstacles: dict[int, str] = field(default_factory=dict)

    @property
    def language(self) -> QuestionWords:
        """The words of the question's language."""
        return self.schema.language

    def skip(self, at: int, phrases: Set[str] | Mapping[str, object]) -> Iterator[tuple[int, str]]:
        """Yield the place behind each of the phrases that stand at a place, the longest first."""
        for size in range(min(LONGEST_PHRASE, len(self.words) - at), 0, -1):
            words = [word.lower for word in self.words[at : at + size]]
            if "" not in words and (phrase := " ".join(words)) in phrases:
                yield at + size, phrase

    def skip_any(self, at: int, phrases: Set[str]) -> int:
        """Return the place behind the longest of the phrases, or the place itself."""
        return next((after for after, _ in self.skip(at, phrases)), at)

    def spell(self, at: int) -> Iterator[tuple[int, list[str]]]:
        """Yield the place behind each run of words that may be a name of the schema."""
        for size in range(min(MOST_WORDS, len(self.words) - at), 0, -1):
            words = self.words[at : at + size]
            if all(word.kind == "word" for word in words):
                yield at + size, [word.lower for word in words]

    def hinder(self, at: int, obstacle: str) -> None:
        """Remember what hinders the reading at a place."""
        self.obstacles.setdefault(at, obstacle)


def skip_joined(q: Question, at: int) -> int:
    """Return the place behind "and" or a comma, which join phrases."""
    return q.skip_any(at, q.language.joiners)


def skip_particle(q: Question, at: int, one: SchemaType) -> int:
    """Return the place behind a word such as "in" that belongs to a type, as in ``ACTED_IN``."""
    return q.skip_any(at, frozenset(split_name(one.type)))


def read_label(q: Question, at: int) -> Iterator[tuple[int, str]]:
    """Yield the place behind the longest name of a label, with each label that it may be."""
    for after, words in q.spell(at):
        found = q.schema.find_labels(words)
        if found:
            for label in found:
                yield after, label
            return


def read_verb(q: Question, at: int) -> Iterator[tuple[int, list[SchemaType]]]:
    """Yield the place behind the words of a type, and the types that have these words."""
    for after, words in q.spell(at):
        content = [word for word in words if word not in q.language.empty_type_words]
        if len(content) == len(words) and (found := q.schema.find_types(words)):
            yield after, list(found)


def read_name(q: Question, at: int) -> Iterator[tuple[int, str]]:
    """Yield the place behind each text that may be a name, the longest first."""
    if at >= len(q.words):
        return
    if q.words[at].kind == "quoted":
        if q.words[at].text:
            yield at + 1, q.words[at].text
        return
    first = q.words[at]
    is_function = first.lower in q.language.function_words and not first.is_capital
    if (is_function and first.lower not in q.language.any_one) or any(
        q.skip(at, q.language.superlatives)
    ):
        return
    for size in range(min(LONGEST_NAME, len(q.words) - at), 0, -1):
        words = q.words[at : at + size]
        inner_signs = all(
            word.text in (",", "&", ":", "'s") for word in words if word.kind == "sign"
        )
        plain = [word for word in words if word.kind == "word"]
        ends = words[0].kind != "sign" and words[-1].kind != "sign"
        if any(word.kind == "quoted" for word in words) or not inner_signs or not ends:
            continue
        if any(word.lower not in q.language.function_words for word in plain):
            yield at + size, q.text[words[0].start : words[-1].end]


def find_property(
    q: Question,
    labels: tuple[str, ...],
    words: list[str],
    fits: Callable[[SchemaProperty], bool],
    at: int,
    quiet: bool = False,
) -> str:
    """Return the only property of the labels that the words mean; empty if it is not clear."""
    found: dict[str, bool] = {}
    for label in labels:
        properties, whole = q.schema.find_properties(label, words)
        fit = [one for one in properties if fits(one)]
        if not fit and not quiet and properties:
            q.hinder(at, f"the property {properties[0].name} has no values of the right type")
        found |= {one.name: whole for one in fit}
        if fit and q.schema.has_linked_property(label, words, whole):
            q.hinder(at, f"“{' '.join(words)}” may be a property of nodes or of relationships")
            return ""
    if len(found) > 1:
        q.hinder(at, f"“{' '.join(words)}” may be {' or '.join(sorted(found))}")
    return next(iter(found)) if len(found) == 1 else ""


def explain_choice(what: str, label: str, fit: list[SchemaProperty]) -> str:
    """Return why words stand for none of the properties that fit, or for several of them."""
    if not fit:
        return f"{what} is no property of {label}"
    return f"{what} may be {' or '.join(sorted(one.name for one in fit)[:4])} of {label}"
