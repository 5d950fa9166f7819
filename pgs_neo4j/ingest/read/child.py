"""The process that parses: it reads documents from stdin and writes their texts to stdout.

A request is a line of JSON, ``{"kind": "pdf", "size": 5}``, and as many bytes. A reply is its
length in eight bytes, and JSON. The process limits itself before it reads anything.
"""

from __future__ import annotations

import json
import os
import resource
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.ingest.read.docx import read_docx
from pgs_neo4j.ingest.read.html import read_html
from pgs_neo4j.ingest.read.pdf import read_pdf
from pgs_neo4j.model.documents import DocumentText

PARSERS: Mapping[str, Callable[..., tuple[DocumentText, str]]] = {
    "docx": read_docx,
    "html": read_html,
    "pdf": read_pdf,
}
LONGEST_HEAD = 1000
OPEN_FILES = 64
LENGTH = struct.Struct(">Q")


def main() -> None:
    """Answer requests until stdin ends."""
    memory_mb, seconds = map(int, sys.argv[1:3])
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries may print
    for limit, most in (
        (resource.RLIMIT_AS, memory_mb * 2**20),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
    ):
        _lower(limit, most)
    while line := requests.readline(LONGEST_HEAD):
        _limit_time(seconds)
        head = json.loads(line)
        body = _answer(head, requests, memory_mb)
        replies.write(LENGTH.pack(len(body)) + body)
        replies.flush()


def _answer(head: dict[str, Any], requests: BinaryIO, memory_mb: int) -> bytes:
    """Return the reply to a request."""
    try:
        data = requests.read(head["size"])
        text, note = PARSERS[head["kind"]](data, *head["given"])
        body = _written(text, note)
    except InputFileError as error:
        return _refusal(str(error))
    except MemoryError:
        return _refusal(f"reading it takes more than {memory_mb:,} MB of memory", spent=True)
    except RecursionError:
        return _refusal("its parts are nested too deeply to be read", spent=True)
    if len(body) > head["most"]:
        return _refusal(f"its text is larger than {head['most'] / 1e6:,.6g} MB; split it")
    return body


def _written(text: DocumentText, note: str) -> bytes:
    outline = [[entry.start, entry.level, entry.title] for entry in text.outline]
    parts = {"text": text.text, "pages": text.page_starts, "outline": outline, "note": note}
    parts["unread"] = text.unread
    return json.dumps(parts, ensure_ascii=False).encode()


def _refusal(reason: str, *, spent: bool = False) -> bytes:
    """Return a reply without a text; after it, a ``spent`` process is not used again."""
    return json.dumps({"error": reason, "spent": spent}).encode()


def _limit_time(seconds: int) -> None:
    """Let this request take so many seconds of CPU time; then the system ends the process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + seconds + 1, hard=False)


def _lower(limit: int, most: int, *, hard: bool = True) -> None:
    """Set a limit, but never above what the system allows."""
    ceiling = resource.getrlimit(limit)[1]
    if ceiling != resource.RLIM_INFINITY:
        most = min(most, ceiling)
    resource.setrlimit(limit, (most, most if hard else ceiling))


if __name__ == "__main__":
    main()
