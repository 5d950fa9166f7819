"""Lets small documents share a prompt, and gives each its own part of the reply."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TypeVar

from pgs_neo4j.documents.batches import batches
from pgs_neo4j.model.documents import (
    Chunk,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
)
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.tokens import estimate

T = TypeVar("T")

SMALL_TOKENS = 300
"""Tokens of a document below which it shares a prompt with others."""
SHARED_TOKENS, MOST_SHARED = 1200, 16
"""Tokens and documents of a shared prompt: not more than a chunk of the published size."""


def share_prompts(wanted: Iterable[T], chunk_of: Callable[[T], Chunk]) -> Iterator[list[T]]:
    """Yield what shares a prompt; what has one of its own comes first.

    Only whole documents share one, since chunks of larger ones have headings and context.
    """
    small: list[T] = []
    for one in wanted:
        if is_small(chunk_of(one)):
            small.append(one)
        else:
            yield [one]
    yield from batches(small, MOST_SHARED, SHARED_TOKENS, lambda one: estimate(chunk_of(one).text))


def separate(extraction: Extraction, passages: Sequence[Chunk]) -> list[Extraction]:
    """Return what an extraction says of each passage; sentences count from 1 in each.

    A description belongs to the one passage that it cites. One that cites several may mix them, so
    it is left out, and the name stays with each. A record that cites nothing belongs to the
    passages that have its names. What was dropped counts for the first.
    """
    if len(passages) == 1:
        return [extraction]
    ends = [*accumulate(len(passage.sentences) for passage in passages)]
    entities: list[list[ExtractedEntity]] = [[] for _ in passages]
    relations: list[list[ExtractedRelation]] = [[] for _ in passages]
    texts = [normalize_name(passage.text) for passage in passages]
    for entity in extraction.entities:
        cited = _cited(entity.sentences, ends) or _holding(texts, entity.name)
        about = entity.description if len(cited) == 1 else ""
        for place, sentences in cited.items():
            entities[place].append(replace(entity, description=about, sentences=sentences))
    for relation in extraction.relations:
        names = (relation.source, relation.target)
        cited = _cited(relation.sentences, ends) or _holding(texts, *names)
        about = relation.description if len(cited) == 1 else ""
        for place, sentences in cited.items():
            relations[place].append(replace(relation, description=about, sentences=sentences))
    pairs = zip(entities, relations, strict=True)
    proven = extraction.proven
    parts = [Extraction(tuple(own), tuple(stated), proven=proven) for own, stated in pairs]
    return [replace(parts[0], dropped=extraction.dropped), *parts[1:]]


def is_small(chunk: Chunk) -> bool:
    """Whether a chunk is a whole document that may share a prompt."""
    whole = chunk.index == 0 and not (chunk.context or chunk.path)
    return whole and estimate(chunk.text) <= SMALL_TOKENS


def _cited(numbers: Sequence[int], ends: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Return the sentences of each passage that is cited, counted from 1."""
    cited: dict[int, tuple[int, ...]] = {}
    for number in numbers:
        place = bisect_right(ends, number - 1)
        if place < len(ends):
            before = ends[place - 1] if place else 0
            cited[place] = (*cited.get(place, ()), number - before)
    return cited


def _holding(texts: Sequence[str], *names: str) -> dict[int, tuple[int, ...]]:
    """Return the passages that have all of some names; which sentences is not known."""
    keys = [normalize_name(name) for name in names]
    return {place: () for place, text in enumerate(texts) if all(key in text for key in keys)}
