"""Makes an extraction of the places that a tagger of names found in a chunk."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from pgs_neo4j.model.documents import Chunk, ExtractedEntity, ExtractedRelation, Extraction
from pgs_neo4j.text.extraction.names import clean_name, name_fault, normalize_name

OCCURS_WITH = "occurs with"
MOST_ENTITIES, MOST_PAIRS = 200, 60
"""Entities of a chunk, and pairs of them that share sentences, the strongest ones."""
PER_SENTENCE = 12
"""Entities of a sentence that are paired; lists have more."""

_Named = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TaggedPlace:
    """A stretch ``text[start:end]`` of a chunk that names something of a type."""

    start: int
    end: int
    type: str


def extraction_of(chunk: Chunk, places: Iterable[TaggedPlace]) -> Extraction:
    """Return the entities at some places of a chunk, and relations between those of one sentence.

    What cannot be a name is dropped and counted.
    """
    starts = [one.start for one in chunk.sentences]
    names: dict[_Named, str] = {}
    sentences: dict[_Named, list[int]] = defaultdict(list)
    dropped: Counter[str] = Counter()
    for place in sorted(places, key=lambda one: (one.start, one.end)):
        name = clean_name(chunk.text[place.start : place.end])
        if (fault := name_fault(name)) is not None:
            dropped[fault] += 1
            continue
        named = normalize_name(name), place.type
        if named not in names and len(names) == MOST_ENTITIES:
            dropped["too many"] += 1
            continue
        names.setdefault(named, name)
        number = bisect_right(starts, place.start)
        if number not in sentences[named][-1:]:
            sentences[named].append(number)
    entities = tuple(
        ExtractedEntity(name=name, type=named[1], sentences=tuple(sentences[named]))
        for named, name in names.items()
    )
    return Extraction(entities, tuple(_relations(names, sentences)), dict(dropped))


def _relations(
    names: Mapping[_Named, str], sentences: Mapping[_Named, list[int]]
) -> Iterator[ExtractedRelation]:
    """Yield pairs of entities that share sentences, the strongest first."""
    inside: dict[int, list[_Named]] = defaultdict(list)
    for named in names:
        for number in sentences[named]:
            inside[number].append(named)
    shared: dict[tuple[_Named, _Named], list[int]] = defaultdict(list)
    for number, together in sorted(inside.items()):
        for one, other in combinations(together[:PER_SENTENCE], 2):
            if one[0] != other[0]:
                shared[min(one, other), max(one, other)].append(number)
    strongest = sorted(shared.items(), key=lambda item: (-len(item[1]), item[0]))
    for (one, other), numbers in strongest[:MOST_PAIRS]:
        yield ExtractedRelation(
            source=names[one],
            target=names[other],
            keywords=(OCCURS_WITH,),
            sentences=tuple(numbers),
            weight=float(len(numbers)),
        )
