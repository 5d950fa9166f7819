"""Lets small documents share a prompt, and gives each its own part of the reply."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from pgs_neo4j.model.documents import (
    Chunk,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
)
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.tokens import estimate

SMALL_TOKENS = 300
"""Tokens of a document below which it shares a prompt with others."""
SHARED_TOKENS, MOST_SHARED = 1200, 16
"""Tokens and documents of a shared prompt: not more than a chunk of the published size."""


def share_prompts(chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    """Yield the chunks that share a prompt, in their order; most are alone.

    Only whole documents share one, since chunks of larger ones have headings and context.
    """
    group: list[Chunk] = []
    tokens = 0
    for chunk in chunks:
        size = estimate(chunk.text)
        if not _is_small(chunk, size):
            yield [chunk]
            continue
        if group and (tokens + size > SHARED_TOKENS or len(group) == MOST_SHARED):
            yield group
            group, tokens = [], 0
        group.append(chunk)
        tokens += size
    if group:
        yield group


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
    parts = [Extraction(tuple(own), tuple(stated)) for own, stated in pairs]
    return [replace(parts[0], dropped=extraction.dropped), *parts[1:]]


def _is_small(chunk: Chunk, tokens: int) -> bool:
    return tokens <= SMALL_TOKENS and chunk.index == 0 and not (chunk.context or chunk.path)


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
