"""Bundles the passages of each document, so that they stay together when a graph is divided.

Without bundles, mentions of entities decide the division, because they far outnumber the links
from passage to passage. A document's passages would end up in several partitions, and a reader
would get torn pages.

If entities are the only links between documents, a community has few documents and many entities.
Entities outnumber documents, and their own relationships hold them together. A reader who wants the
documents of such a community reads mostly entities. So documents are also connected directly, by
the entities that both mention.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.connected import components
from pgs_neo4j.graph.csr import (
    BoolArray,
    Edges,
    FloatArray,
    IntArray,
    dense,
    entries,
    run_starts,
    run_sums,
    starts,
    sum_runs,
    totals,
    undirected,
)
from pgs_neo4j.graph.pool import boxes

MENTIONED = 0.1
"""Share of their weight that mentions keep if documents are alike; likeness gets the rest.
Documents are then divided by the entities that they share, and entities by their own relationships,
instead of both at once. On pages of Python's manual, documents make up 96 % of the tokens in the
partitions that contain documents. With a share of 0.05, they make up 99 %, and with 0.5, 61 %. With
0, an entity that is only mentioned would belong nowhere.
"""

CONTINUED = 10.0
"""Weight of the link between two consecutive runs of one document; the mention of a rare entity
weighs 1. A document too large for one partition then lies in neighboring partitions."""


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """Nodes that stay together.

    ``of`` ``(n,)`` is the bundle of each node; bundles are numbered from 0 by their lowest node.
    ``document`` ``(n,)`` is the document of each node, or -1. ``first`` ``(b,)`` is the lowest node
    of each bundle, and ``nodes`` ``(b,)`` counts its nodes.
    """

    of: IntArray
    document: IntArray
    first: IntArray
    nodes: IntArray

    def sum(self, values: IntArray) -> IntArray:
        """Return the sum ``(b,)`` of each bundle's ``values`` ``(n,)``."""
        return totals(self.of, values).astype(np.int64)

    def most(self, labels: IntArray) -> IntArray:
        """Return the most frequent label ``(b,)`` of each bundle's nodes.

        ``labels`` are ``(n,)``. A bundle gets -1 only if all of its labels are -1. The lowest label
        wins a tie.
        """
        result = np.full(self.first.size, -1, dtype=np.int64)
        known = np.flatnonzero(labels >= 0)
        count = int(labels.max(initial=0)) + 1
        pair, members = np.unique(self.of[known] * count + labels[known], return_counts=True)
        # The last of several writes to one place wins, so the order ends with the most members
        # and, among equals, the lowest label.
        order = np.lexsort((-pair, members))
        bundle, label = np.divmod(pair[order], count)
        result[bundle] = label
        return result


def find_documents(
    passage: BoolArray,
    ends: tuple[IntArray, IntArray],
    order: BoolArray,
    part: BoolArray,
) -> IntArray:
    """Return the document ``(n,)`` of each node, numbered from 0, or -1.

    ``passage`` ``(n,)`` marks passages. ``ends`` are the two nodes of each relationship, two arrays
    ``(m,)``. ``order`` ``(m,)`` marks the links from passage to passage, and ``part`` ``(m,)`` the
    links between a passage and its document. A single node is not a document.
    """
    tied = order | part
    edges = Edges(passage.size, ends[0][tied], ends[1][tied], np.ones(np.count_nonzero(tied)))
    root = components(edges, np.zeros_like(passage, dtype=np.int64))
    several = np.bincount(root, minlength=1)[root] > 1
    document = np.full(passage.size, -1, dtype=np.int64)
    document[several] = dense(root[several])
    return document


def is_order(passage: BoolArray, ends: tuple[IntArray, IntArray]) -> bool:
    """Return whether relationships between ``ends``, two arrays ``(k,)``, put passages in order.

    They do if all of them connect passages, and each passage has at most one predecessor and one
    successor. Relationships between similar passages, in contrast, branch.
    """
    source, target = ends
    distinct = np.unique(source * passage.size + target)
    source, target = np.divmod(distinct, passage.size)
    source, target = source[source != target], target[source != target]
    return bool(
        source.size
        and passage[source].all()
        and passage[target].all()
        and np.bincount(source).max() == 1
        and np.bincount(target).max() == 1
    )


def bundle_documents(
    document: IntArray,
    ends: tuple[IntArray, IntArray],
    order: BoolArray,
    tokens: IntArray,
    limits: Limits,
) -> Bundles:
    """Return one bundle per document, or the fewest runs of consecutive passages that fit.

    ``document`` and ``tokens`` are ``(n,)``; ``ends`` and ``order`` ``(m,)`` are as in
    :func:`find_documents`. A node without a document, or over the token limit, is a separate
    bundle.
    """
    count = document.size
    own = np.flatnonzero(document >= 0)
    place = _count_predecessors(count, ends, order)
    own = own[np.lexsort((own, place[own], document[own]))]
    giant = np.zeros(own.size, dtype=np.bool_)
    if limits.max_tokens is not None:
        giant = tokens[own] > limits.max_tokens
    # No box spans two shelves. So each document starts a new shelf, and a passage over the limit
    # gets a separate shelf.
    breaks = np.diff(document[own], prepend=-1) != 0
    breaks |= giant | np.append(False, giant[:-1])
    shelf = np.cumsum(breaks)
    of = np.arange(count)
    if own.size:
        of[own] = count + boxes(np.ones_like(own), tokens[own], shelf, limits)
    of = dense(of)
    first = np.full(int(of.max(initial=-1)) + 1, count, dtype=np.int64)
    np.minimum.at(first, of, np.arange(count))
    return Bundles(of, document, first, np.bincount(of, minlength=first.size))


def weigh_relationships(
    bundles: Bundles,
    ends: tuple[IntArray, IntArray],
    weight: FloatArray,
    *,
    order: BoolArray,
    part: BoolArray,
    mention: BoolArray,
    passage: BoolArray,
) -> FloatArray:
    """Return weights ``(m,)`` by the kind of each relationship.

    A mention counts by the inverse document frequency of its entity. It counts in full if a single
    document mentions the entity, and nearly nothing if all of many documents do. A relationship
    between entities counts by the entity that more documents mention. Links from passage to
    passage, and between a passage and its document, weigh ``CONTINUED``. All others keep their
    ``weight`` ``(m,)``.
    """
    source, target = ends
    rarity = entity_rarity(bundles, ends, mention, passage)
    weighed = weight * np.minimum(rarity[source], rarity[target])
    weighed[order | part] = CONTINUED
    return weighed


def entity_rarity(
    bundles: Bundles, ends: tuple[IntArray, IntArray], mention: BoolArray, passage: BoolArray
) -> FloatArray:
    """Return the inverse document frequency ``(n,)`` of each node, above 0 and up to 1.

    It is 1 for passages and for nodes that no passage mentions. A passage without a document counts
    as a document.
    """
    count = passage.size
    home, entity = _find_mentions(ends, mention, passage)
    document = np.where(bundles.document >= 0, bundles.document, count + np.arange(count))
    pairs = np.unique(entity * (2 * count) + document[home])
    held = np.bincount(pairs // (2 * count), minlength=count)
    documents = np.unique(document[passage]).size
    # The + 1 keeps rarity above 0, so an entity that all documents mention stays connected.
    rarity: FloatArray = 1.0 - np.log(np.maximum(held, 1)) / np.log(documents + 1)
    return rarity


def liken_bundles(
    bundles: Bundles,
    ends: tuple[IntArray, IntArray],
    weight: FloatArray,
    *,
    mention: BoolArray,
    passage: BoolArray,
) -> tuple[FloatArray, Edges]:
    """Move weight from mentions to new edges between similar documents; return weights and edges.

    ``weight`` ``(m,)`` comes from :func:`weigh_relationships`; the returned weights have the same
    shape. The new edges connect the first nodes of similar bundles. The sum of all weights stays
    the same. If no documents are alike, mentions keep their weight, and there are no new edges.
    """
    home, entity = _find_mentions(ends, mention, passage)
    rarity = entity_rarity(bundles, ends, mention, passage)
    alike = find_alike(bundles.of[home], entity, rarity)
    likeness, mentioned = float(alike.cosine.sum()), float(weight[mention].sum())
    if not likeness or not mentioned:
        return weight, undirected(passage.size, *np.empty((2, 0), dtype=np.int64))
    left = np.where(mention, weight * MENTIONED, weight)
    scale = (1 - MENTIONED) * mentioned / likeness
    ends_alike = bundles.first[alike.source], bundles.first[alike.target]
    return left, undirected(passage.size, *ends_alike, alike.cosine * scale)


def share_together(document: IntArray, passage: BoolArray, labels: IntArray) -> float | None:
    """Return the share of passages in the same part as most passages of their document.

    All arrays are ``(n,)``. ``document`` is -1 for a node without one, ``passage`` marks passages,
    and ``labels`` are the parts. Passages without a document do not count. Returns None if no
    passage has a document.
    """
    own = np.flatnonzero(passage & (document >= 0))
    if not own.size:
        return None
    parts = int(labels.max()) + 1
    pairs, members = np.unique(document[own] * parts + labels[own], return_counts=True)
    most = np.zeros(int(document.max()) + 1, dtype=np.int64)
    np.maximum.at(most, pairs // parts, members)
    return float(most.sum() / own.size)


def _find_mentions(
    ends: tuple[IntArray, IntArray], mention: BoolArray, passage: BoolArray
) -> tuple[IntArray, IntArray]:
    """Return the passage and the entity of each mention, in either direction."""
    source, target = ends[0][mention], ends[1][mention]
    backward = passage[source] & ~passage[target]
    entity = np.where(backward, target, source)
    home = np.where(backward, source, target)
    kept = passage[home] & ~passage[entity]
    return home[kept], entity[kept]


def _count_predecessors(count: int, ends: tuple[IntArray, IntArray], order: BoolArray) -> IntArray:
    """Return how many passages come before each of ``count`` nodes, ``(n,)``.

    Each step doubles the known distance. The number of steps is fixed, so a ring of passages cannot
    loop forever.
    """
    before = np.full(count, -1, dtype=np.int64)
    source, target = ends[0][order], ends[1][order]
    proper = source != target
    before[target[proper]] = source[proper]
    place = (before >= 0).astype(np.int64)
    for _ in range(count.bit_length()):
        onward = np.flatnonzero(before >= 0)
        if not onward.size:
            break
        place[onward] += place[before[onward]]
        before[onward] = before[before[onward]]
    return place


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
