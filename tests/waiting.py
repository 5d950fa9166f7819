"""Waiting for what another process or task does, in a test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

PATIENCE_S = 180.0
PAUSE_S = 0.05


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Return once a condition holds. Raises TimeoutError after ``PATIENCE_S``."""
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():
            await asyncio.sleep(PAUSE_S)
