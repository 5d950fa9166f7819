"""Decides which URLs and network addresses may be fetched, and which id a URL gets."""

from __future__ import annotations

import asyncio
import re
import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit, urlunsplit

from pgs_neo4j.errors import InputFileError

SCHEMES = ("http://", "https://")
PORTS = {"http": 80, "https": 443}
MASK = "***"

_NAT64 = IPv6Network("64:ff9b::/96")  # Its last 32 bits are an IPv4 address.
# These networks are in IANA's registries of special purposes (RFC 6890 and later). Python's own
# list depends on the Python release, and calls some of them global.
_SPECIAL_V4 = tuple(
    map(
        IPv4Network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
            *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24"),
            *("192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24"),
            *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        ),
    )
)
# Only this part of IPv6 is global unicast. All other special networks are outside this part:
# fc00::/7, fe80::/10, fec0::/10, ff00::/8, 5f00::/16, 100::/64, and so on.
_UNICAST = IPv6Network("2000::/3")
_SPECIAL_V6 = tuple(
    map(
        IPv6Network,
        ("2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3ffe::/16", "3fff::/20"),
    )
)
_SECRET = re.compile(
    r"(?i)((?:^|&)[^=&]*"
    r"(?:key|token|secret|pass|pwd|sig|auth|code|cred|jwt|bearer)[^=&]*=)[^&]*"
)


def is_url(path: str) -> bool:
    """Return whether a path to ingest is a URL."""
    return path.lower().startswith(SCHEMES)


def url_id(url: str) -> str:
    """Return the id of a URL, without its fragment, and with the secrets in its query masked.

    Raises InputFileError if the URL must not be fetched.
    """
    scheme, place, path, query, _ = urlsplit(check_url(url))
    return urlunsplit((scheme, place.lower(), path, _SECRET.sub(rf"\1{MASK}", query), ""))


def check_url(url: str) -> str:
    """Return a URL that may be fetched. Raises InputFileError otherwise, without the URL."""
    try:
        parts = urlsplit(url)
        fetchable = parts.scheme in PORTS and parts.hostname and parts.port != 0
    except ValueError:
        fetchable = False
    if not fetchable or not url.isprintable() or " " in url:
        raise InputFileError("it is not a URL of http or https")
    if parts.username is not None or parts.password is not None:
        raise InputFileError("a URL must not contain a name or password; fetch it another way")
    return url


async def resolve(host: str, port: int, *, private: bool) -> str:
    """Return the address of a host for a connection.

    Unless ``private`` addresses are allowed, all addresses of the host must be public. Raises
    InputFileError.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InputFileError(f"the host {host} has no known address; check the URL") from None
    addresses = [str(place[0]) for *_, place in found]
    if not addresses:
        raise InputFileError(f"the host {host} has no known address; check the URL")
    if not private and not all(map(is_public, addresses)):
        raise InputFileError(
            f"the host {host} has a private address; to fetch it anyway, add --allow-private"
        )
    return addresses[0]


def is_public(address: str) -> bool:
    """Return whether an address is public.

    If an IPv6 address contains an IPv4 address, the IPv4 address is checked.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return False  # Only link-local addresses with a zone fail to parse.
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is None:
            return ip in _UNICAST and not any(ip in special for special in _SPECIAL_V6)
        ip = inner
    return not any(ip in special for special in _SPECIAL_V4)
