"""The replies of models in a run, as lines. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.cli.pages.text import fitted, moment, size, wrapped
from pgs_neo4j.text.shown import counted, one_line, plain

if TYPE_CHECKING:
    from pgs_neo4j.engine import StoredReply

NONE = (
    "no reply is stored; those of a run that used no cache are deleted when it is complete, and "
    "the extractive reader makes none"
)


def lines(
    shown: Sequence[tuple[int, StoredReply]], stored: Sequence[StoredReply], width: int
) -> list[str]:
    """Return replies with their numbers in two lines each: what became of it, and how it begins."""
    if not stored:
        return wrapped(NONE, width).splitlines()
    head = [f"{count(stored)}; 'pgs runs replies RUN NUMBER' prints one whole", ""]
    return [*head, *(line for at, one in shown for line in _row(at, one, width))]


def whole(number: int, reply: StoredReply) -> list[str]:
    """Return a reply as it came, without what a terminal would obey."""
    return [_head(number, reply), "", *plain(reply.text).splitlines()]


def count(stored: Sequence[StoredReply]) -> str:
    """Return how many replies are stored: ``3 replies, 2 of them rejected``."""
    rejected = sum(reply.error is not None for reply in stored)
    total = counted(len(stored), "reply", "replies")
    return f"{total}, {rejected} of them rejected" if rejected else total


def elsewhere(cached: int) -> str:
    """Return that so many replies are listed with other runs."""
    came = f"{counted(cached, 'reply', 'replies')} came from the cache"
    return f"{came}; each is listed with the run that paid for it"


def _row(number: int, reply: StoredReply, width: int) -> list[str]:
    indent = " " * 5
    begins = fitted(reply.text, max(20, width - len(indent))) or "(no text)"
    head = wrapped(_head(number, reply), width - len(indent)).splitlines()
    return [head[0], *(f"{indent}{more}" for more in head[1:]), f"{indent}{begins}"]


def _head(number: int, reply: StoredReply) -> str:
    where = f"P{reply.partition} pass {reply.number}" if reply.partition is not None else "answer"
    amount = f"{counted(reply.output_tokens, 'token')}, {size(reply.size)}"
    what = f"rejected: {one_line(reply.error)}" if reply.error is not None else "accepted"
    when = moment(reply.created_at)
    return f"{number:>3}  {where}, {when}, {one_line(reply.model, 60)}, {amount}: {what}"
