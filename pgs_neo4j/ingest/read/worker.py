"""Parses documents in a process that is limited, and replaced after a fault."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from dataclasses import dataclass, field
from typing import Any

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import DocumentText, OutlineEntry

CHILD = "pgs_neo4j.ingest.read.child"
MEMORY_MB = 1536
"""Address space of the process."""
SECONDS = 60
"""CPU time of one document; it may take twice as long."""
PASSED = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG")
"""Variables that the process gets; a parser needs no key."""
PIECE = 2**20
ENDING_S = 2
"""Seconds in which a process ends that has closed its pipes."""
LENGTH_BYTES = 8


@dataclass(slots=True)
class ParseWorker:
    """Parses one document after another in one process, which starts with the first."""

    memory_mb: int = MEMORY_MB
    seconds: int = SECONDS
    module: str = CHILD
    _process: Process | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def parse(
        self, kind: str, data: bytes, most_bytes: int, *given: str
    ) -> tuple[DocumentText, str]:
        """Return the text of a document, and what was guessed.

        ``kind`` names the parser, and ``given`` are its other arguments. A document that its parser
        cannot read, or not within the limits, raises InputFileError.
        """
        head = {"kind": kind, "size": len(data), "most": most_bytes, "given": given}
        async with self._turn:
            body = await self._exchange(json.dumps(head).encode() + b"\n", data, most_bytes)
            reply: dict[str, Any] = json.loads(body)
            if reply.get("spent"):
                await self.close()
        if "error" in reply:
            raise InputFileError(reply["error"])
        return _text_of(reply), reply["note"]

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def _exchange(self, head: bytes, data: bytes, most_bytes: int) -> bytes:
        """Send a request and return its reply; whatever goes wrong ends the process."""
        whole = False
        try:
            async with asyncio.timeout(2 * self.seconds):
                process = await self._running()
                await _send(process, head, data)
                body = await _receive(process, most_bytes)
            whole = True
        except TimeoutError:
            raise InputFileError(f"reading it took more than {2 * self.seconds} seconds") from None
        except (asyncio.IncompleteReadError, OSError):
            raise InputFileError(await self._why_ended()) from None
        finally:
            if not whole:
                await self.close()
        return body

    async def _running(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-P", "-m", self.module, str(self.memory_mb), str(self.seconds)),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env={name: os.environ[name] for name in PASSED if name in os.environ},
            )
        return self._process

    async def _why_ended(self) -> str:
        process = self._process
        if process is None:
            return "its parser could not be started"
        try:
            async with asyncio.timeout(ENDING_S):
                code = await process.wait()
        except TimeoutError:
            return "its parser replied with something else than a text"
        if code == -signal.SIGXCPU:
            return f"reading it took more than {self.seconds} seconds of CPU time"
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"its parser crashed ({how}); save it again, or in another format"


async def _send(process: Process, head: bytes, data: bytes) -> None:
    if process.stdin is None:
        raise BrokenPipeError
    process.stdin.write(head)
    with memoryview(data) as view:
        for first in range(0, len(data), PIECE):
            process.stdin.write(view[first : first + PIECE])
            await process.stdin.drain()
    await process.stdin.drain()


async def _receive(process: Process, most_bytes: int) -> bytes:
    if process.stdout is None:
        raise BrokenPipeError
    length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
    if length > most_bytes + PIECE:
        raise OSError
    return await process.stdout.readexactly(length)


def _text_of(reply: dict[str, Any]) -> DocumentText:
    return DocumentText(
        text=reply["text"],
        page_starts=tuple(reply["pages"]),
        outline=tuple(OutlineEntry(*entry) for entry in reply["outline"]),
        unread=tuple(reply["unread"]),
    )
