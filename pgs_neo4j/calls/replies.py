"""Replies that were paid for, kept in the database: a crash or a repeated question pays once.

A reply is found again by what decided it: the model and its parameters, and what the prompt
says. Only replies that were accepted are kept, never failures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.llm.protocol import LLM, is_free, reply_signature
from pgs_neo4j.model import Completion, Effort, Prompt, Usage

FORM = "2"  # of what keys are made of; another one finds nothing of the former
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Kept:
    """What the database keeps: replies, and their size in bytes."""

    replies: int
    size_bytes: int


@dataclass(slots=True)
class Replies:
    """The replies a run may use: all there are, or with ``shared`` false only its own."""

    db: Database
    run: str
    shared: bool = True
    used: set[str] = field(default_factory=set)

    def key(self, llm: LLM, prompt: Prompt, room: int, effort: Effort | None) -> str | None:
        """The key of a reply; None when the model is free, so that nothing is gained."""
        if is_free(llm):
            return None
        said = (FORM, reply_signature(llm), str(room), str(effort), prompt.system)
        digest = _digest(*said, prompt.content or prompt.user)
        # Outside the cache a reply belongs to its run, which may be resumed.
        return digest if self.shared else f"{self.run}:{digest}"

    async def find(self, keys: Iterable[str | None]) -> dict[str, Completion]:
        """The replies there are, by key; nothing was paid for them now."""
        wanted = [key for key in keys if key is not None]
        if not wanted:
            return {}
        rows = await self.db.read(queries.get("calls/read_replies"), keys=wanted)
        found = {row["key"]: _completion(row) for row in rows}
        self.used |= found.keys()
        return found

    async def keep(self, rows: Sequence[Row]) -> None:
        """Store replies, as ``row`` makes them."""
        if rows:
            await self.db.write(queries.get("calls/write_replies"), replies=list(rows))

    def row(self, key: str, reply: Completion) -> Row:
        """A reply as it is stored."""
        self.used.add(key)
        return {
            "key": key,
            "run": self.run,
            "private": not self.shared,
            "text": reply.text,
            "model": reply.model,
            "input_tokens": reply.usage.input_tokens,
            "output_tokens": reply.usage.output_tokens,
            "size": len(reply.text.encode("utf-8", "replace")),
        }

    async def tidy(self, cache_mb: float, *, done: bool) -> None:
        """Remember what was used, and keep within the bound, those used longest ago go first.

        Once a run is ``done`` what it kept for itself goes, too.
        """
        if self.used or done:
            await self.db.write(
                queries.get("calls/set_used_replies"),
                keys=sorted(self.used),
                run=self.run if done else "",
            )
        await trim(self.db, cache_mb)


async def trim(db: Database, cache_mb: float) -> None:
    """Delete the replies used longest ago until all that stay fit."""
    await db.write(queries.get("calls/trim_replies"), size=int(cache_mb * MEGABYTE))


async def kept(db: Database) -> Kept:
    """How much is kept."""
    row = (await db.read(queries.get("calls/count_replies")))[0]
    return Kept(row["replies"], row["size"])


async def clear(db: Database) -> Kept:
    """Delete all replies but those of runs that may go on; tells how many went."""
    before = await kept(db)
    await db.batch(queries.get("calls/delete_replies"))
    after = await kept(db)
    return Kept(before.replies - after.replies, before.size_bytes - after.size_bytes)


def _completion(row: dict[str, Any]) -> Completion:
    return Completion(text=row["text"], usage=Usage(cached=1), model=row["model"])


def _digest(*texts: str) -> str:
    """One digest of several texts; each with its length, so that none runs into the next."""
    digest = sha256()
    for text in texts:
        said = text.encode("utf-8", "surrogatepass")
        digest.update(len(said).to_bytes(8))
        digest.update(said)
    return digest.hexdigest()
