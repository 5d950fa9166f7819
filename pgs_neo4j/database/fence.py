"""Keeps text of deleted documents from being written by what had read it before.

A run reads texts, thinks for minutes, and then writes. A deletion that begins and ends in between
has searched everything, and would not find what the run writes afterwards. So each deletion and
purge gives the database a new token before it removes anything. A writer of text takes
the token before its first reading. Each of its transactions compares it again, behind the
lock of the node that counts commits, which every write of this package takes anyway. A writer that
finds another token looks up what the deletions since then search for, and from then on writes
nothing that holds any of it. The database is all that writers and deletions share, so this holds
for processes on other machines as well.
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
"""Seconds without a sign of life after which a run or a job is taken for dead."""
MOST_FREED = 20
"""Nodes that one transaction deletes; one has a megabyte."""


class Reading(Protocol):
    """Something that runs statements which read."""

    async def read(self, query: Query, **params: object) -> list[Row]: ...


class Writing(Protocol):
    """Something that runs statements which write."""

    async def write(self, query: Query, **params: object) -> list[Row]: ...


class FenceMovedError(Exception):
    """A transaction found a token that its writer does not know; it is rolled back."""


@dataclass(slots=True)
class Fence:
    """What a writer knows of deletions: their tokens, and what they search for.

    ``moved`` counts the deletions that began since the writer did.
    """

    tokens: set[str]
    traces: Traces = field(default_factory=Traces)
    moved: int = 0

    def check_texts(self, params: Mapping[str, object]) -> frozenset[str]:
        """Return the tokens of the deletions that values to be written were compared with.

        Raises TextDeletedError if they hold deleted text.
        """
        if self.holds(params):
            raise TextDeletedError(
                "documents were deleted while their text was in use, so nothing that quotes it is "
                "kept; try again, or resume the run"
            )
        return frozenset(self.tokens)

    def holds(self, value: object) -> bool:
        """Whether a value holds text of a document that was deleted since the writer began."""
        return not self.traces.empty and bool(self.traces.find([*texts_in(value)]))

    def without(self, value: Any) -> Any:
        """Return a value with empty texts where they hold deleted text; lists lose such texts."""
        if isinstance(value, str):
            return "" if self.holds(value) else value
        if isinstance(value, dict):
            return {key: self.without(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            texts = [one for one in value if not (isinstance(one, str) and self.holds(one))]
            return [self.without(one) for one in texts]
        return value

    async def renew(self, db: Reading) -> None:
        """Learn of deletions that began since the last write. Raises what ``review`` raises."""
        rows = await db.read(queries.get("database/read_fences"))
        if not rows or (rows[0]["token"] or "") not in self.tokens:
            await self.review(db)

    async def review(self, db: Reading) -> None:
        """Learn what the deletions since the last token search for.

        Raises TextDeletedError if that is no longer known, as after a purge.
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
                "what pgs had stored was removed while this was under way, by a purge or by a "
                "deletion that has ended, so nothing more is stored; try again",
                purged=True,
            )
        self._learn([row for row in rows if row["raised"] in passed])
        self.tokens.update(passed)
        self._know_former(former)
        self.moved += len(passed)

    def _learn(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.traces.add_runs(row["runs"], row["sizes"])

    def _know_former(self, former: Mapping[str, str]) -> None:
        """Also know the tokens that known ones have replaced.

        A deletion has not begun to remove anything while one of the two nodes with the token lacks
        its own.
        """
        at = [*self.tokens]
        while at:
            token = former.get(at.pop())
            if token is not None and token not in self.tokens:
                self.tokens.add(token)
                at.append(token)


async def take_fence(db: Reading) -> Fence:
    """Return the fence of a writer that is about to read. The schema must exist.

    It knows the deletions that have not ended: texts are still there that they remove. Raises
    DatabaseError.
    """
    rows = await db.read(queries.get("database/read_fences"))
    begun = [row for row in rows if row["runs"] is not None and not row["ended"]]
    fence = Fence({(rows[0]["token"] or "") if rows else ""})
    fence._learn(begun)
    fence.tokens.update(row["raised"] for row in begun if row["raised"])
    fence._know_former({row["raised"]: row["former"] for row in begun if row["raised"]})
    return fence


async def read_token(db: Reading) -> str | None:
    """Return the token of the last deletion or purge; None while a deletion is in progress.

    What was read at a token, and holds at the same one, holds no deleted text.
    """
    rows = await db.read(queries.get("database/read_fences"))
    if any(row["runs"] is not None and not row["ended"] for row in rows):
        return None
    return (rows[0]["token"] or "") if rows else None


async def raise_fence(db: Writing, deletions: Sequence[str]) -> None:
    """Keep all writers that have begun from storing what deletions are about to remove.

    ``deletions`` are the ids of what keeps their search. Returns when no transaction is left that
    does not know of them. Raises DatabaseError.
    """
    query = queries.get("database/renew_token")
    await db.write(query, token=uuid4().hex, deletions=[*deletions])
    # Those wait for other programs, so it takes a transaction of its own.
    await db.write(queries.get("database/copy_token"))


async def forget_ended(db: Writing) -> None:
    """Forget what ended deletions have searched for, once no run needs it. Raises DatabaseError."""
    query = queries.get("database/delete_ended")
    while True:
        rows = await db.write(query, silent_s=LIVING_S, most=MOST_FREED)
        if not rows or rows[0]["deleted"] < MOST_FREED:
            return


def texts_in(value: object) -> Iterator[str]:
    """Yield all texts in parameters, also those in lists and maps."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from texts_in(key)
            yield from texts_in(one)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from texts_in(one)
    elif is_dataclass(value):
        for one in fields(value):
            yield from texts_in(getattr(value, one.name))
