"""Connects documents about the same things, by the entities that both mention.

If entities are the only links between documents, a community has few documents and many entities.
Entities outnumber documents, and their own relationships hold them together. A reader who wants the
documents of such a community reads mostly entities. So documents are also connected directly.
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
"""Each document is connected to at most this many similar documents. On pages of Python's manual,
any number from 8 to 15 works equally well: the partitions that are read contain the same amount of
the text that a question needs. With 5, they contain less.
"""
MOST_PAIRS = 5_000
"""Maximum number of comparisons of one document with others, counted once per shared entity. Rare
entities come first. Large collections are compared by rare entities alone, so time grows with the
number of documents and not with its square.
"""
BLOCK = 500_000
"""Pairs that are compared at once; they take about 50 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Pairs of similar documents, and the cosine of each pair; all arrays are ``(p,)``."""

    source: IntArray
    target: IntArray
    cosine: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Mentions:
    """Documents as unit vectors over the entities they mention; all arrays are ``(k,)``."""

    document: IntArray
    entity: IntArray
    value: FloatArray


def find_alike(document: IntArray, entity: IntArray, rarity: FloatArray) -> Likeness:
    """Return up to ``LIKEST`` most similar documents for each document.

    ``document`` and ``entity`` ``(m,)`` are the two sides of each mention; both count from 0.
    ``rarity`` ``(e,)`` is the inverse document frequency of each entity. A document becomes a
    vector with one value per entity: the logarithm of its mentions, times its rarity. Likeness is
    the cosine of two vectors. Documents that share no entity are not alike. Ties go to the lower
    document.
    """
    whole = _make_vectors(document, entity, rarity)
    held = np.bincount(whole.entity, minlength=rarity.size)
    # An entity of a single document counts in its vector's length, but leads to no other document.
    shared = held[whole.entity] > 1
    known = _Mentions(whole.document[shared], whole.entity[shared], whole.value[shared])
    order = np.lexsort((known.entity, held[known.entity], known.document))
    pairs = run_sums(held[known.entity[order]], known.document[order])
    chosen = order[pairs <= MOST_PAIRS]
    if not chosen.size:
        nothing = np.empty(0, dtype=np.int64)
        return Likeness(nothing, nothing, np.empty(0))
    by_entity = np.argsort(known.entity, kind="stable")
    start = starts(known.entity[by_entity], rarity.size)
    found = [
        _compare(known, chosen[block], by_entity, start)
        for block in _split_blocks(known.document[chosen], held[known.entity[chosen]])
    ]
    sources, targets, cosines = zip(*found, strict=True)
    return Likeness(np.concatenate(sources), np.concatenate(targets), np.concatenate(cosines))


def _make_vectors(document: IntArray, entity: IntArray, rarity: FloatArray) -> _Mentions:
    """Return the unit vectors of documents, with each entity of a document once."""
    key = np.sort(document * max(rarity.size, 1) + entity)
    first, times = sum_runs(key, np.ones(key.size))
    owner, named = np.divmod(key[first], max(rarity.size, 1))
    value = np.log1p(times) * rarity[named]
    length = np.sqrt(totals(owner, value * value))[owner]
    return _Mentions(owner, named, value / np.where(length > 0, length, 1.0))


def _split_blocks(document: IntArray, pairs: IntArray) -> list[slice]:
    """Return slices of whole documents with about ``BLOCK`` pairs each.

    ``document`` ``(k,)`` ascends.
    """
    begins = run_starts(document)
    before = np.cumsum(pairs) - pairs
    cuts = begins[run_starts(before[begins] // BLOCK)]
    return [slice(*ends) for ends in zip(cuts, np.append(cuts[1:], document.size), strict=True)]


def _compare(
    known: _Mentions, chosen: IntArray, by_entity: IntArray, start: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return documents with ``chosen`` mentions, their most similar documents, and cosines."""
    place, owner = entries(start, known.entity[chosen])
    one, other = chosen[owner], by_entity[place]
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
