"""Finds the documents of a view, and weighs its relationships so that they stay together.

Only a mapping that names passages has documents. All other graphs are divided by their own weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
from pgs_neo4j.graph.limits import Limits
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.graph import PART_TYPES
from pgs_neo4j.pgs.partitioning.view import View


@dataclass(frozen=True, slots=True, eq=False)
class Bundled:
    """A view as bundles of nodes that stay together.

    ``weight`` ``(m,)`` is the weight of each relationship of the view, and ``alike`` are edges of
    documents that are alike, between nodes of the view. Both together are ``edges`` between
    bundles. ``tokens`` ``(b,)`` count against the limit.
    """

    bundles: Bundles
    weight: NDArray[np.float64]
    alike: Edges
    edges: Edges
    tokens: IntArray


def bundle_view(
    view: View,
    mapping: GraphMapping,
    weight: NDArray[np.float64],
    tokens: IntArray,
    limits: Limits,
) -> Bundled | None:
    """Return the bundles of a view; None without a document of two nodes.

    ``weight`` ``(m,)`` are usable weights, ``tokens`` ``(n,)`` what counts against the limits.
    """
    passage, ends = view.passage, (view.source, view.target)
    if not passage.any():
        return None
    order = _order(passage, ends, view.type)
    mention = np.isin(view.type, [text_hash(name) for name in mapping.mention_types])
    part = _part(passage, ends, view.type) & ~mention
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


def _order(
    passage: BoolArray, ends: tuple[IntArray, IntArray], types: NDArray[np.int64]
) -> BoolArray:
    """Return which relationships ``(m,)`` are of a type that puts passages in order."""
    inside = passage[ends[0]] & passage[ends[1]]
    found = np.zeros(types.size, dtype=np.bool_)
    for name in np.unique(types[inside]):
        chosen = types == name
        if is_order(passage, (ends[0][chosen], ends[1][chosen])):
            found |= chosen
    return found


def _part(
    passage: BoolArray, ends: tuple[IntArray, IntArray], types: NDArray[np.int64]
) -> BoolArray:
    """Return which relationships ``(m,)`` connect a passage with the only document that it has."""
    found = np.isin(types, [text_hash(name) for name in PART_TYPES])
    found &= passage[ends[0]] != passage[ends[1]]
    inside = np.where(passage[ends[0]], ends[0], ends[1])
    outside = np.where(passage[ends[0]], ends[1], ends[0])
    pairs = np.unique(inside[found] * passage.size + outside[found])
    several = np.bincount(pairs // max(passage.size, 1), minlength=passage.size) > 1
    return found & ~several[inside]
