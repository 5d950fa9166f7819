"""Renders nodes for a prompt, and cuts very long nodes into parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from pgs_neo4j.model import Node, PromptNode
from pgs_neo4j.text.citations import defuse
from pgs_neo4j.text.prompt_text import chunks, clean_text, cut
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate

TITLE_SHARE = 0.25  # maximum share of a pass for a title, and also for labels
NAME_ROOM = (80, 240)  # maximum characters and bytes of a relationship's name
# A cut inside a word can add up to this many bytes: what remains may look like an alias, and
# defusing it takes longer brackets.
DEFUSING = 16
LEAST_PART = 200  # characters of a part; a shorter part says too little on its own


@dataclass(frozen=True, slots=True)
class NodePiece:
    """A node, or one part of a very long node.

    ``parts`` counts the parts of the node. ``text`` is what the prompt shows. ``share`` is the
    piece's share of the node; shares differ because a part that is too long for a model is halved.
    """

    rank: int
    parts: int
    node: PromptNode
    text: str
    characters: int
    tokens: int
    share: Fraction = Fraction(1)


def render_node(node: PromptNode) -> str:
    """Return a node's prompt text: its alias, then text behind a margin.

    The margin keeps text from posing as a heading, an alias, or the end of the data.
    """
    title = one_line(node.title + _list_labels(node.labels))
    return _add_margin(node.alias, title, clean_text(node.text))


def _list_labels(labels: Sequence[str]) -> str:
    return f" ({', '.join(labels)})" if labels else ""


def _add_margin(alias: str, title: str, text: str) -> str:
    """Return a node's prompt text; ``title`` includes its labels, and both texts are clean."""
    lines = text.removesuffix("\n").replace("\n", "\n| ") if text else "(no text)"
    return f"[{alias}] {title}\n| {lines}"


def one_line(text: str) -> str:
    """Return a text of the graph cleaned for a prompt, on one line, without aliases in it."""
    # Most titles need no cleaning, and this check takes a third of the time of cleaning.
    if text.isprintable() and "  " not in text and text == text.strip() and "<" not in text:
        return defuse(text)
    return " ".join(clean_text(text).split())


@lru_cache(4096)
def inline_name(name: str) -> str:
    """Return a label or type cleaned for a prompt, on one line.

    The cache pays off because a graph has few different labels and types.
    """
    return one_line(name)


def format_link_prefix(rank: int, kind: str, name: str = "") -> str:
    """Return the source, type, and name that precede the targets of relationships in a prompt.

    A long name is cut. A name that equals the type is left out.
    """
    named = cut(name.strip(), *NAME_ROOM) if name != kind else ""
    # A name in parentheses may look like an alias, so it is cleaned together with them.
    called = f" {inline_name(f'({named})')}" if named else ""
    return f"n{rank + 1} -{inline_name(kind)}{called}-> "


def cut_node(node: Node, limits: tuple[float, float]) -> Iterator[NodePiece]:
    """Yield a node as one piece, or as several numbered parts.

    Each piece fits ``limits``: the maximum characters and the maximum tokens.
    """
    title, text = one_line(node.title), clean_text(node.text)
    names = tuple(map(inline_name, node.labels))
    whole = _make_piece(node.rank, 1, PromptNode(node.alias, title, text, names))
    if whole.characters <= limits[0] and whole.tokens <= limits[1]:
        yield whole
        return
    share = (int(limits[0] * TITLE_SHARE), int(_byte_limit(limits) * TITLE_SHARE))
    title = cut(title, *share)
    labels = (cut(one_line(", ".join(names)), *share),) if names else ()
    longest = f"{title} (part 99999 of 99999){_list_labels(labels)}"
    head = _add_margin(node.alias, longest, "")
    room = (int(limits[0]) - len(head), _byte_limit(limits) - len(head.encode()) - DEFUSING)
    parts = list(chunks(text, room)) or [""]
    for number, part in enumerate(parts, start=1):
        numbered = f"{title} (part {number} of {len(parts)})"
        yield _make_piece(node.rank, len(parts), PromptNode(node.alias, numbered, part, labels))


def _make_piece(rank: int, parts: int, node: PromptNode) -> NodePiece:
    text = _add_margin(node.alias, node.title + _list_labels(node.labels), node.text)
    share = Fraction(1, parts)
    return NodePiece(rank, parts, node, text, len(text) + 1, estimate(text) + 1, share)


def _find_middle(text: str) -> int:
    """Return where to cut a text: after the last blank of its second quarter, else in half."""
    half = len(text) // 2
    at = max(text.rfind(blank, half // 2, half) for blank in "\n ") + 1
    return at or half


def halve_piece(piece: NodePiece) -> tuple[NodePiece, ...]:
    """Return both halves of a piece, each with its title; empty if its text is short."""
    node = piece.node
    if len(node.text) < 2 * LEAST_PART:
        return ()
    at = _find_middle(node.text)
    halves: list[NodePiece] = []
    for name, some in (("first", node.text[:at]), ("second", node.text[at:])):
        titled = replace(node, title=f"{node.title} ({name} half)", text=some)
        made = _make_piece(piece.rank, piece.parts, titled)
        halves.append(replace(made, share=piece.share / 2))
    return tuple(halves)


def _byte_limit(limits: tuple[float, float]) -> int:
    """Return the maximum UTF-8 bytes that a piece may have within limits on characters and tokens.

    A character has at most four bytes.
    """
    return int(min((limits[1] - 1) * BYTES_PER_TOKEN, 4 * limits[0] + DEFUSING))
