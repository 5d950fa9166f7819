"""Keeps a writer that read a document before its deletion from storing the text again.

A run reads texts, works for minutes, and then writes. A deletion that begins and ends in between
searches the whole database, but cannot find text that the run writes later. So each deletion and
purge gives the database a new token before it removes anything. A writer of text reads the token
before it reads anything else. Each of its transactions compares the token again, while the
transaction holds the lock of the node that counts commits. Every write of this package takes this
lock anyway. A writer that finds another token loads the search terms of the deletions since then,
and from then on refuses to write any text that matches them. Writers and deletions share nothing
but the database, so this also works across machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Protocol
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.errors import TextDeletedError
from pgs_neo4j.text.traces import Traces

LIVING_S = 90.0
"""Seconds without a sign of life after which a run or a job counts as dead."""
MOST_FREED = 20
"""Number of nodes that one transaction deletes. It is small, since each node may store a
megabyte."""


class Reading(Protocol):
    """A database that runs read statements."""

    async def read(self, query: Query, **params: object) -> list[Row]: ...


class Writing(Protocol):
    """A database that runs write statements."""

    async def write(self, query: Query, **params: object) -> list[Row]: ...


class FenceMovedError(Exception):
    """Rolls back a transaction that found a token which its writer does not know."""


@dataclass(slots=True)
class Fence:
    """The deletions that a writer knows: their tokens, and the traces that they search for.

    ``moved`` counts the deletions that began after the writer took the fence.
    """

    tokens: set[str]
    traces: Traces = field(default_factory=Traces)
    moved: int = 0

    def check_texts(self, params: Mapping[str, object]) -> frozenset[str]:
        """Compare values before they are written, and return the tokens of all known deletions.

        Raises TextDeletedError if the values contain deleted text.
        """
        if self.holds(params):
            raise TextDeletedError(
                "documents were deleted while their text was in use, so nothing that quotes it is "
                "kept; try again, or resume the run"
            )
        return frozenset(self.tokens)

    def holds(self, value: object) -> bool:
        """Return whether a value contains text of a document deleted since the writer began."""
        return not self.traces.empty and bool(self.traces.find([*texts_in(value)]))

    def without(self, value: Any) -> Any:
        """Remove deleted text from a value.

        A list loses each text that contains deleted text. Anywhere else, a text that contains
        deleted text becomes empty.
        """
        if isinstance(value, str):
            return "" if self.holds(value) else value
        if isinstance(value, dict):
            return {key: self.without(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            kept = [item for item in value if not (isinstance(item, str) and self.holds(item))]
            return [self.without(item) for item in kept]
        return value

    async def renew(self, db: Reading) -> None:
        """Call ``review`` if a deletion has begun since the last write."""
        rows = await db.read(queries.get("database/read_fences"))
        if not rows or (rows[0]["token"] or "") not in self.tokens:
            await self.review(db)

    async def review(self, db: Reading) -> None:
        """Load the traces that the deletions since the last known token search for.

        Raises TextDeletedError if the database no longer has these traces, for instance after a
        purge.
        """
        rows = await db.read(queries.get("database/read_fences"))
        former = {row["raised"]: row["former"] for row in rows if row["raised"]}
        passed: list[str] = []
        at = (rows[0]["token"] or "") if rows else None
        while at is not None and at not in self.tokens:
            passed.append(at)
            at = former.get(at)
        if at is None:
            raise TextDeletedError(
                "a purge or a finished deletion removed stored data of pgs while this was in "
                "progress, so nothing more is stored; try again",
                purged=True,
            )
        self._learn([row for row in rows if row["raised"] in passed])
        self.tokens.update(passed)
        self._add_former(former)
        self.moved += len(passed)

    def _learn(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.traces.add_runs(row["runs"], row["sizes"])

    def _add_former(self, former: Mapping[str, str]) -> None:
        """Add the tokens that the known tokens replaced.

        Two nodes store the token, and a deletion updates one after the other. It removes nothing
        before both nodes have the new token. So until then, the replaced token is still safe.
        """
        at = [*self.tokens]
        while at:
            token = former.get(at.pop())
            if token is not None and token not in self.tokens:
                self.tokens.add(token)
                at.append(token)


async def take_fence(db: Reading) -> Fence:
    """Return the fence of a writer that is about to read. The schema must exist.

    The fence knows the deletions that are in progress, since the writer can still read the texts
    that these deletions remove. Raises DatabaseError.
    """
    rows = await db.read(queries.get("database/read_fences"))
    begun = [row for row in rows if row["runs"] is not None and not row["ended"]]
    fence = Fence({(rows[0]["token"] or "") if rows else ""})
    fence._learn(begun)
    fence.tokens.update(row["raised"] for row in begun if row["raised"])
    fence._add_former({row["raised"]: row["former"] for row in begun if row["raised"]})
    return fence


async def read_token(db: Reading) -> str | None:
    """Return the token of the last deletion or purge; None while a deletion is in progress.

    A text contains no deleted text as long as the token is the same as when the text was read.
    """
    rows = await db.read(queries.get("database/read_fences"))
    if any(row["runs"] is not None and not row["ended"] for row in rows):
        return None
    return (rows[0]["token"] or "") if rows else None


async def raise_fence(db: Writing, deletions: Sequence[str]) -> None:
    """Keep writers from storing text that deletions are about to remove.

    ``deletions`` are the ids of the nodes that store the search terms of each deletion. Returns
    once every open transaction knows of these deletions. Raises DatabaseError.
    """
    query = queries.get("database/renew_token")
    await db.write(query, token=uuid4().hex, deletions=[*deletions])
    # Transactions that hold the second node's lock may wait for other programs. Because the second
    # node gets the token in a separate transaction, the first node is not locked for that time.
    await db.write(queries.get("database/copy_token"))


async def forget_ended(db: Writing) -> None:
    """Delete the search terms of ended deletions that no run needs. Raises DatabaseError."""
    query = queries.get("database/delete_ended")
    while True:
        rows = await db.write(query, silent_s=LIVING_S, most=MOST_FREED)
        if not rows or rows[0]["deleted"] < MOST_FREED:
            return


def texts_in(value: object) -> Iterator[str]:
    """Yield all texts in parameters, including texts inside lists, maps, and dataclasses."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts_in(key)
            yield from texts_in(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from texts_in(item)
    elif is_dataclass(value):
        for member in fields(value):
            yield from texts_in(getattr(value, member.name))
