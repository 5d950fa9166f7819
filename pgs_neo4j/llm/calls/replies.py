"""Caches model replies in the database, so that each is bought once, by one run at a time.

The key of a reply is a hash of everything that determines it: the model with its parameters, the
prompt, and the scope, if there is one. For a model without a signature, that is unknown, so its
replies belong to the run that paid for them. Only accepted replies are cached, never failures.
Rejected replies are stored beside them with the reason, so that a person can read them. Their keys
match no prompt. They expire like other replies, but are deleted first when space is needed.

A run claims the key of a reply before it buys the reply. Other runs that need it wait until it is
stored, or until the buyer gives up, ends, or shows no sign of life.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.holder import SILENT_S, Holder
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.database.tasks import poll_pauses
from pgs_neo4j.errors import TextDeletedError
from pgs_neo4j.events import OnEvent, Warned
from pgs_neo4j.llm.protocol import LLM, is_free, is_signed, reply_signature
from pgs_neo4j.model import Completion, Effort, Prompt, Usage

FORM = "2"  # the version of keys; replies under another version are not found
MEGABYTE = 1_000_000
MOST_REJECTED = 100  # rejected replies stored per run; of others, only the reasons are reported
LONGEST_REJECTED = 50_000  # characters; the beginning of a rejected reply shows what is wrong
LARGEST_INTEGER = 2**63 - 1  # in Neo4j; an endpoint may report more tokens
FIRST_POLL_S = 0.1
MOST_LIMITS = 4  # maximum number of limits for which a partition is packed again to find replies


@dataclass(frozen=True, slots=True)
class Kept:
    """The size of the reply cache, in replies and in bytes."""

    replies: int
    size_bytes: int


@dataclass(slots=True)
class Replies:
    """The cached replies that a run may use.

    Unless ``shared``, a run uses only its own replies. ``used`` are the keys of the replies used so
    far.
    """

    db: Database
    run: str
    shared: bool = True
    used: set[str] = field(default_factory=set)
    _waited: set[str] = field(default_factory=set)
    _rejected: int = 0

    def note_wait(self, buyer: str, on_event: OnEvent) -> None:
        """Report once that this run waits for replies that another run is buying."""
        if buyer not in self._waited:
            self._waited.add(buyer)
            on_event(Warned(f"run {buyer} is buying the same replies; waiting for them"))

    def key(self, llm: LLM, prompt: Prompt, room: int, effort: Effort | None) -> str | None:
        """Return a reply's key; None for a free model, whose replies are not cached."""
        if is_free(llm):
            return None
        shared = self.shared and is_signed(llm)
        # Scopes share no replies: a quick or free reply would show what another scope has asked.
        scope = [self.db.scope.digest] if self.db.scope else []
        parts = (FORM, reply_signature(llm), str(room), str(effort), *scope, prompt.system)
        digest = _digest(*parts, prompt.content or prompt.user)
        # A reply that is not shared belongs to its run, which finds it again when it is resumed.
        return digest if shared else f"{self._own}{digest}"

    @property
    def _own(self) -> str:
        """The prefix of this run's private keys, which no other run finds."""
        return f"{self.run}:"

    async def find(self, keys: Iterable[str | None]) -> dict[str, Completion]:
        """Return the cached replies by key, with a usage that costs nothing."""
        wanted = [key for key in keys if key is not None]
        found = await self._read(queries.get("llm/calls/read_replies"), wanted)
        self.used |= found.keys()
        return found

    async def find_divided(self, keys: Iterable[str]) -> dict[str, Completion]:
        """Return the cached replies to prompts and to their halves, by key.

        The key of a half is the key of the whole plus one letter for each halving. The caller adds
        the keys to ``used`` once it uses the replies.
        """
        return await self._read(queries.get("llm/calls/read_divided_replies"), list(keys))

    async def read_pass_limits(self, partition: int) -> list[int]:
        """Return the limits, in tokens, for which passes over a partition were packed.

        These are only limits that came from a model's context, of passes with a cached reply; the
        limit with the most replies is first. ``partition`` is an id that other graphs may also
        have, so a limit may belong to another graph. Raises DatabaseError.
        """
        query = queries.get("llm/calls/read_pass_limits")
        scope = self.db.scope.digest
        rows = await self.db.read(query, partition=partition, most=MOST_LIMITS, digest=scope)
        return [row["tokens"] for row in rows]

    async def _read(self, query: Query, keys: list[str]) -> dict[str, Completion]:
        if not keys:
            return {}
        rows = await self.db.read(query, keys=keys)
        return {row["key"]: _to_completion(row) for row in rows}

    async def keep(self, rows: Sequence[Row]) -> None:
        """Store replies, given as rows from ``row``."""
        if rows:
            await self.db.write(queries.get("llm/calls/write_replies"), replies=list(rows))

    async def keep_rejected(
        self, reply: Completion, reason: str, partition: int, number: int
    ) -> None:
        """Store a rejected reply to a pass, with the reason. Raises DatabaseError.

        A reply is not stored if it quotes a document that has been deleted since.
        """
        if self._rejected >= MOST_REJECTED:
            return
        self._rejected += 1
        text = reply.text[:LONGEST_REJECTED]
        row = self.row(f"{self._own}rejected:{uuid4().hex}", replace(reply, text=text))
        self.used.discard(row["key"])
        row |= {"error": reason, "partition": partition, "place": number, "proven": False}
        row["private"] = not self.shared
        with suppress(TextDeletedError):
            await self.keep([row])

    def row(
        self,
        key: str,
        reply: Completion,
        partition: int | None = None,
        number: int | None = None,
        pass_tokens: int | None = None,
    ) -> Row:
        """Return a reply as a row to store.

        ``partition`` and ``number`` name the pass, if the reply answers one, and ``pass_tokens`` is
        the limit that the pass was packed for, if that limit came from the model's context.
        """
        self.used.add(key)
        return {
            "partition": partition,
            "place": number,
            "pass_tokens": pass_tokens,
            "key": key,
            "run": self.run,
            "scope": self.db.scope.digest or None,
            "private": key.startswith(self._own),
            "text": reply.text,
            "model": reply.model,
            "input_tokens": reply.usage.input_tokens,
            "output_tokens": reply.usage.output_tokens,
            "cache_read_tokens": reply.usage.cache_read_tokens,
            "cache_write_tokens": reply.usage.cache_write_tokens,
            "proven": reply.proven,
            "counted": None if reply.counted is None else min(reply.counted, LARGEST_INTEGER),
            "size": len(reply.text.encode("utf-8", "replace")),
        }

    async def settle(self, proven: Mapping[str, bool], cut: Sequence[str]) -> None:
        """Store which replies are ``proven`` by now, and delete replies to ``cut`` prompts.

        Both arguments are keys of replies. Raises DatabaseError.
        """
        if proven:
            rows = [{"key": key, "proven": read} for key, read in proven.items()]
            await self.db.write(queries.get("llm/calls/set_proven_replies"), replies=rows)
        if cut:
            await self.db.write(queries.get("llm/calls/delete_cut_replies"), keys=list(cut))

    async def tidy(self, cache_mb: float, *, done: bool) -> None:
        """Record which replies were used, and trim the cache to ``cache_mb``.

        The replies that were not used for longest are removed first. Once a run is ``done``, its
        private replies are deleted.
        """
        if self.used or done:
            await self.db.write(
                queries.get("llm/calls/set_used_replies"),
                keys=sorted(self.used),
                run=self.run if done else "",
            )
        await trim(self.db, cache_mb)


@dataclass(slots=True)
class Claims:
    """The outcome of claiming keys for a run.

    This run buys the replies for the keys in ``own``. The replies for the keys in ``stored`` are in
    the database. ``busy`` maps each other key to the run that is buying its reply.
    """

    own: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    busy: dict[str, str] = field(default_factory=dict)


async def claim_purchases(db: Database, run: str, keys: Iterable[str]) -> Claims:
    """Claim keys for a run, also from buyers whose process has ended. Raises DatabaseError."""
    wanted, ended = sorted(keys), list[str]()
    claims = Claims()
    while wanted:
        rows = await db.write(
            queries.get("llm/calls/claim_purchases"),
            keys=wanted,
            run=run,
            ended=ended,
            silent_s=SILENT_S,
        )
        claims.own |= {row["key"] for row in rows if row["state"] == "own"}
        claims.stored |= {row["key"] for row in rows if row["state"] == "stored"}
        busy = [row for row in rows if row["state"] == "busy"]
        dead = [row for row in busy if _has_ended(row)]
        claims.busy |= {row["key"]: row["buyer"] for row in busy if row not in dead}
        wanted = [row["key"] for row in dead]
        ended = [*ended, *(row["buyer"] for row in dead)]
    return claims


def _has_ended(row: Row) -> bool:
    holder = Holder.parse(row["holder"])
    return holder is not None and holder.has_ended()


async def wait_for_purchase(db: Database, run: str, key: str, stopped: Callable[[], bool]) -> bool:
    """Wait for the buyer of a key; return whether this run must buy the reply itself.

    Returns False once the reply is stored, or once ``stopped`` returns true, because then nothing
    more may be bought. Raises DatabaseError.
    """
    pauses = poll_pauses(FIRST_POLL_S)
    while not stopped():
        claims = await claim_purchases(db, run, [key])
        if not claims.busy:
            return key in claims.own
        await asyncio.sleep(next(pauses))
    return False


async def free_purchases(db: Database, run: str, keys: Iterable[str]) -> None:
    """Give up purchases, so that other runs need not wait for them."""
    given_up = sorted(keys)
    if given_up:
        await db.write(queries.get("llm/calls/set_free_purchases"), keys=given_up, run=run)


async def trim(db: Database, cache_mb: float) -> None:
    """Delete the least recently used replies until the rest fit in ``cache_mb``."""
    await db.write(queries.get("llm/calls/trim_replies"), size=int(cache_mb * MEGABYTE))


async def kept(db: Database) -> Kept:
    """Return the size of the cache; within a scope, of its own replies."""
    row = (await db.read(queries.get("llm/calls/count_replies"), digest=db.scope.digest))[0]
    return Kept(row["replies"], row["size"])


async def clear(db: Database) -> Kept:
    """Delete all replies except replies of unfinished runs; return their number and bytes."""
    db.require_no_scope("this deletes the replies of all scopes")
    before = await kept(db)
    await db.batch(queries.get("llm/calls/delete_replies"))
    after = await kept(db)
    return Kept(before.replies - after.replies, before.size_bytes - after.size_bytes)


def _to_completion(row: dict[str, Any]) -> Completion:
    return Completion(
        text=row["text"],
        usage=Usage(cached=1),
        model=row["model"],
        counted=row["counted"],
        proven=row["proven"],
    )


def _digest(*texts: str) -> str:
    """Return one digest of several texts, each after its length so that no two lists collide."""
    digest = sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8))
        digest.update(data)
    return digest.hexdigest()
