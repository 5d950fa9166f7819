"""Groups the pieces of nodes into as few passes as fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pgs_neo4j.graph.csr import Edges, IntArray, undirected
from pgs_neo4j.graph.packing.bins import fill_bins
from pgs_neo4j.model import Relationship
from pgs_neo4j.pgs.sweeping.pieces import NodePiece

BALANCE_STEP = 1.02  # growth of the target while passes are evened out

Limits = tuple[float, float]
"""Characters and tokens of the nodes in one pass."""


def group_by_weight(pieces: Sequence[NodePiece], limits: Limits) -> list[list[NodePiece]]:
    """Return the fewest groups that keep the order, about equally long."""
    fewest = len(_fill(pieces, limits))
    if fewest <= 1:
        return _fill(pieces, limits)
    share = max(
        sum(piece.characters for piece in pieces) / fewest / limits[0],
        sum(piece.tokens for piece in pieces) / fewest / limits[1],
    )
    while share < 1:
        groups = _fill(pieces, (limits[0] * share, limits[1] * share))
        if len(groups) == fewest:
            return groups
        share *= BALANCE_STEP
    return _fill(pieces, limits)


def group_by_connection(
    pieces: Sequence[NodePiece], relationships: Sequence[Relationship], limits: Limits
) -> list[list[NodePiece]]:
    """Return groups with as many relationships inside as possible.

    There are no more groups than by weight alone. They are in the order of their first pieces, and
    each keeps the order of ``pieces``.
    """
    groups = group_by_weight(pieces, limits)
    start = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    size = np.array([(piece.characters, piece.tokens) for piece in pieces], dtype=np.int64)
    # Without a limit on tokens, all of them fit.
    room = np.array([min(limits[0], 2**62), min(limits[1], 2**62)]).astype(np.int64)
    bins = fill_bins(_edges(pieces, relationships), size, room, start)
    grouped: list[list[NodePiece]] = [[] for _ in range(int(bins.max()) + 1)]
    for piece, number in zip(pieces, bins.tolist(), strict=True):
        grouped[number].append(piece)
    return grouped


def _edges(pieces: Sequence[NodePiece], relationships: Sequence[Relationship]) -> Edges:
    """Return the relationships as edges between pieces.

    The shortest part of a long node stands for the node, since the others fill a pass each.
    """
    place: dict[int, int] = {}
    for at, piece in enumerate(pieces):
        if piece.characters < _length(pieces, place.get(piece.rank)):
            place[piece.rank] = at
    ends: list[tuple[int, int]] = [
        (place[link.source], place[link.target])
        for link in dict.fromkeys(relationships)
        if link.source in place and link.target in place
    ]
    table: IntArray = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return undirected(len(pieces), table[:, 0], table[:, 1])


def _length(pieces: Sequence[NodePiece], at: int | None) -> float:
    return math.inf if at is None else pieces[at].characters


def _fill(pieces: Sequence[NodePiece], limits: Limits) -> list[list[NodePiece]]:
    groups: list[list[NodePiece]] = []
    characters = tokens = 0
    for piece in pieces:
        full = characters + piece.characters > limits[0] or tokens + piece.tokens > limits[1]
        if not groups or full:
            groups.append([])
            characters = tokens = 0
        groups[-1].append(piece)
        characters += piece.characters
        tokens += piece.tokens
    return groups
