"""Builds an extraction from the names that a tagger found in a chunk."""

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
"""Maximum entities of a chunk, and maximum pairs of entities that share sentences."""
PER_SENTENCE = 12
"""Maximum entities of a sentence to pair. Only lists name more, and they state no relation."""

_EntityKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TaggedPlace:
    """A range ``text[start:end]`` of a chunk that names an entity of a type."""

    start: int
    end: int
    type: str


def build_extraction(chunk: Chunk, places: Iterable[TaggedPlace]) -> Extraction:
    """Return the entities at tagged places, and relations between entities of one sentence.

    Text that cannot be a name is dropped, and counted by reason.
    """
    starts = [one.start for one in chunk.sentences]
    names: dict[_EntityKey, str] = {}
    sentences: dict[_EntityKey, list[int]] = defaultdict(list)
    dropped: Counter[str] = Counter()
    for place in sorted(places, key=lambda one: (one.start, one.end)):
        name = clean_name(chunk.text[place.start : place.end])
        if (fault := name_fault(name)) is not None:
            dropped[fault] += 1
            continue
        key = normalize_name(name), place.type
        if key not in names and len(names) == MOST_ENTITIES:
            dropped["too many"] += 1
            continue
        names.setdefault(key, name)
        number = bisect_right(starts, place.start)
        if number not in sentences[key][-1:]:
            sentences[key].append(number)
    entities = tuple(
        ExtractedEntity(name=name, type=key[1], sentences=tuple(sentences[key]))
        for key, name in names.items()
    )
    return Extraction(entities, tuple(_pair_entities(names, sentences)), dict(dropped))


def _pair_entities(
    names: Mapping[_EntityKey, str], sentences: Mapping[_EntityKey, list[int]]
) -> Iterator[ExtractedRelation]:
    """Yield pairs of entities that share sentences, the pair with the most sentences first."""
    inside: dict[int, list[_EntityKey]] = defaultdict(list)
    for key in names:
        for number in sentences[key]:
            inside[number].append(key)
    shared: dict[tuple[_EntityKey, _EntityKey], list[int]] = defaultdict(list)
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
