"""Parses addresses: their host, their secret parts, and whether they lead to this machine."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

MASK = "***"
OPENAI_URL = "https://api.openai.com/v1"
# The credentials end at the last @, because a password may contain an @.
_CREDENTIALS = re.compile(r"^(\w[\w+.-]*://)?.*@", re.DOTALL)
_QUERY = re.compile(r"(?<=[?#]).+", re.DOTALL)
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+(%[a-z0-9]+)?")
_PORTS = {"http": 80, "https": 443}


def masked_address(address: str) -> str:
    """Mask the parts of an address that may be secret: the credentials and the query."""
    return _QUERY.sub(MASK, _CREDENTIALS.sub(rf"\1{MASK}@", address))


def secret_parts(address: str) -> tuple[str, ...]:
    """Return the parts that ``masked_address`` masks: credentials, password, and query."""
    query = _QUERY.search(address)
    credentials = _CREDENTIALS.match(address)
    parts = [query.group()] if query else []
    if credentials:
        user = credentials.group()[:-1].rpartition("://")[2]
        parts += [user, user.partition(":")[2]]
    return tuple(part for part in parts if part)


def host_in(address: str) -> str:
    """Return the host of an address for messages, or a phrase if it cannot be parsed."""
    parts = _split_address(address)
    return (parts.hostname if parts else None) or "an address that cannot be read"


def is_loopback(address: str) -> bool:
    """Return whether an address leads to this machine and cannot leave it."""
    parts = _split_address(address)
    host = parts.hostname if parts else None
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False


def is_plain(address: str) -> bool:
    """Return whether data to an address crosses a network without encryption."""
    scheme = address.partition("://")[0].lower()
    return scheme in ("http", "bolt", "neo4j") and not is_loopback(address)


def is_openai(address: str) -> bool:
    """Return whether an address is OpenAI's own, in any region."""
    parts = _split_address(address)
    host = parts.hostname if parts and parts.scheme == "https" else None
    own = f"{host}".endswith(".api.openai.com") or host == "api.openai.com"
    return own and parts is not None and parts.port in (None, 443)


def is_same_server(one: str, other: str) -> bool:
    """Return whether two URLs name the same scheme, host, and port."""
    places = [_find_place(address) for address in (one, other)]
    return places[0] is not None and places[0] == places[1]


def _find_place(address: str) -> tuple[str, str, int | None] | None:
    parts = _split_address(address)
    if parts is None or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _split_address(address: str) -> SplitResult | None:
    """Return the parts of an address; None if programs may read different hosts from it."""
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - reading the port checks it
    except ValueError:
        return None
    return parts if _HOST.fullmatch(parts.hostname or "") else None
