"""Waiting for what another process or task does, in a test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

PAUSE_S = 0.05


async def until(condition: Callable[[], Awaitable[bool]], patience_s: float) -> None:
    """Return once a condition holds. Raises TimeoutError after ``patience_s`` seconds."""
    async with asyncio.timeout(patience_s):
        while not await condition():
            await asyncio.sleep(PAUSE_S)
