"""Serves the files of the page. They contain no data of any graph, so they need no token."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from pgs_neo4j.export.style import PAGE
from pgs_neo4j.web.access.guard import GUARDED

STATIC = Path(__file__).with_name("static")
KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


PAGE_METHODS = ["GET", "HEAD"]
REST = "page"
"""The name of the route for all paths that no other route matches."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file ready to send, both uncompressed and compressed."""

    body: bytes
    packed: bytes
    kind: str
    tag: str

    def response(self, request: Request) -> Response:
        """Return the file, or status 304 if the browser already has it."""
        headers = {"ETag": self.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(self.body, media_type=self.kind, headers=headers)
        headers["Content-Encoding"] = "gzip"
        return Response(self.packed, media_type=self.kind, headers=headers)


def page_routes() -> APIRouter:
    """Return the route of the page. Each view has its own address, but all are the same page."""
    router = APIRouter(include_in_schema=False)

    @router.api_route("/{name:path}", methods=PAGE_METHODS, name=REST)
    async def page(name: str, request: Request) -> Response:
        found = find_page_file(name)
        if found is None:
            raise HTTPException(404)
        return found.response(request)

    return router


def find_page_file(name: str) -> PageFile | None:
    """Return the file of a path without its first slash; the page itself for any view."""
    files = page_files()
    if name in files:
        return files[name]
    return None if "." in name or name.partition("/")[0] in GUARDED else files["index.html"]


@cache
def page_files() -> dict[str, PageFile]:
    """Return all files by path, with the style sheet of exported answers."""
    paths = (path for path in STATIC.rglob("*") if path.is_file())
    bodies = {path.relative_to(STATIC).as_posix(): path.read_bytes() for path in paths}
    bodies["answer.css"] = PAGE.encode()
    return {
        name: page_file(body, KINDS[kind])
        for name, body in bodies.items()
        if (kind := name.rpartition(".")[2]) in KINDS
    }


def page_file(body: bytes, kind: str) -> PageFile:
    """Compress a file, and compute its tag."""
    tag = f'"{sha256(body).hexdigest()[:16]}"'
    return PageFile(body, gzip.compress(body, 9, mtime=0), kind, tag)
