"""Starts ``pgs`` as processes on a test database, and waits for their ends."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import waiting
from tests.forks import Fork, Forks

WAIT_S = 180.0


@dataclass(frozen=True, slots=True)
class Done:
    """How a process ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The standard output, which must be one JSON document and nothing else."""
        return json.loads(self.out)


@dataclass(slots=True)
class Shell:
    """Starts ``pgs`` in an empty folder with its own environment."""

    forks: Forks
    folder: Path
    settings: dict[str, str]
    started: list[Fork] = field(default_factory=list)

    async def start(self, *arguments: str, stdout: int = PIPE, **settings: str) -> Fork:
        process = await self.forks.start(
            *arguments, cwd=self.folder, env=self.settings | settings, stdout=stdout
        )
        self.started.append(process)
        return process

    async def __call__(self, *arguments: str, **settings: str) -> Done:
        """Run a command to its end."""
        return await finished(await self.start(*arguments, **settings))

    async def kill_all(self) -> None:
        """Kill the processes that still run."""
        for process in self.started:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def finished(process: Fork) -> Done:
    """Wait for a process, which must end in time, and return how it ended."""
    async with asyncio.timeout(WAIT_S):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Done(process.returncode, (out or b"").decode(), err.decode())


async def until(condition: Callable[[], Awaitable[bool]], process: Fork) -> None:
    """Wait for a condition while a process runs."""

    async def met() -> bool:
        assert process.returncode is None, "the process ended too early"
        return await condition()

    await waiting.until(met, WAIT_S)
