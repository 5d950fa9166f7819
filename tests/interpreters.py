"""One interpreter that runs each order in its own fork.

To start an interpreter for each order would take seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_S = 120.0
# Each script begins with imports and a function ``work``, which returns an exit code or None.
LOOP = """
import asyncio, json, os, sys, traceback

for line in sys.stdin:
    child = os.fork()
    if not child:
        try:
            os._exit(asyncio.run(work(json.loads(line))) or 0)
        except BaseException:
            traceback.print_exc()
            os._exit(70)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Runs one order after the other."""

    process: Process

    async def begin(self, **order: Any) -> int:
        """Begin an order, and return the id of its process."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        await self.process.stdin.drain()
        return await self._next_number()

    async def end(self) -> int:
        """Return how the order ended."""
        return await self._next_number()

    async def _next_number(self) -> int:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            return int(await self.process.stdout.readline())


@asynccontextmanager
async def interpreting(
    work: str, folder: Path, environment: Mapping[str, str]
) -> AsyncIterator[Interpreter]:
    """Start an interpreter in a folder. End it, and what it runs, at the end of the block."""
    home = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", work + LOOP),
        cwd=folder,
        env={**kept, **home, **environment, "PYTHONPATH": str(ROOT)},
        stdin=PIPE,
        stdout=PIPE,
    )
    try:
        yield Interpreter(process)
    finally:
        for each in (*psutil.Process(process.pid).children(), psutil.Process(process.pid)):
            each.kill()
        await process.wait()
