"""Tokens: of the link, which works once, of cookies, and of programs.

An address that sends several wrong tokens has to wait before the next one is looked at.
"""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import TypeVar

from pgs_neo4j.web.access.callers import LOGGED_IN, OWNER, Caller, ForbiddenError

COOKIE_S = 12 * 3600.0
"""Seconds without a request after which a browser has to log in again."""
LINK_S = 3600.0
MOST_COOKIES, MOST_LINKS = 20, 20
"""Cookies of one caller, and links that were not followed; the one that was used longest ago goes.

The bound is each caller's own: one that logs in again and again ends no session of another.
"""
BYTES = 32
FREE, FIRST_S, LONGEST_S = 5, 1.0, 300.0
"""Failures without a wait, the first wait, and the longest; each is twice the one before."""
MOST_ADDRESSES = 10_000
T = TypeVar("T")


def hashed(token: str) -> str:
    """Return what is kept of a token. Random tokens of 32 bytes need no salt."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True)
class _Cookie:
    caller: Caller
    used_at: float


@dataclass(slots=True)
class Tokens:
    """The tokens that are good now; only their hashes are kept.

    ``programs`` maps the hashes of ``pgs.toml`` to their callers.
    """

    programs: dict[str, Caller] = field(default_factory=dict, repr=False)
    _links: dict[str, float] = field(default_factory=dict, repr=False)
    _cookies: dict[str, _Cookie] = field(default_factory=dict, repr=False)

    def new_link(self) -> str:
        """Return a token that can be traded once for a cookie of the owner."""
        token = secrets.token_urlsafe(BYTES)
        self._links[hashed(token)] = monotonic()
        for old in [*self._links][:-MOST_LINKS]:
            del self._links[old]
        return token

    def log_in(self, token: str) -> tuple[str, Caller] | None:
        """Trade a token for a new cookie; None if it is no good. The token of a link works once.

        Raises ForbiddenError for a token that opens nothing that a browser shows.
        """
        caller = self.program(token) or self._linked(token)
        if caller is None:
            return None
        if not caller.may_open(LOGGED_IN):
            raise ForbiddenError(
                f"the token of {caller.name} has the role {caller.role}, which opens no page; log "
                "in with another one"
            )
        cookie = secrets.token_urlsafe(BYTES)
        self._cookies[hashed(cookie)] = _Cookie(caller, monotonic())
        own = [key for key, held in self._cookies.items() if held.caller.is_same(caller)]
        own.sort(key=lambda key: self._cookies[key].used_at)
        for old in own[:-MOST_COOKIES]:
            del self._cookies[old]
        return cookie, caller

    def program(self, token: str) -> Caller | None:
        """Return the caller of a token of ``pgs.toml``; None for any other token."""
        return _matching(self.programs, hashed(token))

    def cookie(self, value: str) -> Caller | None:
        """Return the caller of a cookie; None if it is unknown or too old."""
        held = _matching(self._cookies, hashed(value))
        if held is None or monotonic() - held.used_at > COOKIE_S:
            self.log_out(value)
            return None
        held.used_at = monotonic()
        return held.caller

    def log_out(self, value: str) -> None:
        """Make a cookie useless."""
        self._cookies.pop(hashed(value), None)

    def _linked(self, token: str) -> Caller | None:
        made_at = _matching(self._links, hashed(token))
        if made_at is None:
            return None
        del self._links[hashed(token)]
        return OWNER if monotonic() - made_at <= LINK_S else None


def _matching(known: dict[str, T], wanted: str) -> T | None:
    """Return the value of a hash, in a time that reveals nothing about other hashes."""
    matches = [value for key, value in known.items() if hmac.compare_digest(key, wanted)]
    return matches[0] if matches else None


def callers_by_hash(entries: Iterable[tuple[str, Caller]]) -> dict[str, Caller]:
    """Return callers by the hashes of their tokens."""
    return {token_hash.lower(): caller for token_hash, caller in entries}


@dataclass(slots=True)
class Backoff:
    """Counts failed log-ins by address, and says how long each has to wait."""

    _failures: OrderedDict[str, tuple[int, float]] = field(default_factory=OrderedDict, repr=False)

    def wait_s(self, address: str) -> float:
        """Return the seconds until an address may try again; 0 if it may now."""
        count, failed_at = self._failures.get(address, (0, 0.0))
        if count < FREE:
            return 0.0
        wait = min(LONGEST_S, FIRST_S * 2.0 ** min(count - FREE, 16))
        return max(0.0, failed_at + wait - monotonic())

    def fail(self, address: str) -> None:
        """Count a failure."""
        count, _ = self._failures.pop(address, (0, 0.0))
        self._failures[address] = (count + 1, monotonic())
        while len(self._failures) > MOST_ADDRESSES:
            self._failures.popitem(last=False)
