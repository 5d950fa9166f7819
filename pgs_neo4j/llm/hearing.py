"""Tells how far a reply is while a model writes it, if its server sends it in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

OnTokens = Callable[[int], None]
"""Hears how many tokens of a reply, thinking included, there are so far."""

_listener: ContextVar[OnTokens | None] = ContextVar("_listener", default=None)


@contextmanager
def heard_by(listener: OnTokens) -> Iterator[None]:
    """Let ``listener`` hear of the replies that this task asks for inside."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def current_listener() -> OnTokens | None:
    """Return who wants to hear of a reply; None without one."""
    return _listener.get()
