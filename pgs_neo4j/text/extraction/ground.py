"""Grounds an extraction in its chunk: drops everything that has no place in the text.

A name is looked for in the sentences that the reply cites, then in the whole chunk. If the chunk
lacks the name but shares a word with it, the entity counts as implicit in the cited sentences.

Sentences of a description or fact are dropped if they have a number that the chunk lacks. If
nothing is left, the first sentence that the record cites replaces the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from unicodedata import decimal

from pgs_neo4j.model.documents import (
    Chunk,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
    GroundedEntity,
    GroundedExtraction,
    GroundedRelation,
    Spans,
)
from pgs_neo4j.text.extraction.names import entity_key, normalize_name
from pgs_neo4j.text.extraction.places import FoldedText, roots_of
from pgs_neo4j.text.extraction.records import one_line
from pgs_neo4j.text.extraction.schema import OTHER, relation_name
from pgs_neo4j.text.sentences import split_sentences

MOST_SPANS = 200
"""Maximum number of places of an entity in a chunk."""

RELATED = "RELATED"
_NUMBER = re.compile(r"\d+(?:[.,\u066b\u066c]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def ground(extraction: Extraction, chunk: Chunk) -> GroundedExtraction:
    """Return the part of an extraction that is in the chunk, with exact places.

    ``dropped`` counts the rest by reason: ``not in the text``, ``end`` (an end of a relation is not
    in the chunk), ``no sentence``, ``number`` (a description or fact has a number that is not in
    the chunk), and the reasons why records could not be read. Entities of the same name and type
    are merged.
    """
    ground_ = _Ground.of(chunk)
    for entity in extraction.entities:
        ground_.add(entity)
    entities = [ground_.described(one) for one in ground_.distinct()]
    relations = _ground_relations(extraction.relations, ground_, entities)
    dropped = ground_.dropped + Counter(extraction.dropped)
    return GroundedExtraction(
        tuple(entities), tuple(relations), dict(dropped), proven=extraction.proven
    )


@dataclass(slots=True)
class _Ground:
    """A chunk's text, and the entities found in it by name and type."""

    chunk: Chunk
    folded: FoldedText
    starts: list[int]  # places where the sentences begin, in the text
    ranges: list[tuple[int, int]]  # places of the sentences in the folded text
    entities: dict[tuple[str, str], GroundedEntity] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    roots: frozenset[str] | None = None
    numbers: frozenset[str] | None = None
    undescribed: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, chunk: Chunk) -> _Ground:
        starts = [one.start for one in chunk.sentences]
        folded = FoldedText(chunk.text)
        ranges = [
            (bisect_left(folded.places, one.start), bisect_left(folded.places, one.end))
            for one in chunk.sentences
        ]
        return cls(chunk, folded, starts, ranges)

    def add(self, entity: ExtractedEntity) -> None:
        """Add an entity with its places, or count it as dropped."""
        cited = self.valid(entity.sentences)
        spans = self._find(entity.name, cited)
        if not spans and not (cited and roots_of(entity.name) & self._get_roots()):
            self.dropped["not in the text"] += 1
            return
        key = entity_key(entity.name, entity.type)
        former = self.entities.get(key)
        description = self.known(entity.description)
        if entity.description and not description:
            self.undescribed.add(key)
        grounded = GroundedEntity(
            name=former.name if former else entity.name,
            type=former.type if former else entity.type or OTHER,
            description=_join_texts(former.description if former else "", description),
            spans=_merge_spans((*former.spans, *spans) if former else spans),
            sentences=self.sentences_of(spans) if spans else cited,
        )
        if former:
            both = sorted({*former.sentences, *grounded.sentences})
            grounded = replace(grounded, sentences=tuple(both))
        self.entities[key] = grounded

    def known(self, said: str) -> str:
        """Return a text without sentences with numbers that the chunk lacks; count any loss."""
        if not numbers_in(said):
            return said
        if self.numbers is None:
            self.numbers = numbers_in(self._shown)
        kept = keep_known_numbers(said, self.numbers)
        if kept != said:
            self.dropped["number"] += 1
        return kept

    def described(self, entity: GroundedEntity) -> GroundedEntity:
        """Return an entity; if its description was dropped, one of its sentences replaces it."""
        if entity.description or entity_key(entity.name, entity.type) not in self.undescribed:
            return entity
        return replace(entity, description=one_line(self.sentence(entity.sentences)))

    def sentence(self, numbers: Sequence[int]) -> str:
        """Return the first of the numbered sentences, on one line."""
        first = self.chunk.sentences[numbers[0] - 1]
        return " ".join(self.chunk.text[first.start : first.end].split())

    def valid(self, numbers: Iterable[int]) -> tuple[int, ...]:
        """Return only the numbers that belong to sentences of the chunk."""
        return tuple(number for number in numbers if 0 < number <= len(self.starts))

    def sentences_of(self, spans: Spans) -> tuple[int, ...]:
        """Return the numbers of the sentences in which the spans begin."""
        numbers = {bisect_right(self.starts, start) for start, _ in spans}
        return tuple(sorted(numbers))

    def distinct(self) -> list[GroundedEntity]:
        """Return the entities; a place inside a longer name counts only for the longer name."""
        every = sorted(
            {span for one in self.entities.values() for span in one.spans},
            key=lambda span: (span[0], -span[1]),
        )
        longest: list[tuple[int, int]] = []
        for span in every:
            if not longest or span[1] > longest[-1][1]:
                longest.append(span)
        return [self._drop_nested(one, longest) for one in self.entities.values()]

    def _drop_nested(
        self, entity: GroundedEntity, longest: Sequence[tuple[int, int]]
    ) -> GroundedEntity:
        own = tuple(span for span in entity.spans if not _is_inside(span, longest))
        if not own or own == entity.spans:
            return entity
        return replace(entity, spans=own, sentences=self.sentences_of(own))

    def _find(self, name: str, cited: Sequence[int]) -> Spans:
        """Return the places of a name in the cited sentences, or else in the whole chunk."""
        folded = self.folded
        size = len(folded.text)
        exact = [span for span in folded.exact(name, 0, size) if self._is_whole(span)]
        numbers = {number: self.ranges[number - 1] for number in cited}
        found = [span for span in exact if self._find_number(span) in numbers]
        for number in numbers.keys() - {self._find_number(span) for span in found}:
            found += folded.inflected(name, *numbers[number])
        found = found or exact or folded.inflected(name, 0, size) or folded.misspelled(name)
        return folded.spans(found)[:MOST_SPANS]

    def _find_number(self, span: tuple[int, int]) -> int:
        """Return the number of the sentence that contains a place of the folded text."""
        return bisect_right(self.ranges, (span[0], 1 << 60))

    def _is_whole(self, span: tuple[int, int]) -> bool:
        """Return whether a place ends in the sentence in which it begins."""
        return span[1] <= self.ranges[self._find_number(span) - 1][1]

    def _get_roots(self) -> frozenset[str]:
        """Return the roots of the words that the prompt of the chunk shows."""
        if self.roots is None:
            self.roots = roots_of(self._shown)
        return self.roots

    @property
    def _shown(self) -> str:
        """All text that the chunk's prompt shows."""
        return " ".join((*self.chunk.path, self.chunk.context, self.chunk.text))


def _ground_relations(
    relations: Iterable[ExtractedRelation], ground_: _Ground, entities: Sequence[GroundedEntity]
) -> list[GroundedRelation]:
    """Return the relations whose ends and sentences are in the chunk, and count the others."""
    by_name: dict[str, list[GroundedEntity]] = {}
    for entity in entities:
        by_name.setdefault(normalize_name(entity.name), []).append(entity)
    grounded: dict[tuple[str, ...], GroundedRelation] = {}
    for relation in relations:
        ends = _find_ends(relation, by_name)
        if ends is None:
            ground_.dropped["end"] += 1
            continue
        source, target = ends
        sentences = _choose_sentences(relation, source, target, ground_)
        if not sentences:
            ground_.dropped["no sentence"] += 1
            continue
        made = _make_relation(relation, source, target, sentences, ground_)
        key = (made.source, made.source_type, made.type, made.target, made.target_type)
        grounded[key] = _merge(grounded[key], made) if key in grounded else made
    return list(grounded.values())


def _find_ends(
    relation: ExtractedRelation, by_name: dict[str, list[GroundedEntity]]
) -> tuple[GroundedEntity, GroundedEntity] | None:
    """Return the two entities of a relation, or None if one is missing or both are the same.

    Of several entities with the same name, the one with most of the cited sentences is chosen.
    """
    cited = set(relation.sentences)

    def best(name: str) -> GroundedEntity | None:
        namesakes = by_name.get(normalize_name(name), [])
        return max(namesakes, key=lambda one: len(cited & set(one.sentences)), default=None)

    source, target = best(relation.source), best(relation.target)
    if source is None or target is None or source is target:
        return None
    return source, target


def _choose_sentences(
    relation: ExtractedRelation, source: GroundedEntity, target: GroundedEntity, ground_: _Ground
) -> tuple[int, ...]:
    """Return the cited sentences if one contains an end, else the sentences with both ends."""
    cited = ground_.valid(relation.sentences)
    if set(cited) & {*source.sentences, *target.sentences}:
        return cited
    return tuple(sorted(set(source.sentences) & set(target.sentences)))


def _make_relation(
    relation: ExtractedRelation,
    source: GroundedEntity,
    target: GroundedEntity,
    sentences: tuple[int, ...],
    ground_: _Ground,
) -> GroundedRelation:
    """Return a relation between two entities; without a usable fact, a sentence replaces it."""
    named = (relation_name(word) for word in relation.keywords)
    return GroundedRelation(
        source=source.name,
        source_type=source.type,
        target=target.name,
        target_type=target.type,
        type=next(filter(None, named), RELATED),
        fact=ground_.known(relation.description) or ground_.sentence(sentences),
        keywords=relation.keywords,
        sentences=sentences,
        weight=relation.weight,
    )


def _merge(one: GroundedRelation, other: GroundedRelation) -> GroundedRelation:
    return replace(
        one,
        fact=_join_texts(one.fact, other.fact),
        keywords=tuple(dict.fromkeys((*one.keywords, *other.keywords))),
        sentences=tuple(sorted({*one.sentences, *other.sentences})),
        weight=max(one.weight, other.weight),
    )


def _join_texts(one: str, other: str) -> str:
    return one if other in one else f"{one} {other}".strip()


def _merge_spans(spans: Iterable[tuple[int, int]]) -> Spans:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(set(spans), key=lambda span: (span[0], -span[1])):
        if not merged or start >= merged[-1][1]:
            merged.append((start, end))
    return tuple(merged[:MOST_SPANS])


def _is_inside(span: tuple[int, int], longest: Sequence[tuple[int, int]]) -> bool:
    """Return whether a span is part of a longer span in ``longest``.

    ``longest`` ascends and has no nested spans.
    """
    first, last = longest[bisect_right(longest, (span[0], 1 << 60)) - 1]
    return last >= span[1] and (first, last) != span


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers of a text in ASCII digits, without separators of thousands."""
    return frozenset(map(_normalize_number, _NUMBER.findall(text)))


def keep_known_numbers(said: str, known: Set[str]) -> str:
    """Return a text without the sentences that have an unknown number."""
    if numbers_in(said) <= known:
        return said
    sentences = (" ".join(said[one.start : one.end].split()) for one in split_sentences(said))
    return " ".join(one for one in sentences if numbers_in(one) <= known)


def _normalize_number(number: str) -> str:
    plain = "".join(str(decimal(sign, sign)) for sign in number)
    plain = plain.replace("\u066b", ".").replace("\u066c", ",")
    if _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "")
    return plain.lstrip("0") or "0"
