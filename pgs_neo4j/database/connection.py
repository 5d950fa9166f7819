"""The only asynchronous door to Neo4j.

It runs a Query under a deadline and returns its rows. Driver errors become errors of this package,
and messages never contain parameter values. All sessions share one bookmark manager, so reads see
earlier writes, on a cluster as on a single server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

import neo4j
from neo4j import (
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    AsyncResult,
    AsyncSession,
    Record,
)
from neo4j.exceptions import DriverError, IncompleteCommit, Neo4jError

from pgs_neo4j.database import queries
from pgs_neo4j.database.driver_errors import (
    graph_changed,
    is_out_of_memory,
    refuse_lost,
    repeat_disturbed,
    translate_errors,
)
from pgs_neo4j.database.driver_values import Position, parse_position, sent
from pgs_neo4j.database.fence import Fence, FenceMovedError, take_fence
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.database.server import (
    BULK_MB,
    RECORD_MB,
    RequireRoom,
    allow,
    check_address,
    read_server,
    secured,
    shown_address,
)
from pgs_neo4j.database.stored_data import check_rows, lacks_values
from pgs_neo4j.errors import GraphChangedError
from pgs_neo4j.telemetry import spans
from pgs_neo4j.telemetry.spans import SpanNotes, start_span

Access = Literal["read", "write"]

PATIENCE_S = 60.0  # how long a statement is retried while the server restarts
Result = TypeVar("Result")
Known = frozenset[str] | None
Work = Callable[[AsyncManagedTransaction], Awaitable[Result]]

LOST_S = 0.2  # pause after the acknowledgement of a commit was lost


@dataclass(slots=True)
class Database:
    """A connection pool to one database, opened and closed by ``connect``.

    With a ``fence``, nothing is written that holds text of documents whose deletion began since:
    writes raise TextDeletedError instead, and change nothing.
    """

    driver: AsyncDriver = field(repr=False)
    uri: str
    name: str | None
    timeout_s: float
    bookmarks: neo4j.AsyncBookmarkManager = field(repr=False)
    version: str = ""
    edition: str = ""
    languages: tuple[str, ...] = ("5",)
    fence: Fence | None = field(default=None, repr=False)
    require_room: RequireRoom = field(default=allow, repr=False)

    async def read(self, query: Query, **params: object) -> list[Row]:
        """Return all rows of a read statement.

        Retried within the deadline on transient faults, and a few times if something is deleted
        that it has found: an error says so, or a null where the header allows none. Raises
        StoredDataError if what this package stored is not what its header says.
        """
        query.check(params, ("read",))
        with self._span(query.name):
            rows = await self._read(query, params)
            check_rows(query, rows)
            return rows

    async def write(self, query: Query, **params: object) -> list[Row]:
        """Return all rows of a write statement, run in one transaction.

        Retried on transient faults, when the acknowledgement of a commit was lost, and a few times
        if something is deleted that it has found. So every write statement must be harmless to
        repeat.
        """
        query.check(params, ("write", "data", "schema"))
        with self._span(query.name):
            return await self._write(query, params)

    async def transact(
        self,
        work: Callable[[Database], Awaitable[Result]],
        timeout_s: float,
        room_mb: int = BULK_MB,
    ) -> Result:
        """Return what ``work`` returns: all that it writes becomes visible at once, at its end.

        It gets a database whose reads see its own writes, and must be harmless to repeat. Its
        errors undo all. ``timeout_s`` applies to all of it, and so does the disk that it needs,
        ``room_mb``.
        """
        self.require_room(room_mb)
        own = {one.name: getattr(self, one.name) for one in fields(Database)}

        @neo4j.unit_of_work(timeout=timeout_s)
        async def run(transaction: AsyncManagedTransaction) -> Result:
            result = await work(_OneTransaction(**own, transaction=transaction))
            await self._check_fence(transaction, known)
            return result

        known: Known = None

        async def attempt(tokens: Known) -> Result:
            nonlocal known
            known = tokens
            with self._translate_errors():
                async with asyncio.timeout(timeout_s), self._session("write") as session:
                    return await run_to_commit(session.execute_write, run)

        return await self._within_fence({}, attempt)

    async def rehearse(self, query: Query, **params: object) -> list[Row]:
        """Run a write statement, roll it back, and return its rows."""
        query.check(params, ("write", "data"))
        with self._span(query.name), self._translate_errors():
            async with (
                asyncio.timeout(self.timeout_s),
                self._session("write") as session,
                await session.begin_transaction() as transaction,
            ):
                result = await transaction.run(query.text, sent(params))
                rows = [dict(record) async for record in result]
                await transaction.rollback()
                return rows

    async def batch(self, query: Query, **params: object) -> list[Row]:
        """Return the rows of a self-committing batch statement; never retried."""
        query.check(params, ("batch",))
        return (await self.call(query.text, params, "write", name=query.name))[1]

    async def stream(
        self,
        query: Query,
        take: Callable[[AsyncIterator[Row]], Awaitable[Result]],
        /,
        *,
        fetch: int = 1000,
        **params: object,
    ) -> Result:
        """Return what ``take`` makes of the rows of a read statement, as they arrive.

        It begins again with the first row, up to five times, if something is deleted that the
        statement has found. So it must be harmless to repeat, and runs no statement itself. An
        error says so, or a null where the header allows none; so a statement that is streamed has
        to leave out what another program may have damaged. The deadline applies to each wait for a
        row, whatever number of attempts it takes.
        """
        query.check(params, ("read",))
        now = asyncio.get_running_loop().time
        due = now() + self.timeout_s

        async def fetch_row(records: AsyncIterator[Record]) -> Row | None:
            async with asyncio.timeout_at(due):
                record = await anext(records, None)
            row = None if record is None else dict(record)
            if row is not None and lacks_values(query, row):
                raise graph_changed(self.uri)
            return row

        async def read_rows() -> AsyncGenerator[Row]:
            nonlocal due
            # What ``take`` raises is not translated: it is no error of the driver.
            with self._translate_errors():
                async with self._session("read", fetch) as session:
                    async with asyncio.timeout_at(due):
                        records = aiter(await session.run(query.text, sent(params)))
                    row = await fetch_row(records)
                    while row is not None:
                        yield row
                        due = now() + self.timeout_s
                        row = await fetch_row(records)

        async def attempt() -> Result:
            async with aclosing(read_rows()) as rows:
                return await take(rows)

        with self._span(query.name):
            return await repeat_disturbed(attempt)

    async def call(
        self,
        text: str,
        params: Row,
        access: Access,
        timeout_s: float | None = None,
        metadata: Row | None = None,
        name: str = spans.GDS,
    ) -> tuple[list[str], list[Row]]:
        """Return columns and rows of a statement in an implicit transaction.

        Used for ``gds`` and batches. The server lists ``metadata`` with it; ``name`` is its span's.
        What only reads, as a projection does, is repeated a few times if something is deleted that
        it has found. A batch is not: it deletes or sets properties, which deletions do not disturb.
        """
        if access == "write":
            self.require_room(BULK_MB)
        with self._span(name), self._translate_errors():
            async with (
                asyncio.timeout(timeout_s or self.timeout_s),
                self._session(access) as session,
            ):

                async def run() -> tuple[list[str], list[Row]]:
                    result = await session.run(neo4j.Query(text, metadata=metadata), sent(params))
                    return list(result.keys()), [dict(record) async for record in result]

                return await (repeat_disturbed(run) if access == "read" else run())

    async def fenced(self) -> Database:
        """Return this database for a writer that is about to read, whose writes are fenced.

        Nothing that it writes holds text of documents that are deleted from now on, or that a
        deletion in progress is to delete. The schema must exist. Raises DatabaseError.
        """
        return self if self.fence is not None else replace(self, fence=await take_fence(self))

    def unfenced(self) -> Database:
        """Return this database for what holds no text and has to be written in any case."""
        return self if self.fence is None else replace(self, fence=None)

    async def check_deleted(self, value: object) -> None:
        """Raise TextDeletedError if a value holds what was deleted since ``fenced``."""
        if self.fence is not None:
            await self.fence.renew(self)
            self.fence.check_texts({"": value})

    async def read_position(self) -> Position | None:
        """Return the position of the last committed transaction, in O(1).

        None if the form of the bookmark is unknown.
        """
        with self._translate_errors():
            async with asyncio.timeout(self.timeout_s), self._session("read") as session:
                await session.execute_read(read_nothing)
                raw = (await session.last_bookmarks()).raw_values
        return parse_position(next(iter(raw))) if len(raw) == 1 else None

    def address(self) -> neo4j.Address:
        """Host and port of the server."""
        return neo4j.Address.parse(self.uri.partition("://")[2])

    async def close(self) -> None:
        """Close all connections."""
        await self.driver.close()

    async def _read(self, query: Query, params: Row) -> list[Row]:
        with self._translate_errors():
            async with asyncio.timeout(self.timeout_s), self._session("read") as session:
                attempt = partial(read_managed, session, query, params)
                whole = refuse_lost(attempt, partial(lacks_values, query), self.uri)
                return await repeat_disturbed(whole)

    async def _write(self, query: Query, params: Row) -> list[Row]:
        known: Known = None
        altered = False

        async def work(transaction: AsyncManagedTransaction) -> list[Row]:
            nonlocal altered
            result = await transaction.run(query.text, sent(params))
            rows = [dict(record) async for record in result]
            if query.mode == "schema":
                altered = (await result.consume()).counters.contains_updates
            if query.mode == "write":
                count = queries.get("database/count_commit").text
                counted = await transaction.run(count, {"counter": query.counter})
                await compare_token(counted, known)
            elif query.mode == "data":
                await self._check_fence(transaction, known)
            return rows

        self.require_room(RECORD_MB if query.mode == "write" else BULK_MB)

        async def write(tokens: Known) -> list[Row]:
            nonlocal known
            known = tokens
            with self._translate_errors():
                async with asyncio.timeout(self.timeout_s), self._session("write") as session:
                    return await run_to_commit(session.execute_write, work)

        rows = await self._within_fence(params, write)
        if altered:
            # No transaction may change the schema and count itself. If this one is lost, a reader
            # takes the change for the user's, which costs it a look at the graph.
            await self._write(queries.get("database/count_schema_change"), {})
        return rows

    async def _within_fence(
        self, params: Row, attempt: Callable[[Known], Awaitable[Result]]
    ) -> Result:
        """Run a transaction that writes ``params``, again after each deletion that has begun.

        It gets the tokens of the deletions that the values were compared with. Another task of the
        writer may learn of one more before the transaction ends.
        """
        if self.fence is None:
            return await attempt(None)
        while True:
            try:
                return await attempt(self.fence.check_texts(params))
            except FenceMovedError:
                await self.fence.review(self)

    async def _check_fence(self, transaction: AsyncManagedTransaction, known: Known) -> None:
        """Let no transaction that counts no commit pass a deletion that it does not know of."""
        if known is not None:
            lock = queries.get("database/lock_fence").text
            await compare_token(await transaction.run(lock), known)

    @asynccontextmanager
    async def _session(self, access: Access, fetch: int = 1000) -> AsyncIterator[AsyncSession]:
        mode = neo4j.READ_ACCESS if access == "read" else neo4j.WRITE_ACCESS
        async with self.driver.session(
            database=self.name,
            default_access_mode=mode,
            bookmark_manager=self.bookmarks,
            fetch_size=fetch,
        ) as session:
            yield session

    def _span(self, name: str) -> SpanNotes:
        """Return the span of a statement: its name, and never its parameters."""
        about = {
            spans.DATABASE_SYSTEM: spans.NEO4J,
            spans.DATABASE_NAMESPACE: self.name,
            spans.QUERY_SUMMARY: name,
        }
        return start_span(name, about, client=True)

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(self.uri, self.timeout_s)


@dataclass(slots=True, kw_only=True)
class _OneTransaction(Database):
    """Runs statements in one transaction. Driver errors pass, since that is run again on some."""

    transaction: AsyncManagedTransaction = field(repr=False)

    async def _read(self, query: Query, params: Row) -> list[Row]:
        attempt = partial(self._run, query, params)
        whole = refuse_lost(attempt, partial(lacks_values, query), self.uri)
        try:
            return await whole()
        except GraphChangedError:  # other rows again let the whole transaction be repeated
            return await whole()

    async def _write(self, query: Query, params: Row) -> list[Row]:
        if query.mode != "data":
            raise ValueError(f"a statement of mode {query.mode} has a transaction of its own")
        if self.fence is not None:
            self.fence.check_texts(params)
        return await self._run(query, params)

    async def _run(self, query: Query, params: Row) -> list[Row]:
        try:
            async with asyncio.timeout(self.timeout_s):
                result = await self.transaction.run(query.text, sent(params))
                return [dict(record) async for record in result]
        except Neo4jError as error:
            if not is_out_of_memory(error):
                raise
            with self._translate_errors():  # so it is not tried again
                raise


@asynccontextmanager
async def connect(
    uri: str,
    user: str,
    password: str | None,
    database: str | None = None,
    timeout_s: float = 300.0,
    connect_timeout_s: float = 15.0,
    *,
    ca: Path | None = None,
    require_room: RequireRoom = allow,
) -> AsyncIterator[Database]:
    """Open a pool, check the server, and finally close the pool.

    The server must answer and be new enough. With ``ca``, its certificate must come from one in
    that file. ``require_room`` gets the megabytes of disk that each write must find. Raises
    ConfigError (malformed URI), DatabaseAuthError, DatabaseUnavailableError, DatabaseVersionError.
    """
    check_address(uri)
    address, options = secured(uri, ca)
    auth = (user, password) if password is not None else None
    shown = shown_address(uri)
    with translate_errors(shown, connect_timeout_s):
        driver = AsyncGraphDatabase.driver(
            address,
            **options,
            auth=auth,
            connection_timeout=connect_timeout_s,
            connection_acquisition_timeout=2 * connect_timeout_s,
            max_transaction_retry_time=min(timeout_s, PATIENCE_S),
            notifications_min_severity="OFF",
            user_agent="pgs-neo4j",
        )
    opened = Database(
        driver=driver,
        uri=shown,
        name=database,
        timeout_s=timeout_s,
        bookmarks=AsyncGraphDatabase.bookmark_manager(),
        require_room=require_room,
    )
    try:
        with translate_errors(shown, 2 * connect_timeout_s):
            async with asyncio.timeout(2 * connect_timeout_s):
                await driver.verify_connectivity()
        opened.version, opened.edition, opened.languages = await read_server(opened)
        yield opened
    finally:
        await driver.close()


async def compare_token(locked: AsyncResult, known: Known) -> None:
    """Raise FenceMovedError unless a token is ``known``; None: whatever it is.

    After a purge nothing is there, until the schema is made again.
    """
    record = await locked.single()
    token = record["token"] if record is not None else None
    # One that another program wrote is known to nobody, and who then looks it up hears so.
    missing = record is None or not isinstance(token, str | None)
    if known is not None and (missing or (token or "") not in known):
        raise FenceMovedError


async def run_to_commit(
    run: Callable[[Work[Result]], Awaitable[Result]], work: Work[Result]
) -> Result:
    """Run a transaction until its commit is acknowledged: it must be harmless to repeat.

    It is also repeated a few times if another transaction disturbs it.
    """
    while True:
        try:
            return await repeat_disturbed(partial(run, work))
        except IncompleteCommit:
            await asyncio.sleep(LOST_S)


async def read_nothing(transaction: AsyncManagedTransaction) -> None:
    """Let the server say what it committed last."""
    await (await transaction.run(queries.get("database/read_nothing").text)).consume()


async def read_managed(session: AsyncSession, query: Query, params: Row) -> list[Row]:
    """Return the rows of a read statement, tried again on transient faults."""

    async def work(transaction: AsyncSession | AsyncManagedTransaction) -> list[Row]:
        result = await transaction.run(query.text, sent(params))
        return [dict(record) async for record in result]

    # A transaction of its own takes three round trips, and this takes one.
    try:
        return await work(session)
    except (Neo4jError, DriverError) as error:
        if not error.is_retryable():
            raise
    return await session.execute_read(work)
