"""Checks every request before it reaches a route.

Hostile pages may be open in the same browser as the page of this server. They can send requests to
this server, even under their own host name if it resolves to this server. So the guard checks the
names of hosts and origins, accepts only JSON with unsafe methods, and requires a token for every
API request. Files are sent as octet-stream. HTML forms can send neither of these content types.
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
"""Maximum bytes of a chat request.

It is larger than MOST_BODY, because chat programs send the whole conversation with every question.
"""
JSON, FILE = "application/json", "application/octet-stream"
UPLOADS = re.compile(r"/api/graphs/[^/]+/uploads")
"""Paths that accept files."""
MOST_REQUESTS = 500
"""Maximum requests of one caller in progress at the same time."""
DEFAULT_PORTS = {"http": 80, "https": 443}
"""Default ports by scheme."""
SAFE = frozenset({"GET", "HEAD"})
OPEN = frozenset({"/api/login", "/api/health"})
"""API paths that need no token."""
GUARDED = frozenset({"api", "mcp", "v1", "metrics"})
"""First parts of paths that need a token; all other paths belong to files of the page."""

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
    """The outermost application. It allows only ``hosts`` and ``origins``, in lower case.

    ``cookie`` is the name of the cookie. Responses to allowed origins other than the server's own
    get CORS headers. ``most_file`` is the most bytes of a file. ``proxied`` are hosts whose pages a
    proxy may serve while it sends requests with another host name. One caller may have
    ``most_requests`` requests in progress, streams included, from all addresses together.
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
        """Answer or refuse a request, or pass it on to the application."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # WebSockets are not served; the server closes them
        headers = Headers(scope=scope)
        sending = _add_headers(send, self._find_allowed_origin(headers))
        if scope["method"] == "OPTIONS" and _read_origin(headers) in self.origins:
            await _answer_preflight(scope, receive, sending)
            return
        refusal = (
            self._refuse_sender(scope, headers)
            or self._admit(scope, headers)
            or self._refuse_content(scope, headers)
        )
        if refusal is not None:
            status, failure = refusal
            await failure_response(scope["path"], status, failure)(scope, receive, sending)
            return
        caller: Caller | None = scope["state"]["caller"]
        key = (caller.tenant, caller.name) if caller is not None else None
        if key is None:  # only for requests that need no token; these are answered quickly
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
        await _BodyLimit(self.app, self._most_body(scope["path"])).serve(scope, receive, send)

    def _refuse_sender(self, scope: Scope, headers: Headers) -> tuple[int, Failure] | None:
        """Return why the host, origin, or size of a request is refused; None if all are allowed."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 421, _make_failure(
                "this host is not served", "host", "allow it with --allow-host"
            )
        if scope["method"] in SAFE:
            return self._refuse_size(scope, headers)
        origin = _read_origin(headers)
        foreign = origin is not None and not self._is_allowed(origin, hosts[0].lower())
        site = headers.get("sec-fetch-site", "none")
        if foreign or (site not in ("none", "same-origin") and origin not in self.origins):
            return 403, _make_failure(
                "another site made this request", "origin", "allow it with --allow-origin"
            )
        return self._refuse_size(scope, headers)

    def _refuse_content(self, scope: Scope, headers: Headers) -> tuple[int, Failure] | None:
        """Return why the content type of a request is refused; None if it is allowed.

        A request without a body needs no content type if no form can have sent it. Forms cannot set
        an Authorization header, and an Origin header was checked before.
        """
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        expected = FILE if _takes_files(scope["path"]) else JSON
        if scope["method"] != "POST" or kind == expected:
            return None
        if not kind and not _has_body(headers) and {"authorization", "origin"} & {*headers.keys()}:
            return None
        what = "JSON" if expected == JSON else "a file"
        return 415, _make_failure(
            f"the body is not {what}", "content_type", f"send Content-Type: {expected}"
        )

    def _is_allowed(self, origin: str, host: str) -> bool:
        """Return whether an origin may use the API: the server's own origin, or an allowed one.

        An origin with another port belongs to another program, even on this machine. Browsers omit
        the default port in Origin, but a proxy may include it in Host.
        """
        scheme, _, own = origin.partition("://")
        if origin in self.origins:
            return True
        if scheme not in DEFAULT_PORTS:
            return False
        if own == without_default_port(scheme, host):
            return True
        proxied = {without_default_port(scheme, name) for name in self.proxied}
        return own in proxied and _strip_port(own) != _strip_port(host)

    def _refuse_size(self, scope: Scope, headers: Headers) -> tuple[int, Failure] | None:
        most = self._most_body(scope["path"])
        if _read_length(headers, most) > most:
            return 413, _make_too_large(scope["path"], most)
        return None

    def _most_body(self, path: str) -> int:
        if _takes_files(path):
            return self.most_file
        return MOST_CHAT if path.startswith("/v1/") else MOST_BODY

    def _admit(self, scope: Scope, headers: Headers) -> tuple[int, Failure] | None:
        """Store the caller in the request's state; return why the caller is refused, if so."""
        caller = self._find_caller(headers)
        scope.setdefault("state", {})["caller"] = caller
        scope["state"]["cookie"] = self._read_cookie(headers)
        path = scope["path"]
        if not _needs_token(path) or path in OPEN:
            return None
        if caller is None:
            return 401, _make_failure(
                "this needs a token",
                "unauthenticated",
                "open the link that pgs serve printed, or send Authorization: Bearer …",
            )
        if not caller.may_open(path):
            return 403, _make_failure(
                f"the token of {caller.name} does not open this",
                "forbidden",
                "use one with another role",
            )
        return self._refuse_excess(caller)

    def _refuse_excess(self, caller: Caller) -> tuple[int, Failure] | None:
        """Return why a further request of a caller is refused; None if it is allowed.

        The connections of a proxy are not limited, and a person may have many addresses. Without a
        limit per caller, one caller could occupy all connections with long streams.
        """
        if self._in_progress[caller.tenant, caller.name] < self.most_requests:
            return None
        return 503, _make_failure(
            f"{caller.name} has {self.most_requests:,} requests in progress, which is the most for "
            "one caller",
            "busy",
            "end some of its streams, or try again later",
        )

    def _find_caller(self, headers: Headers) -> Caller | None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme:
            return self.tokens.find_program(token.strip()) if scheme.lower() == "bearer" else None
        value = self._read_cookie(headers)
        return self.tokens.cookie(value) if value else None

    def _read_cookie(self, headers: Headers) -> str:
        return cookie_parser(headers.get("cookie", "")).get(self.cookie, "")

    def _find_allowed_origin(self, headers: Headers) -> str | None:
        origin = _read_origin(headers)
        return origin if origin in self.origins else None


def served_hosts(host: str, port: int, more: Iterable[str]) -> frozenset[str]:
    """Return the Host values that reach this server, with and without ports.

    A proxy may pass on the port at which clients reach it, often a default port.
    """
    own = {host, "localhost", "127.0.0.1", "[::1]"} if is_loopback(host) else {host}
    names = {host_name(name) for name in (*own, *more)}
    ports = (port, *DEFAULT_PORTS.values())
    bare = [name for name in names if not _has_port(name)]
    return frozenset(names | {f"{name}:{number}" for name in bare for number in ports})


def plain_origin(origin: str) -> str:
    """Return an origin in the form that browsers send: in lower case, without the default port."""
    scheme, separator, host = origin.lower().partition("://")
    return f"{scheme}{separator}{without_default_port(scheme, host)}"


def without_default_port(scheme: str, host: str) -> str:
    """Return a host without the default port of its scheme."""
    port = DEFAULT_PORTS.get(scheme)
    return host if port is None else host.removesuffix(f":{port}")


def host_name(name: str) -> str:
    """Return a name in the form of Host headers: IPv6 addresses compressed and in brackets."""
    try:
        return f"[{ipaddress.IPv6Address(name.strip('[]')).compressed}]"
    except ValueError:
        return name.lower()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server on ``host``, a name or an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _read_origin(headers: Headers) -> str | None:
    origin = headers.get("origin")
    return None if origin is None else plain_origin(origin)


def _strip_port(host: str) -> str:
    return host.rpartition(":")[0] if _has_port(host) else host


def _has_port(name: str) -> bool:
    return name.rpartition("]")[2].find(":") >= 0


def _needs_token(path: str) -> bool:
    return path.removeprefix("/").partition("/")[0] in GUARDED


def _takes_files(path: str) -> bool:
    return UPLOADS.fullmatch(path) is not None


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _read_length(headers: Headers, most: int) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isdecimal() and len(text) < 16 else most + 1


def _make_failure(error: str, code: str, fix: str = "") -> Failure:
    return Failure(error=error, code=code, fix=fix)


def _make_too_large(path: str, most: int) -> Failure:
    if _takes_files(path):
        fix = "raise max_document_mb, or split it"
        return _make_failure(f"the file is larger than {most / 1e6:,.6g} MB", "too_large", fix)
    return _make_failure(f"the body has more than {most // 1024} kB", "too_large", "send less")


def _add_headers(send: Send, origin: str | None) -> Send:
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


async def _answer_preflight(scope: Scope, receive: Receive, send: Send) -> None:
    allowed = {
        "Access-Control-Allow-Methods": "GET, POST, DELETE",
        "Access-Control-Allow-Headers": ", ".join(ASKED_HEADERS),
        "Access-Control-Max-Age": "600",
    }
    await JSONResponse({}, 200, headers=allowed)(scope, receive, send)


class _TooLargeError(Exception):
    """The body is larger than the limit."""


@dataclass(slots=True)
class _BodyLimit:
    """Ends a request if its body exceeds the limit while it is read."""

    app: ASGIApp
    most: int
    size: int = 0
    started: bool = False

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and answer 413 if its body is too large."""
        most = self.most

        async def receiving() -> Message:
            message = await receive()
            self.size += len(message.get("body", b""))
            if self.size > most:
                raise _TooLargeError
            return message

        async def sending(message: Message) -> None:
            if self.size > most and not self.started:
                raise _TooLargeError  # a route has replaced the first error with another error
            self.started = True
            await send(message)

        try:
            await self.app(scope, receiving, sending)
        except* _TooLargeError:  # if a response has begun, it is just cut off
            if not self.started:
                path = scope["path"]
                await failure_response(path, 413, _make_too_large(path, most))(scope, receive, send)
