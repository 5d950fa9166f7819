"""Reads the bodies of replies as streams, unpacks them, and stops at a ceiling.

A compressed body may grow a thousandfold when it is unpacked. So it is unpacked here in small
pieces instead of in the HTTP client, which unpacks all that the network delivers at once.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterator, Iterator

import httpx2

from pgs_neo4j.errors import ModelError
from pgs_neo4j.llm.openai.replies import body_ceiling
from pgs_neo4j.model.ceilings import ERROR_BYTES, MODEL_LIST_BYTES

ACCEPTED = "gzip"
PIECE_BYTES = 64 * 1024
TAIL_BYTES = 64  # enough for the last event of a stream
_DONE = re.compile(rb"[\r\n]data: ?\[DONE\]")
GZIP_WINDOW = 16 + zlib.MAX_WBITS


async def limit_body(response: httpx2.Response) -> None:
    """Replace the stream of a response by a stream that unpacks it and stops at the ceiling.

    At the ceiling, the body of an error just ends, because its beginning says what is wrong. Raises
    DecodingError for a compression that was not requested.
    """
    ceiling = body_ceiling()
    most_bytes = ceiling.most_bytes if ceiling else MODEL_LIST_BYTES
    error = ceiling.error if ceiling else None
    if response.status_code >= 300:
        most_bytes, error = min(most_bytes, ERROR_BYTES), None
    packed = response.headers.get("content-encoding", "").strip().lower()
    if packed not in ("", "identity", ACCEPTED):
        raise httpx2.DecodingError(f"the content encoding {packed[:40]!r} was not requested")
    if not isinstance(response.stream, httpx2.AsyncByteStream):
        raise TypeError("only asynchronous responses can be limited")
    response.stream = _LimitedBody(response.stream, most_bytes, error, packed=packed == ACCEPTED)
    for name in ("content-encoding", "content-length"):
        response.headers.pop(name, None)


def ends_with_done(response: httpx2.Response) -> bool:
    """Return whether the events of a response, as far as they were read, end with ``[DONE]``."""
    body = response.stream
    return isinstance(body, _LimitedBody) and bool(_DONE.search(body.tail))


class _LimitedBody(httpx2.AsyncByteStream):
    """The unpacked bytes of a body, up to a ceiling.

    A longer body raises ``error``, or just ends at the ceiling if ``error`` is None.
    """

    def __init__(
        self,
        raw: httpx2.AsyncByteStream,
        most_bytes: int,
        error: ModelError | None,
        *,
        packed: bool,
    ) -> None:
        self._raw, self._packed = raw, packed
        self.tail = b""  # the last bytes that were read
        self._left, self._error = most_bytes, error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        inflater = zlib.decompressobj(GZIP_WINDOW) if self._packed else None
        async for received in self._raw:
            for piece in (received,) if inflater is None else _unpack(inflater, received):
                if len(piece) <= self._left:
                    self._left -= len(piece)
                    self.tail = (self.tail + piece[-TAIL_BYTES:])[-TAIL_BYTES:]
                    yield piece
                    continue
                if self._error is not None:
                    raise self._error
                yield piece[: self._left]
                return

    async def aclose(self) -> None:
        await self._raw.aclose()


def _unpack(inflater: zlib._Decompress, packed: bytes) -> Iterator[bytes]:
    """Unpack ``packed`` and yield the bytes in pieces. Raises DecodingError if it is damaged."""
    piece = b"more"
    try:
        while piece and not inflater.eof:
            piece = inflater.decompress(packed, PIECE_BYTES)
            packed = inflater.unconsumed_tail
            yield piece
    except zlib.error as error:
        raise httpx2.DecodingError(f"the reply is damaged: {error}") from error
