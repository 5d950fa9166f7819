"""Keeps replies within their tokens, and says what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel

from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate

Item = TypeVar("Item", bound=BaseModel)


def cut_text(text: str, offset: int, tokens: int) -> tuple[str, int | None]:
    """Return a piece of a text from ``offset`` on, and where the next one begins.

    It is cut at the end of a line or a word, if there is one in its second half. None: no more.
    """
    offset = min(max(offset, 0), len(text))
    if estimate(text[offset:]) <= tokens:
        return text[offset:], None
    size = max(int(tokens * BYTES_PER_TOKEN), 4)
    piece = text[offset : offset + size].encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
    for mark in ("\n", " "):
        at = piece.rfind(mark)
        if at > len(piece) // 2:
            piece = piece[: at + 1]
            break
    return piece, offset + len(piece)


def fit_items(items: Sequence[Item], tokens: int) -> list[Item]:
    """Return the first items whose JSON takes at most so many tokens; one at least."""
    fitting: list[Item] = []
    for item in items:
        tokens -= estimate(item.model_dump_json())
        if tokens < 0 and fitting:
            break
        fitting.append(item)
    return fitting
