"""Runs the parsing process: reads documents from stdin, and writes their texts to stdout.

A request is a line of JSON, ``{"kind": "pdf", "size": 5, …}``, followed by ``size`` bytes. A reply
is its length in eight bytes, followed by JSON. A file of records gets several replies, each with
some records, while the file is still being sent. The process limits its resources before it reads
anything, and lowers the limits for each document.
"""

from __future__ import annotations

import json
import os
import resource
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from pgs_neo4j.documents.read.docx import read_docx
from pgs_neo4j.documents.read.html import read_html
from pgs_neo4j.documents.read.limits import RESERVED_MB
from pgs_neo4j.documents.read.pdf import read_pdf
from pgs_neo4j.documents.read.records import read_records
from pgs_neo4j.documents.read.text import EmptyDocumentError, read_text
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import (
    DocumentText,
    LoadedDocument,
    RecordColumns,
    RefusedDocument,
)

PARSERS: Mapping[str, Callable[..., tuple[DocumentText, str]]] = {
    "docx": read_docx,
    "html": read_html,
    "pdf": read_pdf,
    "text": read_text,
}
RECORDS = "records"
LONGEST_HEAD = 100_000
OPEN_FILES = 64
LENGTH = struct.Struct(">Q")
REPLY_RECORDS, REPLY_LETTERS = 100, 200_000
"""Maximum records of a reply, and the total length of their texts above which the reply is sent."""
RETAINED_BYTES = 64 * 2**20
"""Bytes of memory that may stay allocated after a document. Above this limit, the process is
replaced."""


def main() -> None:
    """Answer requests until stdin ends."""
    memory_mb, seconds = map(int, sys.argv[1:3])
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Libraries may print, and their output must not appear among the replies.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for limit, most in (
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
    ):
        _lower_limit(limit, most)
    base = _used_bytes()
    _lower_limit(resource.RLIMIT_AS, base + (memory_mb + RESERVED_MB) * 2**20)
    while line := requests.readline(LONGEST_HEAD):
        _limit_time(seconds)
        head = json.loads(line)
        _limit_time(head["seconds"])
        _lower_limit(resource.RLIMIT_AS, base + head["memory"] * 2**20, hard=False)
        for body in _answer_request(head, requests, base):
            replies.write(LENGTH.pack(len(body)))
            replies.write(body)
            replies.flush()


def _answer_request(head: dict[str, Any], requests: BinaryIO, base: int) -> Iterator[bytes]:
    """Yield the replies to a request."""
    spent = True
    try:
        if head["kind"] == RECORDS:
            yield from _answer_records(head, requests)
        else:
            data = requests.read(head["size"])
            spent = False
            yield _parse(head, data, base)
    except InputFileError as error:
        yield _write_refusal(str(error), spent=spent, empty=isinstance(error, EmptyDocumentError))
    except MemoryError:
        # The document still occupies all allowed memory, so the reply needs the reserve.
        _release_reserve()
        reason = f"reading it takes more than {head['memory']:,} MB of memory"
        yield _write_refusal(reason, spent=True)
    except RecursionError:
        yield _write_refusal("its parts are nested too deeply to be read", spent=True)


def _parse(head: dict[str, Any], data: bytes, base: int) -> bytes:
    """Return the reply for a document. Raises InputFileError."""
    text, note = PARSERS[head["kind"]](data, *head["given"])
    body = _write_text(text, note, spent=_used_bytes() > base + RETAINED_BYTES)
    if len(body) > head["most"]:
        raise InputFileError(f"its text is larger than {head['most'] / 1e6:,.6g} MB; split it")
    return body


def _write_text(text: DocumentText, note: str, *, spent: bool = False) -> bytes:
    outline = [[entry.start, entry.level, entry.title] for entry in text.outline]
    parts = {"text": text.text, "pages": text.page_starts, "outline": outline}
    more = {"note": note, "unread": text.unread, "title": text.title, "spent": spent}
    return _pack({**parts, **more})


def _answer_records(head: dict[str, Any], requests: BinaryIO) -> Iterator[bytes]:
    """Yield replies with the records of a file; the final reply contains ``last``.

    Raises InputFileError.
    """
    id_, ending, columns = head["given"]
    part = _Part(requests, head["size"])
    reply, letters = list[list[Any]](), 0
    named = {**columns, "entities": tuple(map(tuple, columns["entities"]))}
    records = read_records(cast(BinaryIO, part), id_, ending, RecordColumns(**named), head["most"])
    try:
        for record in records:
            reply.append(_list_record(record))
            letters += len(record.text.text) if isinstance(record, LoadedDocument) else 0
            if len(reply) == REPLY_RECORDS or letters > REPLY_LETTERS:
                yield _pack({"records": reply})
                reply, letters = [], 0
    except (InputFileError, MemoryError) as error:
        if isinstance(error, MemoryError):
            _release_reserve()
        if reply:
            yield _pack({"records": reply})
        raise
    yield _pack({"records": reply, "last": True, "spent": part.left > 0})


def _list_record(record: LoadedDocument | RefusedDocument) -> list[Any]:
    if isinstance(record, RefusedDocument):
        return [record.id, record.reason]
    given = [[one.name, one.type, one.start, one.end] for one in record.text.given]
    content = [record.text.text, given, record.text.labels]
    return [record.id, *content, record.size, record.name, record.note]


@dataclass(slots=True)
class _Part:
    """A file that is sent as a part of stdin; ``left`` is the number of its unread bytes."""

    stream: BinaryIO
    left: int

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes of the file, fewer only at its end."""
        piece = self.stream.read(min(size, self.left))
        self.left -= len(piece)
        return piece


def _write_refusal(reason: str, *, spent: bool = False, empty: bool = False) -> bytes:
    """Return a reply with the reason for a failure; a ``spent`` process must be replaced."""
    return _pack({"error": reason, "spent": spent, "empty": empty})


def _pack(reply: dict[str, Any]) -> bytes:
    return json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace")


def _used_bytes() -> int:
    """Return the size of this process's address space, 0 if the system does not report it."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _release_reserve() -> None:
    """Allow this process to use the reserved memory."""
    ceiling = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (ceiling, ceiling))


def _limit_time(seconds: int) -> None:
    """Limit the CPU time of this request; the system ends the process when the time is used up."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower_limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + seconds + 1, hard=False)


def _lower_limit(limit: int, most: int, *, hard: bool = True) -> None:
    """Set a limit, but never above the system's maximum."""
    ceiling = resource.getrlimit(limit)[1]
    if ceiling != resource.RLIM_INFINITY:
        most = min(most, ceiling)
    resource.setrlimit(limit, (most, most if hard else ceiling))


if __name__ == "__main__":
    main()
