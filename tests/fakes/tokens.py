"""Tokens of deletions, without a database."""

from __future__ import annotations


async def unchanged() -> str:
    """Return the same token each time: nothing is ever deleted."""
    return "token"
