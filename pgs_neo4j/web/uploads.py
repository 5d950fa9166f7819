"""Keeps uploaded files until an ingestion takes them.

Each file is deleted as soon as it is opened, so it has no name. The operating system frees its
space when this process ends, even after a crash.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from secrets import token_hex
from typing import BinaryIO

from pgs_neo4j.errors import BusyError, InputFileError
from pgs_neo4j.model.documents import DocumentSource
from pgs_neo4j.text.shown import counted, one_line
from pgs_neo4j.web.access.callers import Caller, UnknownUploadError

MOST_FILES = 400
"""Maximum files that may wait at the same time."""
MOST_TOTAL = 2_000_000_000
"""Maximum bytes that may wait at the same time.

A caller may use at most the amount that remains free: a single caller gets half, and two callers
get a third each. So there is always room for another caller, without knowing the number of callers
in advance (dynamic thresholds of Choudhury and Hahne, 1998, with a factor of 1).
"""
WAIT_S = 900.0
"""Maximum seconds for which a file may wait, and maximum seconds of an upload."""
PORTION = 1 << 20
"""Bytes to collect before they are written."""
LONGEST = 500
"""Maximum characters of a name, the same as for the id of a document."""
SHOWN = 80


@dataclass(slots=True, eq=False)
class Upload:
    """An open file that waits to be ingested; ``size`` is the number of bytes received so far."""

    id: str
    owner: Caller
    graph: str
    name: str
    file: BinaryIO = field(repr=False)
    size: int = 0
    whole: bool = False
    expiry: asyncio.TimerHandle | None = field(default=None, repr=False)

    def source(self) -> DocumentSource:
        """Return the source of its document."""
        return DocumentSource(id=self.name, opened=self.file)

    def read(self) -> bytes:
        """Return the bytes of the file."""
        self.file.seek(0)
        return self.file.read()


@dataclass(slots=True)
class UploadStore:
    """The uploads waiting to be ingested, each of at most ``most_bytes``.

    A new file replaces a waiting file of the same caller, graph, and name.
    """

    most_bytes: int = 100_000_000
    most_files: int = MOST_FILES
    most_total: int = MOST_TOTAL
    wait_s: float = WAIT_S
    _waiting: dict[str, Upload] = field(default_factory=dict, repr=False)

    @property
    def limits_for_one_caller(self) -> tuple[int, int]:
        """Maximum files and bytes for one caller while no other caller has any."""
        return self.most_files // 2, self.most_total // 2

    @property
    def waiting(self) -> int:
        """The number of waiting files, including files that are being uploaded."""
        return len(self._waiting)

    async def receive(
        self,
        caller: Caller,
        graph: str,
        name: str,
        endings: Sequence[str],
        stream: AsyncIterator[bytes],
    ) -> Upload:
        """Receive a file of a caller for a graph, and keep it until it is taken.

        ``endings`` are the allowed file endings; if empty, all are allowed. Raises InputFileError
        for a file that cannot be ingested, and BusyError while too many files wait. After an error,
        no part of the file is kept.
        """
        document_name(name)
        if endings and ending_of(name) not in endings:
            raise InputFileError(
                f"no reader takes {ending_of(name) or 'a file without an ending'}; "
                f"the endings that can be read are {', '.join(endings)}"
            )
        self._require_room(caller, 1)
        with ExitStack() as undo:
            file = undo.enter_context(tempfile.TemporaryFile())
            upload = Upload(token_hex(8), caller, graph, name, file)
            self._waiting[upload.id] = upload
            undo.callback(self._remove, upload)
            try:
                async with asyncio.timeout(self.wait_s):
                    await self._write(upload, stream)
            except TimeoutError:
                raise InputFileError(f"{name} took too long to arrive; send it again") from None
            self._let_wait(upload)
            undo.pop_all()
        return upload

    def take(self, caller: Caller, graph: str, ids: Sequence[str]) -> list[Upload]:
        """Remove files from the store and return them; close them with ``close_all``.

        If the caller has not uploaded one of the files for the graph, raises UnknownUploadError and
        removes no file.
        """
        taken = self.find(caller, graph, ids)
        for upload in taken:
            self._forget(upload)
        return taken

    def find(self, caller: Caller, graph: str, ids: Sequence[str]) -> list[Upload]:
        """Return the caller's uploads waiting to be ingested. Raises UnknownUploadError."""
        found = [self._waiting.get(id_) for id_ in dict.fromkeys(ids)]
        own = [one for one in found if one and _belongs_to(one, caller, graph)]
        if len(own) < len(found):
            raise UnknownUploadError(
                "a file does not wait any more; those that are not ingested within "
                f"{self.wait_s / 60:g} minutes are removed, so send it again"
            )
        return own

    def discard(self, caller: Caller, id_: str) -> None:
        """Remove a waiting file of a caller, if it exists."""
        upload = self._waiting.get(id_)
        if upload is not None and upload.owner == caller and upload.whole:
            self._remove(upload)

    def close(self) -> None:
        """Remove all files."""
        for upload in [*self._waiting.values()]:
            self._remove(upload)

    async def _write(self, upload: Upload, stream: AsyncIterator[bytes]) -> None:
        portion = bytearray()
        async for data in stream:
            upload.size += len(data)
            if upload.size > self.most_bytes:
                raise InputFileError(too_large(self.most_bytes))
            self._require_room(upload.owner, 0)
            portion += data
            if len(portion) >= PORTION:
                await asyncio.to_thread(upload.file.write, bytes(portion))
                portion.clear()
        await asyncio.to_thread(upload.file.write, bytes(portion))
        await asyncio.to_thread(upload.file.flush)
        if not upload.size:
            raise InputFileError(f"{upload.name} is empty; choose a file with text")

    def _require_room(self, caller: Caller, more: int) -> None:
        """Raise BusyError unless the caller may add ``more`` files and keep its current bytes."""
        own = [one for one in self._waiting.values() if one.owner.is_same(caller)]
        total = sum(one.size for one in self._waiting.values())
        if self.waiting + more > self.most_files or total > self.most_total:
            raise BusyError("too many files wait to be ingested; try again when they are")
        files, size = len(own) + more, sum(one.size for one in own)
        free = max(self.most_files - self.waiting - more, 1)
        if files > free or size > self.most_total - total:
            raise BusyError(
                f"{caller.name} has {counted(len(own), 'file')} waiting, and room is left for "
                "others; ingest these first"
            )

    def _let_wait(self, upload: Upload) -> None:
        """Mark a file as complete, remove an older file of the same name, and start its expiry."""
        for other in [*self._waiting.values()]:
            same = (other.owner, other.graph, other.name) == (
                upload.owner,
                upload.graph,
                upload.name,
            )
            if same and other.whole:
                self._remove(other)
        upload.whole = True
        loop = asyncio.get_running_loop()
        upload.expiry = loop.call_later(self.wait_s, self._remove, upload)

    def _remove(self, upload: Upload) -> None:
        self._forget(upload)
        upload.file.close()

    def _forget(self, upload: Upload) -> None:
        self._waiting.pop(upload.id, None)
        if upload.expiry is not None:
            upload.expiry.cancel()


def too_large(most_bytes: int) -> str:
    """Return the error message for a file that is too large."""
    return f"the file is larger than {most_bytes / 1e6:,.6g} MB; raise max_document_mb, or split it"


def close_all(uploads: Sequence[Upload]) -> None:
    """Close taken files, which deletes them."""
    for upload in uploads:
        upload.file.close()


def _belongs_to(upload: Upload, caller: Caller, graph: str) -> bool:
    return upload.whole and (upload.owner, upload.graph) == (caller, graph)


def document_name(name: str) -> str:
    """Return the id of an uploaded file's document: its path relative to its folder.

    No file is ever opened under this name. Raises InputFileError for a name that ``pgs ingest``
    would not use: absolute, with ``..``, of a hidden file, or with unprintable characters.
    """
    parts = name.split("/")
    if len(name) > LONGEST or not _is_plain(name) or not all(map(_is_visible, parts)):
        raise InputFileError(
            f"{one_line(name[:SHOWN])!r} cannot be the name of a document; name a file by its path "
            "below its folder, as in notes/a.md"
        )
    return name


def ending_of(name: str) -> str:
    """Return the ending of a name with its dot, in lower case."""
    return PurePosixPath(name).suffix.lower()


def _is_plain(name: str) -> bool:
    return name.isprintable() and "\\" not in name


def _is_visible(part: str) -> bool:
    """Return whether a part of a path is valid: not empty, no outer spaces, and not hidden."""
    return bool(part) and part.strip() == part and not part.startswith(".")
