"""Parses documents in a second process with limited resources, which is replaced after a fault."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO

from pgs_neo4j.documents.read.limits import MOST_MB, cpu_seconds, memory_mb
from pgs_neo4j.documents.read.text import EmptyDocumentError
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import (
    DocumentText,
    GivenEntity,
    LoadedDocument,
    OutlineEntry,
    RecordColumns,
    RefusedDocument,
)

CHILD = "pgs_neo4j.documents.read.child"
RECORDS = "records"
MEMORY_MB = MOST_MB
"""Maximum memory in MB of the process for a document, in addition to its memory at the start."""
SECONDS = 60
"""Maximum CPU seconds for a document, unless the document is read in records."""
PATIENCE = 4
"""Factor between the limit of CPU time and the limit of elapsed time, because the machine may be
busy."""
PASSED = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG")
"""Environment variables that the process gets. It gets no others, because a parser must not see
keys."""
PIECE = 2**20
ENDING_S = 2
"""Seconds to wait for the exit of a process that has closed its pipes."""
LENGTH_BYTES = 8
REFUSED = 2
"""Number of fields of a refused record: its id, and the reason."""


@dataclass(slots=True)
class ParseWorker:
    """Parses documents one after another in one process, which starts with the first document."""

    memory_mb: int = MEMORY_MB
    seconds: int = SECONDS
    module: str = CHILD
    _process: Process | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def parse(
        self, kind: str, data: bytes, most_bytes: int, *given: str
    ) -> tuple[DocumentText, str]:
        """Return the text of a document, and a note if its encoding was guessed.

        ``kind`` names the parser, and ``given`` has the other arguments of the parser. Raises
        InputFileError if the parser cannot read the document within the limits.
        """
        head, seconds = self._make_head(kind, len(data), most_bytes, given, self.seconds)
        async with self._turn, self._exchange(seconds):
            async with asyncio.timeout(PATIENCE * seconds):
                process = await self._ensure_process()
                await _send(process, head, data)
                reply = await _receive(process, most_bytes)
            if reply.get("spent"):
                await self.close()
        _raise_fault(reply)
        return _make_text(reply), reply["note"]

    async def parse_records(
        self,
        file: BinaryIO,
        id_: str,
        ending: str,
        columns: RecordColumns,
        most_bytes: int,
        media_type: str = "",
    ) -> AsyncGenerator[LoadedDocument | RefusedDocument]:
        """Yield the document of each record in a file, or the reason why it has no document.

        ``most_bytes`` limits the size of a record. The file is read once. Raises InputFileError
        when the rest of the file cannot be read within the limits, after all records before that
        have been yielded.
        """
        size = await asyncio.to_thread(_size_of, file)
        given = (id_, ending, asdict(columns))
        head, seconds = self._make_head(RECORDS, size, most_bytes, given, None)
        reply: dict[str, Any] = {}
        async with self._turn, self._exchange(seconds):
            process = await self._ensure_process()
            sending = asyncio.create_task(_send_file(process, head, file, size))
            try:
                while not ("last" in reply or "error" in reply):
                    async with asyncio.timeout(PATIENCE * seconds):
                        reply = await _receive(process, most_bytes)
                    for record in reply.get("records", ()):
                        yield _make_record(record, media_type)
                if not reply["spent"]:
                    await sending  # The process has read the whole file, so this ends at once.
            except (asyncio.IncompleteReadError, OSError):
                if sending.done() and (fault := sending.exception()) is not None:
                    raise fault from None
                raise
            finally:
                sending.cancel()
                await asyncio.wait([sending])
                if not sending.cancelled():
                    # Retrieve the exception, so that asyncio does not log it. Either it has been
                    # raised, or the reply explains more.
                    sending.exception()
            if reply["spent"]:
                await self.close()
        _raise_fault(reply)

    def _make_head(
        self, kind: str, size: int, most_bytes: int, given: Sequence[Any], most_seconds: int | None
    ) -> tuple[bytes, int]:
        """Return the head of a request, and the CPU time limit of the request in seconds."""
        seconds = cpu_seconds(kind, size)
        if most_seconds is not None:
            seconds = min(most_seconds, seconds)
        head = {
            "kind": kind,
            "size": size,
            "most": most_bytes,
            "given": given,
            "memory": min(self.memory_mb, memory_mb(kind, size)),
            "seconds": seconds,
        }
        return json.dumps(head).encode() + b"\n", seconds

    @asynccontextmanager
    async def _exchange(self, seconds: int) -> AsyncIterator[None]:
        """Turn each fault of a request into an InputFileError; every fault ends the process."""
        whole = False
        try:
            yield
            whole = True
        except TimeoutError:
            raise InputFileError(
                f"reading it took more than {PATIENCE * seconds} seconds"
            ) from None
        except (asyncio.IncompleteReadError, OSError):
            raise InputFileError(await self._explain_end(seconds)) from None
        finally:
            if not whole:
                await self.close()

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def _ensure_process(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-P", "-m", self.module, str(self.memory_mb), str(self.seconds)),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                # Ctrl-C must reach only the main program. If it also ended the parser, the document
                # would be reported as the cause of a crash.
                start_new_session=True,
                env={name: os.environ[name] for name in PASSED if name in os.environ},
            )
        return self._process

    async def _explain_end(self, seconds: int) -> str:
        process = self._process
        if process is None:
            return "its parser could not be started"
        try:
            async with asyncio.timeout(ENDING_S):
                code = await process.wait()
        except TimeoutError:
            return "its parser did not return a text; save it again, or in another format"
        if code == -signal.SIGXCPU:
            return f"reading it took more than {seconds} seconds of CPU time"
        if code == -signal.SIGABRT:  # C libraries abort when memory is exhausted.
            return "its parser gave up, probably for lack of memory; split it, or save it again"
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"its parser crashed ({how}); save it again, or in another format"


def _raise_fault(reply: dict[str, Any]) -> None:
    """Raise the error in a reply, if it has one."""
    if "error" in reply:
        kind = EmptyDocumentError if reply.get("empty") else InputFileError
        raise kind(reply["error"])


async def _send(process: Process, head: bytes, data: bytes) -> None:
    if process.stdin is None:
        raise BrokenPipeError
    process.stdin.write(head)
    with memoryview(data) as view:
        for first in range(0, len(data), PIECE):
            process.stdin.write(view[first : first + PIECE])
            await process.stdin.drain()
    await process.stdin.drain()


async def _send_file(process: Process, head: bytes, file: BinaryIO, size: int) -> None:
    """Send a request with the content of a file; an incomplete request ends the process."""
    try:
        await _send(process, head, b"")
        while size:
            piece = await asyncio.to_thread(file.read, min(size, PIECE))
            if not piece:
                raise InputFileError("it changed while it was read; ingest it again")
            size -= len(piece)
            await _send(process, b"", piece)
    except (BrokenPipeError, ConnectionResetError):
        return  # The process has ended, and its reply says why.
    except BaseException:
        if process.returncode is None:
            process.kill()
        raise


async def _receive(process: Process, most_bytes: int) -> dict[str, Any]:
    if process.stdout is None:
        raise BrokenPipeError
    length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
    if length > 2 * (most_bytes + PIECE):
        raise OSError
    reply: dict[str, Any] = json.loads(await process.stdout.readexactly(length))
    return reply


def _size_of(file: BinaryIO) -> int:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size


def _make_record(record: list[Any], media_type: str) -> LoadedDocument | RefusedDocument:
    if len(record) == REFUSED:
        return RefusedDocument(id=record[0], reason=record[1])
    id_, text, given, labels, size, name, note = record
    entities = tuple(GivenEntity(*one) for one in given)
    content = DocumentText(text=text, given=entities, labels=tuple(labels))
    return LoadedDocument(
        id=id_, text=content, size=size, name=name, note=note, media_type=media_type
    )


def _make_text(reply: dict[str, Any]) -> DocumentText:
    return DocumentText(
        text=reply["text"],
        page_starts=tuple(reply["pages"]),
        outline=tuple(OutlineEntry(*entry) for entry in reply["outline"]),
        unread=tuple(reply["unread"]),
        title=reply["title"],
    )
