"""Reads requests from stdin line by line, and answers invalid lines with errors.

The MCP library reads in a thread that Python waits for at exit, so a server with a silent client
would survive every signal. This module reads in a daemon thread instead. Memory is bounded for
lines of any length, and for clients that send at any speed.

A client waits for an answer to each of its requests, but the library only logs some invalid
requests. It cannot parse some as JSON, for example half of a surrogate pair or a number with
thousands of digits. It mistakes requests with an invalid id for notifications. Some lines are too
long to read. This module answers all of these with an error, which has the id of the request if it
can be found.
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
"""Maximum bytes of a line. A request usually has a few hundred."""
KEPT = 1000
"""Bytes kept from each end of a longer line, because they may contain the id of the request."""
MOST_READ = 16
"""Maximum pieces that wait to be processed; the reading thread pauses at this number."""
MOST_DIGITS = 300
"""Maximum digits of a whole number that an error can repeat as an id."""
# Clients write the id as the first or last member of the object. The patterns accept only the
# members "jsonrpc" and "method" beside it, so in valid JSON they match an id of the outermost
# object and never an id inside other members.
_BESIDE = r'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
_ID = rf'"id"\s*:\s*("[^"\\\x00-\x1f]*"|-?\d{{1,{MOST_DIGITS}}})'
_FIRST = re.compile(rf"\s*\{{\s*(?:{_BESIDE}\s*,\s*)*{_ID}\s*,")
_LAST = re.compile(rf"[\]}}\"\w]\s*,\s*(?:{_BESIDE}\s*,\s*)*{_ID}\s*(?:,\s*{_BESIDE}\s*)*\}}\s*\Z")


@dataclass(frozen=True, slots=True)
class LongLine:
    """The two ends of a line that is too long to keep."""

    begin: str
    end: str


async def read_lines(descriptor: int) -> AsyncIterator[str | LongLine]:
    """Yield the lines from a file descriptor, until the end of the file."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(MOST_READ)

    def read() -> None:
        try:
            while True:
                room.acquire()
                data = _read(descriptor)
                loop.call_soon_threadsafe(arrived.put_nowait, data)
                if not data:
                    return
        except RuntimeError:  # the event loop has closed
            return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    current = _PartialLine()
    while data := await arrived.get():
        *pieces, rest = data.split(b"\n")
        for piece in pieces:
            current.add(piece)
            yield current.line
            current = _PartialLine()
        current.add(rest)
        room.release()
    if current.data:
        yield current.line


@dataclass(slots=True)
class _PartialLine:
    """The part of a line that has arrived, or only its ends if it is too long."""

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
            return _decode(self.data)
        return LongLine(_decode(self.begin), _decode(self.data[-KEPT:]))


def _decode(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, SIZE)
    except OSError:
        return b""


async def pass_requests(
    lines: AsyncIterator[str | LongLine], refuse: Callable[[JSONRPCError], Awaitable[None]]
) -> AsyncIterator[str]:
    """Yield the lines that the library understands; pass errors for other lines to ``refuse``."""
    async for line in lines:
        if isinstance(line, LongLine):
            await refuse(make_long_line_error(line))
            continue
        if not line.strip():
            continue
        error = check_line(line)
        if error is None:
            yield line
        else:
            await refuse(error)


def make_long_line_error(line: LongLine) -> JSONRPCError:
    """Return the error for a line that is too long, with the id if one of the ends contains it."""
    found = _FIRST.match(line.begin) or _LAST.search(line.end)
    request_id = json.loads(found[1]) if found else None
    message = f"the line is longer than {MOST_LINE:,} bytes; send a shorter request"
    return _make_error(request_id, INVALID_REQUEST, message)


def check_line(line: str) -> JSONRPCError | None:
    """Return the error for an invalid line; None if the line is a request or a response."""
    reason = _find_fault(line)
    try:
        sent: Any = json.loads(line, parse_int=_parse_whole_number)
    except (ValueError, RecursionError):
        return _make_error(None, PARSE_ERROR, "the line is not JSON") if reason else None
    if not isinstance(sent, dict):
        return _make_error(None, INVALID_REQUEST, "the line is not one object") if reason else None
    request_id = sent.get("id")
    if "method" not in sent:
        return (
            None
            if "result" in sent or "error" in sent or not reason
            else _make_error(None, *reason)
        )
    if "id" in sent and not _is_id(request_id):
        return _make_error(None, INVALID_REQUEST, "the id is neither a text nor a whole number")
    return _make_error(request_id, *reason) if reason else None


def _find_fault(line: str) -> tuple[int, str] | None:
    """Return the error code and the reason if the library does not understand a line."""
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        if error.errors(include_input=False, include_url=False)[0]["type"] == "json_invalid":
            return PARSE_ERROR, "the line is not JSON that can be read"
        return INVALID_REQUEST, "the line is no request of JSON-RPC 2.0"
    return None


@dataclass(frozen=True, slots=True)
class _Unusable:
    """Stands for a number with too many digits."""


def _parse_whole_number(digits: str) -> int | _Unusable:
    return int(digits) if len(digits) <= MOST_DIGITS else _Unusable()


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    return isinstance(value, int) and not isinstance(value, bool)


def _make_error(request_id: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))
