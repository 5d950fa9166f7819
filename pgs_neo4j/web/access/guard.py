"""Checks every request before it reaches a route.

The page may be open in a browser beside hostile pages. Those can send requests to this server, also
under a name of their own that leads to it. So the names of hosts and origins are checked, unsafe
methods take JSON only, which a form cannot send, and every request of the API needs a token. Files
are sent as octet-stream, which no form can send either.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.tokens import Tokens
from pgs_neo4j.web.failures import Failure, failure_response

MOST_BODY = 64 * 1024
MOST_CHAT = 1024 * 1024
"""Chat programs send the whole conversation with every question."""
JSON, FILE = "application/json", "application/octet-stream"
UPLOADS = re.compile(r"/api/graphs/[^/]+/uploads")
"""Paths that take files."""
MOST_REQUESTS = 500
"""Requests of one caller that may be in progress at once."""
DEFAULT_PORTS = {"http": 80, "https": 443}
"""The port that an address without one means, by its scheme."""
SAFE = frozenset({"GET", "HEAD"})
OPEN = frozenset({"/api/login", "/api/health"})
"""Paths of the API that need no token."""
GUARDED = frozenset({"api", "mcp", "v1", "metrics"})
"""First parts of the paths that need one; the others are those of the page's files."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types pgs",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
ASKED_HEADERS = (
    *("authorization", "content-type", "idempotency-key", "last-event-id"),
    *("mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"),
)
"""Headers that a page of an allowed origin may send."""


@dataclass(slots=True)
class Guard:
    """The outermost application; ``hosts`` and ``origins`` are those allowed, in lower case.

    ``cookie`` is the name of the cookie. Origins other than the server's own get CORS headers.
    ``most_file`` are the bytes that a file may have. ``proxied`` are the hosts under which a proxy
    may serve pages although it asks under another name. One caller may have ``most_requests`` in
    progress, streams included, from whatever addresses they come.
    """

    app: ASGIApp
    tokens: Tokens
    cookie: str
    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()
    most_file: int = MOST_BODY
    proxied: frozenset[str] = frozenset()
    most_requests: int = MOST_REQUESTS
    _in_progress: Counter[tuple[bool, str]] = field(default_factory=Counter, repr=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse, or pass a request on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no WebSocket is served: the server closes it
        headers = Headers(scope=scope)
        sending = _with_headers(send, self._allowed_origin(headers))
        if scope["method"] == "OPTIONS" and _origin(headers) in self.origins:
            await _preflight(scope, receive, sending)
            return
        refusal = (
            self._refusal(scope, headers)
            or self._admit(scope, headers)
            or self._refuse_content(scope, headers)
        )
        if refusal is not None:
            status, failure = refusal
            await failure_response(scope["path"], status, failure)(scope, receive, sending)
            return
        caller: Caller | None = scope["state"]["caller"]
        key = (caller.tenant, caller.name) if caller is not None else None
        if key is None:  # asks only for what needs no token, which takes no time
            await self._pass_on(scope, receive, sending)
            return
        self._in_progress[key] += 1
        try:
            await self._pass_on(scope, receive, sending)
        finally:
            self._in_progress[key] -= 1
            if not self._in_progress[key]:
                del self._in_progress[key]

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _Sized(self.app, self._most_body(scope["path"])).serve(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, Failure] | None:
        """Return why a request is refused, with or without a token; None if it is not."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 421, _failure("this host is not served", "host", "allow it with --allow-host")
        if scope["method"] in SAFE:
            return self._oversize(scope, headers)
        origin = _origin(headers)
        foreign = origin is not None and not self._is_allowed(origin, hosts[0].lower())
        site = headers.get("sec-fetch-site", "none")
        if foreign or (site not in ("none", "same-origin") and origin not in self.origins):
            return 403, _failure(
                "another site made this request", "origin", "allow it with --allow-origin"
            )
        return self._oversize(scope, headers)

    def _refuse_content(self, scope: Scope, headers: Headers) -> tuple[int, Failure] | None:
        """Return why a body is refused; None if it may be read.

        A request without a body needs no type of it, if no form can have sent it: it has a token,
        or an allowed page sent it.
        """
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        wanted = FILE if _takes_files(scope["path"]) else JSON
        if scope["method"] != "POST" or kind == wanted:
            return None
        if not kind and not _has_body(headers) and {"authorization", "origin"} & {*headers.keys()}:
            return None
        what = "JSON" if wanted == JSON else "a file"
        return 415, _failure(
            f"the body is not {what}", "content_type", f"send Content-Type: {wanted}"
        )

    def _is_allowed(self, origin: str, host: str) -> bool:
        """Return whether pages of an origin may use the API: its own ones, and those allowed.

        A page of another port is another program's, also on this machine. Browsers leave the
        default port out of Origin, and a proxy may write it into Host.
        """
        scheme, _, own = origin.partition("://")
        if origin in self.origins:
            return True
        if scheme not in DEFAULT_PORTS:
            return False
        if own == without_default_port(scheme, host):
            return True
        proxied = {without_default_port(scheme, name) for name in self.proxied}
        return own in proxied and _name(own) != _name(host)

    def _oversize(self, scope: Scope, headers: Headers) -> tuple[int, Failure] | None:
        most = self._most_body(scope["path"])
        if _length(headers, most) > most:
            return 413, _too_large(scope["path"], most)
        return None

    def _most_body(self, path: str) -> int:
        if _takes_files(path):
            return self.most_file
        return MOST_CHAT if path.startswith("/v1/") else MOST_BODY

    def _admit(self, scope: Scope, headers: Headers) -> tuple[int, Failure] | None:
        """Note the caller; return why there must be one."""
        caller = self._caller(headers)
        scope.setdefault("state", {})["caller"] = caller
        scope["state"]["cookie"] = self._cookie(headers)
        path = scope["path"]
        if not _needs_token(path) or path in OPEN:
            return None
        if caller is None:
            return 401, _failure(
                "this needs a token",
                "unauthenticated",
                "open the link that pgs serve printed, or send Authorization: Bearer …",
            )
        if not caller.may_open(path):
            return 403, _failure(
                f"the token of {caller.name} does not open this",
                "forbidden",
                "use one with another role",
            )
        return self._refuse_more(caller)

    def _refuse_more(self, caller: Caller) -> tuple[int, Failure] | None:
        """Return why a caller may ask for no more now; None if it may.

        A proxy has any number of connections, and a person may have many addresses. So without a
        bound of the caller's own, one of them could take all connections by streams that last.
        """
        if self._in_progress[caller.tenant, caller.name] < self.most_requests:
            return None
        return 503, _failure(
            f"{caller.name} has {self.most_requests:,} requests in progress, which is the most for "
            "one caller",
            "busy",
            "end some of its streams, or try again later",
        )

    def _caller(self, headers: Headers) -> Caller | None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme:
            return self.tokens.program(token.strip()) if scheme.lower() == "bearer" else None
        value = self._cookie(headers)
        return self.tokens.cookie(value) if value else None

    def _cookie(self, headers: Headers) -> str:
        return cookie_parser(headers.get("cookie", "")).get(self.cookie, "")

    def _allowed_origin(self, headers: Headers) -> str | None:
        origin = _origin(headers)
        return origin if origin in self.origins else None


def served_hosts(host: str, port: int, more: Iterable[str]) -> frozenset[str]:
    """Return the values of Host that reach this server, each with and without its port.

    A proxy asks under the port at which it is reached itself, often a default one.
    """
    own = {host, "localhost", "127.0.0.1", "[::1]"} if _is_loopback(host) else {host}
    names = {host_name(name) for name in (*own, *more)}
    ports = (port, *DEFAULT_PORTS.values())
    bare = [name for name in names if not _has_port(name)]
    return frozenset(names | {f"{name}:{number}" for name in bare for number in ports})


def plain_origin(origin: str) -> str:
    """Return an origin as browsers send it: in lower case, without the default port."""
    scheme, separator, host = origin.lower().partition("://")
    return f"{scheme}{separator}{without_default_port(scheme, host)}"


def without_default_port(scheme: str, host: str) -> str:
    """Return a host without the port that its scheme has anyway."""
    port = DEFAULT_PORTS.get(scheme)
    return host if port is None else host.removesuffix(f":{port}")


def host_name(name: str) -> str:
    """Return a name as clients send it in Host: an IPv6 address is short and in brackets."""
    try:
        return f"[{ipaddress.IPv6Address(name.strip('[]')).compressed}]"
    except ValueError:
        return name.lower()


def _origin(headers: Headers) -> str | None:
    origin = headers.get("origin")
    return None if origin is None else plain_origin(origin)


def _is_loopback(host: str) -> bool:
    return host in ("127.0.0.1", "localhost", "::1")


def _name(host: str) -> str:
    return host.rpartition(":")[0] if _has_port(host) else host


def _has_port(name: str) -> bool:
    return name.rpartition("]")[2].find(":") >= 0


def _needs_token(path: str) -> bool:
    return path.removeprefix("/").partition("/")[0] in GUARDED


def _takes_files(path: str) -> bool:
    return UPLOADS.fullmatch(path) is not None


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _length(headers: Headers, most: int) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isdecimal() and len(text) < 16 else most + 1


def _failure(error: str, code: str, fix: str = "") -> Failure:
    return Failure(error=error, code=code, fix=fix)


def _too_large(path: str, most: int) -> Failure:
    if _takes_files(path):
        fix = "raise max_document_mb, or split it"
        return _failure(f"the file is larger than {most / 1e6:,.6g} MB", "too_large", fix)
    return _failure(f"the body has more than {most // 1024} kB", "too_large", "send less")


def _with_headers(send: Send, origin: str | None) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if origin is not None:
                headers["Access-Control-Allow-Origin"] = origin
                headers["Access-Control-Expose-Headers"] = "mcp-session-id"
                headers["Vary"] = "Origin"
        await send(message)

    return sending


async def _preflight(scope: Scope, receive: Receive, send: Send) -> None:
    allowed = {
        "Access-Control-Allow-Methods": "GET, POST, DELETE",
        "Access-Control-Allow-Headers": ", ".join(ASKED_HEADERS),
        "Access-Control-Max-Age": "600",
    }
    await JSONResponse({}, 200, headers=allowed)(scope, receive, send)


class _TooLargeError(Exception):
    """More came than the headers said."""


@dataclass(slots=True)
class _Sized:
    """Ends requests whose body grows above the limit while it is read."""

    app: ASGIApp
    most: int
    size: int = 0
    started: bool = False

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        most = self.most

        async def receiving() -> Message:
            message = await receive()
            self.size += len(message.get("body", b""))
            if self.size > most:
                raise _TooLargeError
            return message

        async def sending(message: Message) -> None:
            if self.size > most and not self.started:
                raise _TooLargeError  # a route has made another error of it
            self.started = True
            await send(message)

        try:
            await self.app(scope, receiving, sending)
        except* _TooLargeError:  # a stream that had begun ends
            if not self.started:
                path = scope["path"]
                await failure_response(path, 413, _too_large(path, most))(scope, receive, send)
