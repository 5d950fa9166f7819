"""Addresses of endpoints: their form, their hosts, and their names in cache keys."""

from __future__ import annotations

from urllib.parse import urlsplit

ROOT = "/v1"  # where nearly every endpoint is


def holds_secrets(text: str) -> bool:
    """Return whether a URL has more than scheme, host, and path.

    It may be malformed.
    """
    rest = text.partition("://")[2] or text
    return "@" in rest or "?" in rest or "#" in rest


def is_url(text: str) -> bool:
    """Return whether a text is a URL of HTTP with a host."""
    try:
        url = urlsplit(text)
        return url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # an invalid port or IPv6 address
        return False


def host_of(url: str) -> str:
    """Return host and port for messages, without credentials or path."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def cache_name(url: str) -> str:
    """Return the name of an endpoint in the keys of cached replies.

    It tells apart any two deployments. Replies that were cached under the host alone stay usable
    at the usual root, where there is but one.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    usual = path == ROOT and (parts.scheme == "https" or parts.port is not None)
    return host_of(url) if usual else f"{parts.scheme}://{host_of(url)}{path or '/'}"
