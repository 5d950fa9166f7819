"""Fetches URLs from checked addresses, with limits on size, time, and redirects."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from pgs_neo4j.documents.sources.addresses import PORTS, check_url, resolve
from pgs_neo4j.documents.sources.opening import check_size
from pgs_neo4j.errors import InputFileError

if TYPE_CHECKING:
    import httpx2

MOST_REDIRECTS = 5
SECONDS = 60.0
"""Maximum seconds for one document, including redirects."""
WAIT_S = 15.0
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ENDINGS: Mapping[str, str] = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    WORD: ".docx",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/x-rst": ".rst",
    "text/asciidoc": ".adoc",
    "text/org": ".org",
    "text/x-tex": ".tex",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/json": ".json",
    "application/jsonl": ".jsonl",
    "application/x-ndjson": ".jsonl",
}
"""Endings of files by their media types."""
VAGUE = ("", "text/plain", "application/octet-stream", "binary/octet-stream")
"""Media types that say less about a file than the ending of its URL."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The content of a URL: its bytes, the ending for its type, and its encoding if known."""

    data: bytes
    ending: str
    charset: str


async def fetch(url: str, most_bytes: int, known: Collection[str], *, private: bool) -> Fetched:
    """Return the content of a URL. ``known`` has the endings for which there are readers.

    Private addresses are refused unless ``private`` is true. Raises InputFileError.
    """
    import httpx2

    try:
        async with asyncio.timeout(SECONDS):
            for _ in range(MOST_REDIRECTS + 1):
                found = await _request_once(check_url(url), most_bytes, known, private=private)
                if isinstance(found, Fetched):
                    return found
                url = urljoin(url, found)
    except TimeoutError:
        raise InputFileError(f"fetching it took more than {SECONDS:,.0f} seconds") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise InputFileError(
            f"it could not be fetched ({type(error).__name__}); check that its host answers"
        ) from None
    raise InputFileError(f"it redirects more than {MOST_REDIRECTS} times")


def open_client() -> httpx2.AsyncClient:
    """Return a client that uses no proxy and does not follow redirects."""
    import httpx2

    return httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=WAIT_S)


async def _request_once(
    url: str, most_bytes: int, known: Collection[str], *, private: bool
) -> Fetched | str:
    """Return the content of a URL, or the target of its redirect.

    The client connects to the checked address, and the request names the host. So a second lookup
    of the host cannot lead to another address.
    """
    import httpx2

    target = httpx2.URL(url)
    host = target.raw_host.decode("ascii")
    address = await resolve(host, target.port or PORTS[target.scheme], private=private)
    headers = {
        "Host": target.netloc.decode("ascii"),
        "Accept-Encoding": "identity",
        "User-Agent": "pgs-neo4j",
    }
    async with (
        open_client() as client,
        client.stream(
            "GET",
            target.copy_with(host=address.partition("%")[0], fragment=None),
            headers=headers,
            extensions={"sni_hostname": host},
        ) as reply,
    ):
        if reply.is_redirect and "location" in reply.headers:
            return str(reply.headers["location"])
        if reply.status_code != 200:
            raise InputFileError(f"its host replied with the status {reply.status_code}")
        ending, charset = _find_kind(reply.headers.get("content-type", ""), url, known)
        return Fetched(await _read_body(reply, most_bytes), ending, charset)


async def _read_body(reply: httpx2.Response, most_bytes: int) -> bytes:
    if reply.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise InputFileError("its host compresses it, though that was not requested")
    length = reply.headers.get("content-length", "")
    check_size(int(length) if length.isdecimal() else 0, most_bytes)
    data = bytearray()
    async for piece in reply.aiter_raw():
        data += piece
        check_size(len(data), most_bytes)
    return bytes(data)


def _find_kind(content_type: str, url: str, known: Collection[str]) -> tuple[str, str]:
    """Return the ending and encoding for a media type. Raises InputFileError if it is unknown."""
    media, _, rest = content_type.partition(";")
    media = media.strip().lower()
    named = PurePosixPath(urlsplit(url).path).suffix.lower()
    ending = named if media in VAGUE and named in known else ENDINGS.get(media, "")
    if ending not in known:
        what = f"no reader takes its media type {media[:80]}" if media else "it has no media type"
        raise InputFileError(what)
    charset = rest.lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
    return ending, charset
