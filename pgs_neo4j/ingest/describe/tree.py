"""Groups many descriptions by their hashes, so that a change of one redoes one path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.ingest.fold.rows import are_long

DIGIT_BITS = 4
"""Bits of a hash that tell the groups of a level apart: 64 descriptions make groups of about 4."""

Summarize = Callable[[Sequence[str]], Awaitable[str]]


async def summarize_tree(fragments: Sequence[str], summarize: Summarize, level: int = 0) -> str:
    """Return one text for many descriptions, in as many calls as their length needs.

    Groups that are long have a text of their own; the others are told as they are. Which group a
    description belongs to depends on its hash alone.
    """
    parts: list[str] = []
    for group in _groups(fragments, level):
        if are_long(group) and len(group) < len(fragments):
            parts.append(await summarize_tree(group, summarize, level + 1))
        else:
            parts += group
    return await summarize(parts)


def _groups(fragments: Sequence[str], level: int) -> list[list[str]]:
    """Return descriptions by one digit of their hashes, in its order."""
    groups: dict[int, list[str]] = defaultdict(list)
    for fragment in fragments:
        groups[text_hash(fragment) >> level * DIGIT_BITS & (1 << DIGIT_BITS) - 1].append(fragment)
    return [groups[digit] for digit in sorted(groups)]
