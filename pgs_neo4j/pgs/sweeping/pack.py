"""Packs every node of a partition into passes that each fit a prompt.

Sizes alone also show, before any text is read, whether one pass shows a whole partition.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from pgs_neo4j.errors import ConfigError
from pgs_neo4j.graph.csr import Edges, IntArray, undirected
from pgs_neo4j.graph.packing import fill_bins
from pgs_neo4j.model import Node, PromptNode, Relationship
from pgs_neo4j.pgs.sweeping.pieces import NodePiece, cut_node, format_link_prefix, halve_piece
from pgs_neo4j.text.commands import shell_word
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate

RELATIONSHIP_SHARE = 0.2  # maximum share of a pass's room for relationships
MIN_ROOM = 500  # characters that must remain for nodes in a pass
MIN_TOKENS = 250  # tokens that must remain for nodes in a pass
HALVES = "ab"  # the labels of the two halves of a pass
# The reserved room is rounded up to steps of this share of the limit. So a slightly longer or
# shorter question leaves the passes unchanged, and the providers' prompt caches stay valid.
RESERVED_STEP = 0.02

BALANCE_STEP = 1.02  # growth of the target size in each attempt to even out passes
Limits = tuple[float, float]
"""Maximum characters and maximum tokens of the nodes in one pass."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The content of one prompt.

    ``number`` counts from 1. ``half`` has the letters of a half, one per division. ``omitted``
    counts relationships of the nodes that are missing from ``relationships``, because they did not
    fit or their other end is not in this pass.
    """

    number: int
    pieces: tuple[NodePiece, ...]
    relationships: tuple[Relationship, ...] = ()
    relationship_lines: tuple[str, ...] = ()
    omitted: int = 0
    half: str = ""

    @property
    def label(self) -> str:
        """The number and one letter per division, such as ``2`` or ``2a``."""
        return f"{self.number}{self.half}"

    @property
    def nodes(self) -> tuple[PromptNode, ...]:
        """The nodes, or parts of nodes, in the order shown."""
        return tuple(piece.node for piece in self.pieces)


def pack(
    nodes: Sequence[Node],
    relationships: Sequence[Relationship],
    *,
    max_characters: int,
    max_tokens: int | None,
    reserved: int,
    reserved_tokens: int | None = None,
) -> tuple[Pass, ...]:
    """Return passes that each fit a prompt and together contain all ``nodes`` (heaviest first).

    ``reserved`` characters and ``reserved_tokens`` are left free for everything but nodes and
    relationships. ``reserved_tokens`` defaults to the tokens of ``reserved`` characters of English.
    Both are rounded up a little, so that prompts of similar length have the same passes. A node too
    long for a pass is cut into numbered parts. A relationship is listed in the pass that shows both
    of its ends. If the nodes need several passes, connected nodes are grouped together; within a
    pass, the heaviest node comes first. Each pass begins with the heaviest node that no earlier
    pass shows. Raises ConfigError when no room is left for nodes.
    """
    if not nodes:
        return ()
    if reserved_tokens is None:
        reserved_tokens = estimate("x" * reserved)
    room = _measure_room(max_characters, max_tokens, reserved, reserved_tokens)
    share = 1 - (RELATIONSHIP_SHARE if relationships else 0)
    limits = (room[0] * share, room[1] * share)
    links = _Links.of(tuple(dict.fromkeys(relationships)))
    pieces = _cut_nodes(nodes, limits)
    groups = group_by_weight(pieces, limits)
    if len(groups) > 1:
        wide = _widen(limits, room, pieces, links)
        if wide != limits:
            cut = len(pieces) > len(nodes)
            limits, pieces = wide, _cut_nodes(nodes, wide) if cut else pieces
        groups = group_by_connection(pieces, relationships, limits)
    return tuple(
        _make_pass(number, group, links, room) for number, group in enumerate(groups, start=1)
    )


def _cut_nodes(nodes: Sequence[Node], limits: Limits) -> list[NodePiece]:
    return [piece for node in nodes for piece in cut_node(node, limits)]


def _widen(limits: Limits, room: Limits, pieces: Sequence[NodePiece], links: _Links) -> Limits:
    """Return wider limits of nodes if relationships need less than their share."""
    lines = _make_pass(1, pieces, links, (math.inf, math.inf)).relationship_lines
    needed = (sum(len(line) + 1 for line in lines), sum(estimate(line) + 1 for line in lines))
    return (max(limits[0], room[0] - needed[0]), max(limits[1], room[1] - needed[1]))


def group_by_weight(pieces: Sequence[NodePiece], limits: Limits) -> list[list[NodePiece]]:
    """Return the fewest groups that keep the order of the pieces and are about equally long."""
    fewest = len(_fill_groups(pieces, limits))
    if fewest <= 1:
        return _fill_groups(pieces, limits)
    share = max(
        sum(piece.characters for piece in pieces) / fewest / limits[0],
        sum(piece.tokens for piece in pieces) / fewest / limits[1],
    )
    while share < 1:
        groups = _fill_groups(pieces, (limits[0] * share, limits[1] * share))
        if len(groups) == fewest:
            return groups
        share *= BALANCE_STEP
    return _fill_groups(pieces, limits)


def group_by_connection(
    pieces: Sequence[NodePiece], relationships: Sequence[Relationship], limits: Limits
) -> list[list[NodePiece]]:
    """Return groups of pieces that have as many relationships inside groups as possible.

    There are no more groups than ``group_by_weight`` returns. The groups are in the order of their
    first pieces, and each group keeps the order of ``pieces``.
    """
    groups = group_by_weight(pieces, limits)
    start = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    size = np.array([(piece.characters, piece.tokens) for piece in pieces], dtype=np.int64)
    # An infinite limit becomes a large integer, which never binds.
    room = np.array([min(limits[0], 2**62), min(limits[1], 2**62)]).astype(np.int64)
    bins = fill_bins(_build_edges(pieces, relationships), size, room, start)
    grouped: list[list[NodePiece]] = [[] for _ in range(int(bins.max()) + 1)]
    for piece, number in zip(pieces, bins.tolist(), strict=True):
        grouped[number].append(piece)
    return grouped


def _build_edges(pieces: Sequence[NodePiece], relationships: Sequence[Relationship]) -> Edges:
    """Return the relationships as edges between pieces.

    The shortest part of a long node represents the node, since each other part fills a whole pass.
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


def _fill_groups(pieces: Sequence[NodePiece], limits: Limits) -> list[list[NodePiece]]:
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


def halve_pass(item: Pass, relationships: Sequence[Relationship]) -> tuple[Pass, ...]:
    """Divide a pass into two of about equal length; return nothing for a single short piece.

    ``relationships`` are all relationships of the packed partition. If the pass has a single piece,
    that piece is divided.
    """
    pieces = item.pieces if len(item.pieces) > 1 else halve_piece(item.pieces[0])
    if len(pieces) < 2:
        return ()
    ends = list(itertools.accumulate(piece.characters for piece in pieces))
    middle = min(range(1, len(ends)), key=lambda place: abs(2 * ends[place - 1] - ends[-1]))
    lines = item.relationship_lines
    room = (
        ends[-1] + sum(len(line) + 1 for line in lines),
        sum(piece.tokens for piece in pieces) + sum(estimate(line) + 1 for line in lines),
    )
    links = _Links.of(tuple(dict.fromkeys(relationships)))
    return tuple(
        replace(_make_pass(item.number, some, links, room), half=item.half + letter)
        for letter, some in zip(HALVES, (pieces[:middle], pieces[middle:]), strict=True)
    )


def find_whole_ranges(accepted: Iterable[Pass]) -> tuple[tuple[int, int], ...]:
    """Return half-open ranges of the ranks whose nodes are completely in the accepted passes."""
    whole: set[int] = set()
    shares: defaultdict[int, Fraction] = defaultdict(Fraction)
    for item in accepted:
        for piece in item.pieces:
            if piece.share == 1:  # the usual case; adding fractions is slow
                whole.add(piece.rank)
            else:
                shares[piece.rank] += piece.share
    return _join_ranks(sorted(whole | {rank for rank, share in shares.items() if share == 1}))


def _join_ranks(ranks: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return sorted ranks as half-open ranges."""
    ranges: list[tuple[int, int]] = []
    for rank in ranks:
        if ranges and ranges[-1][1] == rank:
            ranges[-1] = (ranges[-1][0], rank + 1)
        else:
            ranges.append((rank, rank + 1))
    return tuple(ranges)


def subtract_ranges(
    ranges: Iterable[tuple[int, int]], others: Iterable[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Return half-open ranges of the ranks that are in ``ranges`` but not in ``others``."""
    left = {rank for first, last in ranges for rank in range(first, last)}
    for first, last in others:
        left.difference_update(range(first, last))
    return _join_ranks(sorted(left))


def ranks_without_text(
    accepted: Iterable[Pass], ranges: Iterable[tuple[int, int]]
) -> tuple[int, ...]:
    """Return the ranks within ``ranges`` whose nodes have no text in the accepted passes."""
    shown = {p.rank for item in accepted for p in item.pieces if p.node.text.strip()}
    ranks = (rank for first, last in ranges for rank in range(first, last))
    return tuple(rank for rank in ranks if rank not in shown)


def _measure_room(
    max_characters: int, max_tokens: int | None, reserved: int, reserved_tokens: int
) -> tuple[float, float]:
    """Return the characters and tokens that remain for nodes and relationships.

    Raises ConfigError if too few remain.
    """
    characters = max_characters - reserved
    tokens = math.inf if max_tokens is None else max_tokens - reserved_tokens
    if characters >= MIN_ROOM and tokens >= MIN_TOKENS:
        rounded = (_round_up(reserved, max_characters), _round_up(reserved_tokens, max_tokens or 0))
        return (
            max(max_characters - rounded[0], MIN_ROOM),
            math.inf if max_tokens is None else max(max_tokens - rounded[1], MIN_TOKENS),
        )
    few = characters < MIN_ROOM
    name, least = (
        ("max_pass_characters", reserved + MIN_ROOM)
        if few
        else ("max_pass_tokens", reserved_tokens + MIN_TOKENS)
    )
    raise ConfigError(
        "the instructions, the question, and the digests of neighbors leave no room for nodes in "
        f"a prompt; raise {name} (PGS_{name.upper()}) to {least:,} or more, or ask in fewer words"
    )


def _round_up(reserved: int, bound: int) -> int:
    step = max(1, int(bound * RESERVED_STEP))
    return math.ceil(reserved / step) * step


@dataclass(frozen=True, slots=True)
class _Links:
    """Relationships by the rank of their source, and the number of ends at each rank."""

    by_source: Mapping[int, Sequence[Relationship]]
    ends: Mapping[int, int]

    @classmethod
    def of(cls, relationships: Sequence[Relationship]) -> _Links:
        by_source: dict[int, list[Relationship]] = defaultdict(list)
        ends: dict[int, int] = defaultdict(int)
        for link in relationships:
            by_source[link.source].append(link)
            ends[link.source] += 1
            ends[link.target] += 1
        return cls(by_source, ends)


def _make_pass(
    number: int, pieces: Sequence[NodePiece], links: _Links, room: tuple[float, float]
) -> Pass:
    shown = {piece.rank for piece in pieces}
    left = room[0] - sum(piece.characters for piece in pieces)
    left_tokens = room[1] - sum(piece.tokens for piece in pieces)
    fitting: list[Relationship] = []
    lines: list[str] = []
    touching = 0
    for rank in sorted(shown):
        touching += links.ends.get(rank, 0)
        inside: dict[tuple[str, str], list[Relationship]] = {}
        for link in links.by_source.get(rank, ()):
            if link.target in shown:
                inside.setdefault((link.type, link.name), []).append(link)
                touching -= 1
        for (kind, name), alike in inside.items():
            line, listed = _format_line(
                format_link_prefix(rank, kind, name), alike, (left, left_tokens)
            )
            if listed:
                left, left_tokens = left - len(line) - 1, left_tokens - estimate(line) - 1
                lines.append(line)
                fitting += alike[:listed]
    return Pass(number, tuple(pieces), tuple(fitting), tuple(lines), touching - len(fitting))


def _format_line(
    head: str, links: Sequence[Relationship], room: tuple[float, float]
) -> tuple[str, int]:
    """Return a line with as many relationships as fit, and their number.

    All ``links`` have the same source, type, and name.
    """
    wide = len(head.encode()) - len(head)
    length = min(room[0] - 1, (room[1] - 1) * BYTES_PER_TOKEN - wide)
    targets = [f"n{link.target + 1}" for link in links]
    line = head + ", ".join(targets)
    if len(line) <= length:
        return line, len(targets)
    sizes = itertools.accumulate((len(target) + 2 for target in targets), initial=len(head) - 2)
    listed = max(0, bisect_right(list(sizes), length) - 1)
    return head + ", ".join(targets[:listed]), listed


# Texts up to this share of a pass surely fit into it. Instructions, neighbors, margins, and
# relationships need the rest.
SURE_SHARE = 0.7
# Texts above this share of a pass surely do not fit beside the instructions.
FULL_SHARE = 0.85
STEP = 1000
"""Advised limits are multiples of this. It is also the lowest limit that the settings allow."""


def pass_size(characters: int, tokens: int | None) -> float:
    """Return the maximum estimated tokens of a prompt within limits on characters and tokens."""
    size = characters / BYTES_PER_TOKEN
    return size if tokens is None else min(size, tokens)


def fitting_limit(size: float) -> int:
    """Return the ``max_partition_tokens`` for which one pass shows a whole partition.

    ``size`` is the size of a pass in estimated tokens.
    """
    return max(STEP, round(SURE_SHARE * size) // STEP * STEP)


def most_tokens(size: float) -> int:
    """Return the tokens of text above which a partition needs several passes of ``size``."""
    return math.floor(FULL_SHARE * size)


def is_narrower(limit: int, knobs: Mapping[str, object]) -> bool:
    """Return whether ``limit`` is lower than the limit that partitions were made with.

    ``knobs`` are the settings of these partitions.
    """
    made = knobs.get("max_partition_tokens")
    return not isinstance(made, int) or limit < made


def repartition_command(graph: str, limit: int) -> str:
    """Return the command that repartitions a graph with ``limit`` as ``max_partition_tokens``."""
    name = shell_word(graph)
    return f"'pgs partition --graph {name} --force --max-partition-tokens {limit}'"
