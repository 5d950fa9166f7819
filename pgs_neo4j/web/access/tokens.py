"""Tokens of links (valid once), of cookies, and of programs.

``Backoff`` makes an address wait after several wrong tokens.
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
"""Maximum cookies of one caller, and maximum unused links.

When there are more, the least recently used cookie or the oldest link is removed. Cookies are
limited per caller, so a caller that logs in repeatedly does not end other callers' sessions.
"""
BYTES = 32
FREE, FIRST_S, LONGEST_S = 5, 1.0, 300.0
"""Failed logins without a wait, and the first and longest waits in seconds; waits double."""
MOST_ADDRESSES = 10_000
T = TypeVar("T")


def hash_token(token: str) -> str:
    """Return the hash of a token, which is all that is kept. Random tokens need no salt."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True)
class _Cookie:
    caller: Caller
    used_at: float


@dataclass(slots=True)
class Tokens:
    """The valid tokens; only their hashes are kept.

    ``programs`` maps token hashes in ``pgs.toml`` to callers.
    """

    programs: dict[str, Caller] = field(default_factory=dict, repr=False)
    _links: dict[str, float] = field(default_factory=dict, repr=False)
    _cookies: dict[str, _Cookie] = field(default_factory=dict, repr=False)

    def new_link(self) -> str:
        """Return a new token that can be exchanged once for a cookie of the owner."""
        token = secrets.token_urlsafe(BYTES)
        self._links[hash_token(token)] = monotonic()
        for old in [*self._links][:-MOST_LINKS]:
            del self._links[old]
        return token

    def log_in(self, token: str) -> tuple[str, Caller] | None:
        """Exchange a token for a new cookie and its caller; None if the token is invalid.

        A link's token works once. Raises ForbiddenError if the caller's role may open no page.
        """
        caller = self.find_program(token) or self._use_link(token)
        if caller is None:
            return None
        if not caller.may_open(LOGGED_IN):
            raise ForbiddenError(
                f"the token of {caller.name} has the role {caller.role}, which opens no page; log "
                "in with another one"
            )
        cookie = secrets.token_urlsafe(BYTES)
        self._cookies[hash_token(cookie)] = _Cookie(caller, monotonic())
        own = [key for key, entry in self._cookies.items() if entry.caller.is_same(caller)]
        own.sort(key=lambda key: self._cookies[key].used_at)
        for old in own[:-MOST_COOKIES]:
            del self._cookies[old]
        return cookie, caller

    def find_program(self, token: str) -> Caller | None:
        """Return the caller with this token in ``pgs.toml``; None for any other token."""
        return _find_by_hash(self.programs, hash_token(token))

    def cookie(self, value: str) -> Caller | None:
        """Return the caller of a cookie; None if it is unknown or expired."""
        entry = _find_by_hash(self._cookies, hash_token(value))
        if entry is None or monotonic() - entry.used_at > COOKIE_S:
            self.log_out(value)
            return None
        entry.used_at = monotonic()
        return entry.caller

    def log_out(self, value: str) -> None:
        """Invalidate a cookie."""
        self._cookies.pop(hash_token(value), None)

    def _use_link(self, token: str) -> Caller | None:
        made_at = _find_by_hash(self._links, hash_token(token))
        if made_at is None:
            return None
        del self._links[hash_token(token)]
        return OWNER if monotonic() - made_at <= LINK_S else None


def _find_by_hash(known: dict[str, T], token_hash: str) -> T | None:
    """Return the value of a hash, with a constant-time comparison that reveals no other hash."""
    matches = [value for key, value in known.items() if hmac.compare_digest(key, token_hash)]
    return matches[0] if matches else None


def callers_by_hash(entries: Iterable[tuple[str, Caller]]) -> dict[str, Caller]:
    """Map hashes of tokens to callers."""
    return {token_hash.lower(): caller for token_hash, caller in entries}


@dataclass(slots=True)
class Backoff:
    """Counts failed logins by address, and limits how soon an address may try again."""

    _failures: OrderedDict[str, tuple[int, float]] = field(default_factory=OrderedDict, repr=False)

    def wait_s(self, address: str) -> float:
        """Return the seconds until an address may try again; 0 if it may now."""
        count, failed_at = self._failures.get(address, (0, 0.0))
        if count < FREE:
            return 0.0
        wait = min(LONGEST_S, FIRST_S * 2.0 ** min(count - FREE, 16))
        return max(0.0, failed_at + wait - monotonic())

    def fail(self, address: str) -> None:
        """Count a failed login of an address."""
        count, _ = self._failures.pop(address, (0, 0.0))
        self._failures[address] = (count + 1, monotonic())
        while len(self._failures) > MOST_ADDRESSES:
            self._failures.popitem(last=False)
