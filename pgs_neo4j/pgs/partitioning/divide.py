"""Turns communities into partitions within limits, and keeps earlier partitions if possible.

If the mapping names passages, the graph has documents. Their nodes are bundled and relationships
get weights that hold documents together. All other graphs are divided by their own weights.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import Communities
from pgs_neo4j.database.portions import in_order, portions
from pgs_neo4j.database.queries import Row
from pgs_neo4j.graph.bundles import (
    Bundles,
    bundle_documents,
    find_documents,
    is_order,
    liken_bundles,
    weigh_relationships,
)
from pgs_neo4j.graph.csr import BoolArray, Edges, IntArray, contracted, join, undirected
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.graph.limits import (
    Limited,
    Limits,
    apply_limits,
    renumbered,
    repool,
    spread,
)
from pgs_neo4j.graph.pool import similarity_order
from pgs_neo4j.graph.steady import numbered, steady, unchanged
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.graph import PART_TYPES
from pgs_neo4j.pgs.partitioning.drift import Predecessor
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.pgs.partitioning.view import View
from pgs_neo4j.text.node_text import searched_text

FRAME_TOKENS = 47
"""Tokens of a node in a prompt besides its text.

They are for the alias, a title of 100 characters, labels, margins, and three relationships.
"""
SPARE = 1.38
"""A prompt's room for nodes at default settings, as a multiple of the limit of a partition."""
# Random projections preserve angles well enough to sort nodes by similarity (Johnson and
# Lindenstrauss 1984). With this width, a million nodes take 256 MB instead of gigabytes.
WIDTH = 64
MOST_NODES = 1000


class FeaturesRow(TypedDict):
    """The row of ``read_features``: parallel lists. A missing vector is an empty list."""

    ids: list[int]
    vectors: list[list[float]]
    texts: list[list[object]]


@dataclass(frozen=True, slots=True, eq=False)
class Bundled:
    """A view as bundles of nodes that stay together.

    ``weight`` ``(m,)`` are new weights of the view's relationships. ``alike`` are edges between
    nodes of similar documents. ``edges`` combine both as edges between bundles. ``tokens`` ``(b,)``
    are the tokens of each bundle, as counted against the limit.
    """

    bundles: Bundles
    weight: NDArray[np.float64]
    alike: Edges
    edges: Edges
    tokens: IntArray


@dataclass(frozen=True, slots=True)
class Division:
    """Partitions within the limits. Their ids are the labels of ``limited`` plus 1.

    ``shared`` are the ids of unchanged partitions, which keep their earlier ids.
    """

    limited: Limited
    shared: frozenset[int] = frozenset()


async def divide_communities(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    edges: Edges,
    communities: NDArray[np.int64],
    previous: Predecessor | None,
    bundled: Bundled | None = None,
) -> Division:
    """Bring the community ``(n,)`` of each scanned node within the limits.

    ``previous`` is the generation that the communities grew from. Its partitions stay unchanged if
    they are about as good as new ones. With ``bundled``, the nodes of a bundle stay together.
    """
    limits = limits_of(order.config)
    whole = _collect_units(view, edges, communities, previous, bundled)
    limited = await asyncio.to_thread(_apply_limits, whole, limits)
    if np.count_nonzero(limited.pool) > 1:
        pooled = limited.pool[limited.labels][whole.of]
        ranks = (await pool_order(tools.db, order.mapping, view, pooled))[whole.first]
        limited = repool(limited, whole.tokens, limits, ranks, whole.nodes)
    if bundled is not None:
        limited = spread(limited, bundled.bundles.of)
    return Division(limited) if previous is None else share_unchanged(limited, previous)


def bundle(order: BuildOrder, view: View, weight: NDArray[np.float64]) -> Bundled | None:
    """Bundle the documents of a view; return None without documents.

    ``weight`` ``(m,)`` are the usable weights of the view's relationships.
    """
    tokens = prompt_tokens(view.tokens)
    return bundle_view(view, order.mapping, weight, tokens, limits_of(order.config))


def bundle_view(
    view: View,
    mapping: GraphMapping,
    weight: NDArray[np.float64],
    tokens: IntArray,
    limits: Limits,
) -> Bundled | None:
    """Bundle a view; return None without a document of two nodes.

    ``weight`` ``(m,)`` are usable weights, and ``tokens`` ``(n,)`` are counted against the limits.
    """
    passage, ends = view.passage, (view.source, view.target)
    if not passage.any():
        return None
    order = _find_order(passage, ends, view.type)
    mention = np.isin(view.type, [text_hash(name) for name in mapping.mention_types])
    part = _find_parts(passage, ends, view.type) & ~mention
    document = find_documents(passage, ends, order, part)
    if not (document >= 0).any():
        return None
    bundles = bundle_documents(document, ends, order, tokens, limits)
    weight = weigh_relationships(
        bundles, ends, weight, order=order, part=part, mention=mention, passage=passage
    )
    weight, alike = liken_bundles(bundles, ends, weight, mention=mention, passage=passage)
    between = contracted(join(undirected(len(view.ids), *ends, weight), alike), bundles.of)
    return Bundled(bundles, weight, alike, between, bundles.sum(tokens))


def _find_order(
    passage: BoolArray, ends: tuple[IntArray, IntArray], types: NDArray[np.int64]
) -> BoolArray:
    """Return a mask ``(m,)`` of the relationships whose type puts passages in order."""
    inside = passage[ends[0]] & passage[ends[1]]
    found = np.zeros(types.size, dtype=np.bool_)
    for name in np.unique(types[inside]):
        chosen = types == name
        if is_order(passage, (ends[0][chosen], ends[1][chosen])):
            found |= chosen
    return found


def _find_parts(
    passage: BoolArray, ends: tuple[IntArray, IntArray], types: NDArray[np.int64]
) -> BoolArray:
    """Return a mask ``(m,)`` of the relationships between a passage and its only document."""
    found = np.isin(types, [text_hash(name) for name in PART_TYPES])
    found &= passage[ends[0]] != passage[ends[1]]
    inside = np.where(passage[ends[0]], ends[0], ends[1])
    outside = np.where(passage[ends[0]], ends[1], ends[0])
    pairs = np.unique(inside[found] * passage.size + outside[found])
    several = np.bincount(pairs // max(passage.size, 1), minlength=passage.size) > 1
    return found & ~several[inside]


@dataclass(frozen=True, slots=True)
class _Units:
    """The units ``(b,)`` that partitions are made of: either nodes or bundles.

    ``of`` ``(n,)`` is the unit of each node, and ``first`` ``(b,)`` the lowest node of each unit.
    ``nodes`` ``(b,)`` counts the nodes of each bundle; it is None if the units are nodes.
    ``previous`` and ``bound`` ``(b,)`` are the labels and bound labels of :class:`Predecessor`,
    None without one.
    """

    edges: Edges
    communities: NDArray[np.int64]
    tokens: NDArray[np.int64]
    nodes: NDArray[np.int64] | None
    of: NDArray[np.int64] | slice
    first: NDArray[np.int64] | slice
    previous: NDArray[np.int64] | None
    bound: NDArray[np.int64] | None


def _collect_units(
    view: View,
    edges: Edges,
    communities: NDArray[np.int64],
    previous: Predecessor | None,
    bundled: Bundled | None,
) -> _Units:
    labels = previous.labels if previous else None
    bound = previous.bound if previous else None
    if bundled is None:
        tokens, every = prompt_tokens(view.tokens), slice(None)
        return _Units(edges, communities, tokens, None, every, every, labels, bound)
    bundles = bundled.bundles
    return _Units(
        bundled.edges,
        communities[bundles.first],
        bundled.tokens,
        bundles.nodes,
        bundles.of,
        bundles.first,
        None if labels is None else bundles.most(labels),
        None if bound is None else bundles.most(bound),
    )


def prompt_tokens(tokens: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tokens ``(n,)`` to count against the limit for texts of ``tokens`` ``(n,)``.

    A prompt has spare room for the frames of long texts. The frame of a short text is longer than
    the text, so the text counts for more, and a partition still fits one prompt. No text counts
    more than twice its tokens, so that single words stay light (:meth:`Limits.stands`).
    """
    framed = np.ceil((tokens + FRAME_TOKENS) / SPARE).astype(np.int64)
    return np.maximum(tokens, np.minimum(framed, 2 * tokens))


def limits_of(config: PGSConfig) -> Limits:
    """Return the limits from the settings. The minimum of nodes is at most the maximum."""
    return Limits(
        min_nodes=min(config.min_community_size, config.target_partition_max),
        max_nodes=config.target_partition_max,
        max_tokens=config.max_partition_tokens,
    )


def place_communities(
    ids: NDArray[np.int64], communities: Communities, bundled: Bundled | None = None
) -> NDArray[np.int64]:
    """Return the community ``(n,)`` of each scanned node. ``ids`` ``(n,)`` ascend.

    With ``bundled``, each bundle has the community of its first node. A node that appeared between
    the scan and the projection waits for the next generation. A node that vanished gets a separate
    community; the write of the members then notices that the node is gone.
    """
    labels: NDArray[np.int64] = communities.labels.max(initial=0) + 1 + np.arange(len(ids))
    place = np.searchsorted(ids, communities.ids)
    place[place == len(ids)] = 0
    scanned = ids[place] == communities.ids
    labels[place[scanned]] = communities.labels[scanned]
    return labels if bundled is None else labels[bundled.bundles.first][bundled.bundles.of]


def _apply_limits(whole: _Units, limits: Limits) -> Limited:
    """Bring communities within limits, close to the earlier partitions if there are any."""
    edges, communities, tokens = whole.edges, whole.communities, whole.tokens
    if whole.previous is None or whole.bound is None:
        return apply_limits(edges, communities, tokens, limits, nodes=whole.nodes)
    return steady(
        edges, communities, whole.previous, whole.bound, tokens, limits, nodes=whole.nodes
    )


def share_unchanged(limited: Limited, previous: Predecessor) -> Division:
    """Renumber the partitions so that unchanged ones keep their ids if possible.

    A partition is unchanged if its nodes and its pool flag are the same and no node is touched.
    """
    sizes = np.asarray([part.size for part in previous.partitions])
    same = unchanged(limited.labels, previous.labels, sizes)
    pool = np.asarray([part.pool for part in previous.partitions] + [False])
    touched = np.isin(same + 1, previous.comparison.touched)
    same[(pool[same] != limited.pool) | touched] = -1
    numbers = numbered(same)
    shared = numbers[(same >= 0) & (numbers == same)] + 1
    return Division(renumbered(limited, numbers), frozenset(shared.tolist()))


async def pool_order(
    db: Database, mapping: GraphMapping, view: View, pooled: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return ranks ``(n,)`` of all scanned nodes by similarity, to divide pools.

    ``pooled`` ``(n,)`` marks the nodes in pools. They are sorted by their stored embeddings or,
    without an embedding, by their words. The other nodes come last, in their original order.
    """
    chosen = np.flatnonzero(pooled)
    features = np.zeros((len(chosen), WIDTH), dtype=np.float32)
    ids = view.ids[chosen]
    dimensions = view.embedding_dimensions or 0

    async def use(rows: list[Row]) -> None:
        row = cast("FeaturesRow", rows[0])
        place = np.searchsorted(ids, np.asarray(row["ids"], dtype=np.int64))
        features[place] = await compute_features(row, dimensions)

    query = queries.get("pgs/partitioning/read_features")
    await in_order(
        (
            db.read(
                query,
                ids=ids[part].tolist(),
                text=mapping.text_properties,
                facts=mapping.facts,
                embedding=mapping.embedding or "",
                dimensions=dimensions,
            )
            for part in portions(view.sizes[chosen] + dimensions, MOST_NODES)
        ),
        use,
    )
    rank = len(chosen) + np.arange(len(pooled))
    rank[chosen] = similarity_order(features)
    return rank


async def compute_features(row: FeaturesRow, dimensions: int) -> NDArray[np.float32]:
    """Return short vectors ``(k, WIDTH)`` float32 of nodes, in row order.

    A node with neither vector nor words gets zeros. Vectors and words cannot be compared. So in a
    graph with vectors, vectors fill one half of the columns and words the other.
    """
    texts = [
        "" if vector else searched_text(text)
        for vector, text in zip(row["vectors"], row["texts"], strict=True)
    ]
    if not dimensions:
        return _project_rows(await _embed_words(texts), WIDTH)
    vectors = [vector or [0.0] * dimensions for vector in row["vectors"]]
    stored = np.asarray(vectors, dtype=np.float32)
    half = WIDTH // 2
    return np.hstack((_project_rows(stored, half), _project_rows(await _embed_words(texts), half)))


async def _embed_words(texts: list[str]) -> NDArray[np.float32]:
    if not any(texts):
        return np.zeros((len(texts), 0), dtype=np.float32)
    return np.asarray(await HashingEmbedder().embed(texts), dtype=np.float32)


def _project_rows(rows: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """Scale rows ``(k, d)`` to unit length and project them to ``(k, width)``."""
    plane = np.random.default_rng(0).standard_normal((rows.shape[1], width), dtype=np.float32)
    return np.asarray(unit(rows) @ plane, dtype=np.float32)
