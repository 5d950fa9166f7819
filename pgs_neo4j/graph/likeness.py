"""Connects documents that are about the same, by the entities that both mention.

Where entities are the only way from one document to another, a community has few documents and
many entities: there are more of them, and relationships of their own hold them together. What
reads such a community to read documents reads mostly entities. So documents are also connected
directly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgs_neo4j.graph.csr import (
    FloatArray,
    IntArray,
    entries,
    run_starts,
    run_sums,
    starts,
    sum_runs,
    totals,
)

LIKEST = 10
"""Documents to which each one is connected. On pages of Python's manual, the partitions that are
read hold as much of the text that a question needs with 8 to 15, and less with 5."""
MOST_PAIRS = 5_000
"""Documents to which each one is compared, counted once per entity that both mention. Rare entities
come first, so large collections are compared by those alone, in a time that grows with their size.
"""
BLOCK = 500_000
"""Pairs that are compared at once, about 50 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Pairs of documents that are alike: ``source``, ``target``, and their ``cosine``, ``(p,)``."""

    source: IntArray
    target: IntArray
    cosine: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Mentions:
    """Entities that documents mention, as vectors of unit length; three arrays ``(k,)``."""

    document: IntArray
    entity: IntArray
    value: FloatArray


def find_alike(document: IntArray, entity: IntArray, rarity: FloatArray) -> Likeness:
    """Return the ``LIKEST`` documents that are most like each, by what they mention.

    ``document`` and ``entity`` ``(m,)`` are those of each mention; both count from 0. ``rarity``
    ``(e,)`` is the inverse document frequency of each entity. A document is the vector of its
    entities, each with the logarithm of its mentions times its rarity; likeness is the cosine.
    Documents that share no entity are not alike. Ties go to the lower document.
    """
    whole = _vectors(document, entity, rarity)
    held = np.bincount(whole.entity, minlength=rarity.size)
    shared = held[whole.entity] > 1
    known = _Mentions(whole.document[shared], whole.entity[shared], whole.value[shared])
    order = np.lexsort((known.entity, held[known.entity], known.document))
    pairs = run_sums(held[known.entity[order]], known.document[order])
    asked = order[pairs <= MOST_PAIRS]
    if not asked.size:
        nothing = np.empty(0, dtype=np.int64)
        return Likeness(nothing, nothing, np.empty(0))
    by_entity = np.argsort(known.entity, kind="stable")
    start = starts(known.entity[by_entity], rarity.size)
    found = [
        _compare(known, asked[block], by_entity, start)
        for block in _blocks(known.document[asked], held[known.entity[asked]])
    ]
    sources, targets, cosines = zip(*found, strict=True)
    return Likeness(np.concatenate(sources), np.concatenate(targets), np.concatenate(cosines))


def _vectors(document: IntArray, entity: IntArray, rarity: FloatArray) -> _Mentions:
    """Return each entity of each document once."""
    key = np.sort(document * max(rarity.size, 1) + entity)
    first, times = sum_runs(key, np.ones(key.size))
    owner, named = np.divmod(key[first], max(rarity.size, 1))
    value = np.log1p(times) * rarity[named]
    length = np.sqrt(totals(owner, value * value))[owner]
    return _Mentions(owner, named, value / np.where(length > 0, length, 1.0))


def _blocks(document: IntArray, pairs: IntArray) -> list[slice]:
    """Return slices of whole documents with about ``BLOCK`` pairs each.

    ``document`` ``(k,)`` ascends.
    """
    begins = run_starts(document)
    before = np.cumsum(pairs) - pairs
    cuts = begins[run_starts(before[begins] // BLOCK)]
    return [slice(*ends) for ends in zip(cuts, np.append(cuts[1:], document.size), strict=True)]


def _compare(
    known: _Mentions, asked: IntArray, by_entity: IntArray, start: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the likest documents of those whose mentions are ``asked``, with their cosines."""
    place, owner = entries(start, known.entity[asked])
    one, other = asked[owner], by_entity[place]
    apart = known.document[one] != known.document[other]
    one, other = one[apart], other[apart]
    count = int(known.document.max(initial=0)) + 1
    key = known.document[one] * count + known.document[other]
    order = np.argsort(key)
    first, cosine = sum_runs(key[order], (known.value[one] * known.value[other])[order])
    source, target = np.divmod(key[order[first]], count)
    best = np.lexsort((target, -cosine, source))
    source, target, cosine = source[best], target[best], cosine[best]
    kept = run_sums(np.ones_like(source), source) <= LIKEST
    return source[kept], target[kept], cosine[kept]
