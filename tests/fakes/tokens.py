"""Stands in for the tokens and checks of deletions, without a database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable


async def unchanged() -> str:
    """Return the same token each time: nothing is ever deleted."""
    return "token"


async def nothing_deleted(value: object) -> None:
    """Let any text pass: nothing is ever deleted."""


def hearing(heard: list[str]) -> Callable[[str], Awaitable[None]]:
    """Return a callback that collects the pieces of a streamed reply."""

    async def hear(piece: str) -> None:
        heard.append(piece)

    return hear
