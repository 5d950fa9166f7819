"""Waits in a test for another process or task."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

PAUSE_S = 0.05


async def until(condition: Callable[[], Awaitable[bool]], patience_s: float) -> None:
    """Return once a condition holds. Raises TimeoutError after ``patience_s`` seconds."""
    async with asyncio.timeout(patience_s):
        while not await condition():
            await asyncio.sleep(PAUSE_S)


def wait_until(condition: Callable[[], bool], patience_s: float = 60.0) -> None:
    """Block until a condition holds. Raises TimeoutError after ``patience_s`` seconds."""
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing came of it within {patience_s:.0f} s")
        time.sleep(PAUSE_S)
