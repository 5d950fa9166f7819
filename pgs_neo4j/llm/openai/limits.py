"""The rate limits that an endpoint reports in its headers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pgs_neo4j.model import Left

UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}

_BARE = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)", re.ASCII)
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+", re.ASCII)


def parse_rate_limits(headers: Mapping[str, str]) -> Left | None:
    """Return the remaining capacity that an endpoint reports; None without any."""
    requests = _count(headers.get("x-ratelimit-remaining-requests"))
    tokens = _count(headers.get("x-ratelimit-remaining-tokens"))
    if requests is None and tokens is None:
        return None
    return Left(
        requests=requests,
        tokens=tokens,
        requests_reset_s=_seconds(headers.get("x-ratelimit-reset-requests")),
        tokens_reset_s=_seconds(headers.get("x-ratelimit-reset-tokens")),
    )


def reset_s(left: Left | None) -> float | None:
    """Return the seconds until a used-up limit resets; None if none is used up."""
    if left is None:
        return None
    resets = ((left.requests, left.requests_reset_s), (left.tokens, left.tokens_reset_s))
    waits = [wait_s for count, wait_s in resets if count == 0 and wait_s is not None]
    return max(waits, default=None)


def _count(value: str | None) -> int | None:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 16 else None


def _seconds(value: str | None) -> float | None:
    """Return the seconds of a duration as endpoints write it.

    Forms: ``1s``, ``6m0s``, ``20ms``, ``1h2m3.5s``, ``12``.
    """
    if not value or len(value) > 32:
        return None
    if _BARE.fullmatch(value):
        return float(value)
    if not _DURATION.fullmatch(value):
        return None
    return sum(float(number) * UNITS_S[unit] for number, unit in _PART.findall(value))
