"""Parses the rate limits that an endpoint reports in its headers."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from pgs_neo4j.model import Left

UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}

_BARE = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:", re.ASCII)
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+", re.ASCII)


# Pairs of headers: how much of a limit is left, and when it resets. OpenAI and most others send the
# first pair, Anthropic and OpenRouter the others. Of several limits, the one with the least left
# counts.
REQUESTS = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
)
TOKENS = (
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
)
# One call's input may exceed the output limit per minute, so the remaining output tokens matter
# only when they reach 0.
OUTPUT_TOKENS = (
    "anthropic-ratelimit-output-tokens-remaining",
    "anthropic-ratelimit-output-tokens-reset",
)
UNIX_S = 1e9  # a larger number is a Unix time in seconds, not a duration
UNIX_MS = 1e12  # a larger number is a Unix time in milliseconds


def parse_rate_limits(headers: Mapping[str, str], now: float | None = None) -> Left | None:
    """Return the remaining capacity that an endpoint reports; None if it reports no limits.

    A reset at a point in time is compared with ``now`` (Unix time, by default the current one).
    """
    now = time.time() if now is None else now
    requests = _find_least([_parse_left(headers, names, now) for names in REQUESTS])
    output = _parse_left(headers, OUTPUT_TOKENS, now)
    tokens = _find_least(
        [
            *(_parse_left(headers, names, now) for names in TOKENS),
            output if output[0] == 0 else _NOTHING,
        ]
    )
    if requests[0] is None and tokens[0] is None:
        return None
    return Left(
        requests=requests[0],
        tokens=tokens[0],
        requests_reset_s=requests[1],
        tokens_reset_s=tokens[1],
    )


def reset_s(left: Left | None) -> float | None:
    """Return the seconds until a used-up limit resets; None if none is used up."""
    if left is None:
        return None
    resets = ((left.requests, left.requests_reset_s), (left.tokens, left.tokens_reset_s))
    waits = [wait_s for count, wait_s in resets if count == 0 and wait_s is not None]
    return max(waits, default=None)


_NOTHING: tuple[int | None, float | None] = (None, None)


def _parse_left(
    headers: Mapping[str, str], names: tuple[str, str], now: float
) -> tuple[int | None, float | None]:
    return _parse_count(headers.get(names[0])), _parse_seconds(headers.get(names[1]), now)


def _find_least(found: list[tuple[int | None, float | None]]) -> tuple[int | None, float | None]:
    """Return the limit with the least left; among equal limits, the limit that resets last."""
    reported = [(count, reset_s) for count, reset_s in found if count is not None]
    return min(reported, key=lambda one: (one[0], -(one[1] or 0.0)), default=_NOTHING)


def _parse_count(value: str | None) -> int | None:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 16 else None


def _parse_seconds(value: str | None, now: float) -> float | None:
    """Parse a reset in any form that endpoints use; return the seconds until then.

    The forms are ``1s``, ``6m0s``, ``20ms``, ``1h2m3.5s``, ``12``, a time of RFC 3339, and Unix
    time in seconds or milliseconds. Returns None for any other form.
    """
    if not value or len(value) > 40:
        return None
    if _BARE.fullmatch(value):
        number = float(value)
        if number < UNIX_S:
            return number
        return max(0.0, (number / 1000 if number >= UNIX_MS else number) - now)
    if _DURATION.fullmatch(value):
        return sum(float(number) * UNITS_S[unit] for number, unit in _PART.findall(value))
    if not _TIME.match(value):
        return None
    try:
        at = datetime.fromisoformat(value)
        return max(0.0, (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None
