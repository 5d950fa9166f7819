"""Packs a partition into passes that fit a prompt. No node is ever left out."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pgs_neo4j.llm.tokens import estimate
from pgs_neo4j.model import Node, PromptNode, Relationship
from pgs_neo4j.pgs.citations import defused

RELATIONSHIP_SHARE = 0.2  # of a pass, at most
BALANCE_STEP = 1.02  # growth of the target while passes are evened out
MIN_ROOM = 500  # characters a pass has for nodes, however little the prompt leaves

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_WORD_END = re.compile(r"\s(?=\S*$)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A node, or one of the ``parts`` that a very long one is cut into."""

    rank: int
    parts: int
    node: PromptNode
    characters: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Pass:
    """What one prompt shows. ``number`` counts from 1; ``omitted`` relationships found no room."""

    number: int
    pieces: tuple[Piece, ...]
    relationships: tuple[Relationship, ...] = ()
    relationship_lines: tuple[str, ...] = ()
    omitted: int = 0

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
) -> tuple[Pass, ...]:
    """Passes over ``nodes`` (heaviest first), each within the bounds of a whole prompt.

    ``reserved`` characters are kept free for everything but nodes and relationships. A node
    too long for a pass is cut into numbered parts. Relationships stand in the pass that
    shows both ends. The passes are about equally long and keep the order of the nodes.
    """
    reserved_tokens = estimate("x" * reserved)
    room = max(max_characters - reserved, MIN_ROOM)
    token_room = math.inf if max_tokens is None else max(max_tokens - reserved_tokens, MIN_ROOM / 4)
    share = 1 - (RELATIONSHIP_SHARE if relationships else 0)
    limits = (room * share, token_room * share)
    pieces = [piece for node in nodes for piece in _pieces(node, limits)]
    by_source: dict[int, list[Relationship]] = {}
    for link in relationships:
        by_source.setdefault(link.source, []).append(link)
    return tuple(
        _with_relationships(number, group, by_source, (room, token_room))
        for number, group in enumerate(_balanced(pieces, limits), start=1)
    )


def read_ranges(passes: Sequence[Pass], accepted: Collection[int]) -> tuple[tuple[int, int], ...]:
    """Half-open ranges of the ranks whose every part stood in an accepted pass."""
    whole: dict[int, int] = {}
    for item in passes:
        if item.number in accepted:
            for piece in item.pieces:
                whole[piece.rank] = whole.get(piece.rank, piece.parts) - 1
    ranks = sorted(rank for rank, missing in whole.items() if missing == 0)
    ranges: list[tuple[int, int]] = []
    for rank in ranks:
        if ranges and ranges[-1][1] == rank:
            ranges[-1] = (ranges[-1][0], rank + 1)
        else:
            ranges.append((rank, rank + 1))
    return tuple(ranges)


def rendered(node: PromptNode) -> str:
    """A node as it stands in a prompt: a line with its alias, its text behind a margin.

    The margin keeps text from posing as a heading, an alias, or the end of the data.
    """
    labels = f" ({', '.join(_one_line(label) for label in node.labels)})" if node.labels else ""
    head = f"[{node.alias}] {_one_line(node.title)}{labels}"
    lines = [f"| {line}" for line in clean(node.text).splitlines()] or ["| (no text)"]
    return "\n".join((head, *lines))


def clean(text: str) -> str:
    """Node text as data: no control characters, line ends as one kind, aliases defused."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return defused(_CONTROL.sub(" ", plain))


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _pieces(node: Node, limits: tuple[float, float]) -> Iterator[Piece]:
    whole = _piece(node, node.title, node.text, 1)
    if whole.characters <= limits[0] and whole.tokens <= limits[1]:
        yield whole
        return
    head = _piece(node, f"{node.title} (part 99999 of 99999)", "", 1)
    widest = max(1.0, len(node.text.encode("utf-8", "replace")) / max(len(node.text), 1))
    room = min(limits[0] - head.characters, (limits[1] - head.tokens) * 3.5 / widest)
    chunks = list(_chunks(clean(node.text), max(int(room), 100)))
    for number, chunk in enumerate(chunks, start=1):
        title = f"{node.title} (part {number} of {len(chunks)})"
        yield _piece(node, title, chunk, len(chunks))


def _piece(node: Node, title: str, text: str, parts: int) -> Piece:
    shown = PromptNode(node.alias, title, text, node.labels)
    text = rendered(shown)
    return Piece(node.rank, parts, shown, len(text) + 1, estimate(text) + 1)


def _chunks(text: str, room: int) -> Iterator[str]:
    """The text cut so that each piece has at most ``room`` characters behind its margin."""
    chunk: list[str] = []
    used = 0
    for line in text.splitlines():
        for segment in _segments(line, room - 3):
            cost = len(segment) + 3
            if chunk and used + cost > room:
                yield "\n".join(chunk)
                chunk, used = [], 0
            chunk.append(segment)
            used += cost
    if chunk:
        yield "\n".join(chunk)


def _segments(line: str, room: int) -> Iterator[str]:
    start = 0
    while len(line) - start > room:
        space = _WORD_END.search(line, start + room // 2, start + room)
        end = space.end() if space else start + room
        yield line[start:end]
        start = end
    yield line[start:]


def _balanced(pieces: Sequence[Piece], limits: tuple[float, float]) -> list[list[Piece]]:
    """As few groups as fit, and about equally long ones."""
    fewest = len(_filled(pieces, limits))
    if fewest <= 1:
        return _filled(pieces, limits)
    share = max(
        sum(piece.characters for piece in pieces) / fewest / limits[0],
        sum(piece.tokens for piece in pieces) / fewest / limits[1],
    )
    while share < 1:
        groups = _filled(pieces, (limits[0] * share, limits[1] * share))
        if len(groups) == fewest:
            return groups
        share *= BALANCE_STEP
    return _filled(pieces, limits)


def _filled(pieces: Sequence[Piece], limits: tuple[float, float]) -> list[list[Piece]]:
    groups: list[list[Piece]] = []
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


def _with_relationships(
    number: int,
    pieces: Sequence[Piece],
    by_source: dict[int, list[Relationship]],
    room: tuple[float, float],
) -> Pass:
    shown = {piece.rank for piece in pieces}
    left = room[0] - sum(piece.characters for piece in pieces)
    left_tokens = room[1] - sum(piece.tokens for piece in pieces)
    kept: list[Relationship] = []
    lines: list[str] = []
    omitted = 0
    for rank in sorted(shown):
        inside = [link for link in by_source.get(rank, ()) if link.target in shown]
        for kind in dict.fromkeys(link.type for link in inside):
            links = [link for link in inside if link.type == kind]
            targets = ", ".join(f"n{link.target + 1}" for link in links)
            line = f"n{rank + 1} -{_one_line(kind)}-> {targets}"
            cost, token_cost = len(line) + 1, estimate(line) + 1
            if cost > left or token_cost > left_tokens:
                omitted += len(links)
                continue
            left, left_tokens = left - cost, left_tokens - token_cost
            lines.append(line)
            kept += links
    return Pass(number, tuple(pieces), tuple(kept), tuple(lines), omitted)
