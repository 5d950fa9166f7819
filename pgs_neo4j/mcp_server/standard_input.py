"""Reads requests on stdin line by line, and answers the lines that hold none.

The library would read in a thread that Python waits for at the end, so a server whose client is
silent would outlast every signal. A daemon thread reads here instead. Memory is bounded, however
long a line is, and however fast the client sends.

A client waits for an answer to each request that it sends, but the library would only log some of
them. Some are no JSON to it, such as half of a surrogate pair, or a number of thousands of digits.
Others have an id that no request may have, and pass for notifications, or are too long to be read.
All get an error, with their id if it can be found.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

SIZE = 65_536
MOST_LINE = 1_000_000
"""Bytes of a line. A request has a few hundred, and none needs as many as this."""
KEPT = 1000
"""Bytes of both ends of a longer line that are kept, as they may show the id of a request."""
MOST_READ = 16
"""Pieces that are read before they are taken, so that a client that sends more has to wait."""
MOST_DIGITS = 300
"""Digits of a whole number that an error can repeat as an id."""
# Clients write the id first or last. What stands beside it is plain text, so a line that is JSON
# has no other member of its outermost object there.
_BESIDE = r'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
_ID = rf'"id"\s*:\s*("[^"\\\x00-\x1f]*"|-?\d{{1,{MOST_DIGITS}}})'
_FIRST = re.compile(rf"\s*\{{\s*(?:{_BESIDE}\s*,\s*)*{_ID}\s*,")
_LAST = re.compile(rf"[\]}}\"\w]\s*,\s*(?:{_BESIDE}\s*,\s*)*{_ID}\s*(?:,\s*{_BESIDE}\s*)*\}}\s*\Z")


@dataclass(frozen=True, slots=True)
class LongLine:
    """The ends of a line that was too long to be kept."""

    begin: str
    end: str


async def read_lines(descriptor: int) -> AsyncIterator[str | LongLine]:
    """Yield the lines that arrive at a file descriptor, until its end."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes] = asyncio.Queue()
    free = threading.Semaphore(MOST_READ)

    def read() -> None:
        try:
            while True:
                free.acquire()
                data = _read(descriptor)
                loop.call_soon_threadsafe(arrived.put_nowait, data)
                if not data:
                    return
        except RuntimeError:  # the loop has closed, and nobody reads any more
            return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    begun = _BegunLine()
    while data := await arrived.get():
        *pieces, rest = data.split(b"\n")
        for piece in pieces:
            begun.add(piece)
            yield begun.line
            begun = _BegunLine()
        begun.add(rest)
        free.release()
    if begun.data:
        yield begun.line


@dataclass(slots=True)
class _BegunLine:
    """What has arrived of a line: all of it, or its ends if it is too long."""

    data: bytearray = field(default_factory=bytearray)
    begin: bytes = b""

    def add(self, piece: bytes) -> None:
        self.data += piece
        if len(self.data) > MOST_LINE:
            self.begin = self.begin or bytes(self.data[:KEPT])
            del self.data[:-KEPT]

    @property
    def line(self) -> str | LongLine:
        if not self.begin:
            return _decoded(self.data)
        return LongLine(_decoded(self.begin), _decoded(self.data[-KEPT:]))


def _decoded(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, SIZE)
    except OSError:
        return b""


async def pass_requests(
    lines: AsyncIterator[str | LongLine], refuse: Callable[[JSONRPCError], Awaitable[None]]
) -> AsyncIterator[str]:
    """Yield the lines that the library understands; ``refuse`` gets the errors for the others."""
    async for line in lines:
        if isinstance(line, LongLine):
            await refuse(refusal_of_long(line))
            continue
        if not line.strip():
            continue
        error = refusal_of(line)
        if error is None:
            yield line
        else:
            await refuse(error)


def refusal_of_long(line: LongLine) -> JSONRPCError:
    """Return the error for a line that is too long, with the id that stands at one of its ends."""
    found = _FIRST.match(line.begin) or _LAST.search(line.end)
    own = json.loads(found[1]) if found else None
    message = f"the line is longer than {MOST_LINE:,} bytes; send a shorter request"
    return _error(own, INVALID_REQUEST, message)


def refusal_of(line: str) -> JSONRPCError | None:
    """Return the error for a line that holds no request, None for one that does, or an answer."""
    reason = _reason(line)
    try:
        sent: Any = json.loads(line, parse_int=_whole_number)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "the line is not JSON") if reason else None
    if not isinstance(sent, dict):
        return _error(None, INVALID_REQUEST, "the line is not one object") if reason else None
    own = sent.get("id")
    if "method" not in sent:
        return None if "result" in sent or "error" in sent or not reason else _error(None, *reason)
    if "id" in sent and not _is_id(own):
        return _error(None, INVALID_REQUEST, "the id is neither a text nor a whole number")
    return _error(own, *reason) if reason else None


def _reason(line: str) -> tuple[int, str] | None:
    """Return why the library does not understand a line."""
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        if error.errors(include_input=False, include_url=False)[0]["type"] == "json_invalid":
            return PARSE_ERROR, "the line is not JSON that can be read"
        return INVALID_REQUEST, "the line is no request of JSON-RPC 2.0"
    return None


@dataclass(frozen=True, slots=True)
class _Unusable:
    """A number with too many digits."""


def _whole_number(digits: str) -> int | _Unusable:
    return int(digits) if len(digits) <= MOST_DIGITS else _Unusable()


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    return isinstance(value, int) and not isinstance(value, bool)


def _error(own: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=own, error=ErrorData(code=code, message=message))
