"""The only asynchronous door to Neo4j.

``Database`` runs a Query under a deadline and returns its rows. It turns driver errors into errors
of this package, whose messages never contain parameter values. All sessions share one bookmark
manager, so that even on a cluster a read sees earlier writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar, cast

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
from pgs_neo4j.errors import GraphChangedError, ScopeError
from pgs_neo4j.model.scope import NO_SCOPE, UNOPENED, Scope
from pgs_neo4j.telemetry import spans
from pgs_neo4j.telemetry.spans import SpanNotes, start_span

Access = Literal["read", "write"]

PATIENCE_S = 60.0  # How long a statement is retried while the server restarts.
Result = TypeVar("Result")
Known = frozenset[str] | None
Work = Callable[[AsyncManagedTransaction], Awaitable[Result]]

LOST_S = 0.2  # Pause after the acknowledgment of a commit was lost.


@dataclass(slots=True)
class Database:
    """A connection pool to one database, opened and closed by ``connect``.

    A ``fence`` keeps deleted text out of the database. A write raises TextDeletedError and changes
    nothing if it contains text of a document whose deletion began after the fence was taken.

    With a ``scope``, statements see only the nodes of the user that have its values, and only the
    graphs of the scope. A statement that could see more raises ScopeError.
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
    scope: Scope = NO_SCOPE

    async def read(self, query: Query, **params: object) -> list[Row]:
        """Return all rows of a read statement.

        Retries within the deadline on transient faults. Also retries a few times if another
        transaction deletes something that the statement has found: this shows as an error or a null
        in a column that the statement's header says is never null. Raises StoredDataError if data
        that this package stored does not match the header.
        """
        query.check(params, ("read",))
        with self._span(query.name):
            rows = self._select(query, await self._read(query, self.bind(query, params)))
            check_rows(query, rows)
            return rows

    async def write(self, query: Query, **params: object) -> list[Row]:
        """Run a write statement in one transaction and return all its rows.

        Retries on transient faults and when the acknowledgment of a commit was lost. Also retries a
        few times if another transaction deletes something that the statement has found. So every
        write statement must be harmless to repeat.
        """
        query.check(params, ("write", "data", "schema"))
        with self._span(query.name):
            return self._select(query, await self._write(query, self.bind(query, params)))

    async def transact(
        self,
        work: Callable[[Database], Awaitable[Result]],
        timeout_s: float,
        room_mb: int = BULK_MB,
    ) -> Result:
        """Run ``work`` in one transaction and return its result.

        ``work`` gets a database whose reads see the writes of ``work``. Other transactions see all
        of these writes at once, after ``work`` returns. If ``work`` raises an error, nothing is
        written. It must be harmless to repeat. ``timeout_s`` limits the whole transaction, which
        needs ``room_mb`` megabytes of free disk.
        """
        self.require_room(room_mb)
        values = {item.name: getattr(self, item.name) for item in fields(Database)}

        @neo4j.unit_of_work(timeout=timeout_s)
        async def run(transaction: AsyncManagedTransaction) -> Result:
            result = await work(_OneTransaction(**values, transaction=transaction))
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
                result = await transaction.run(query.text, sent(self.bind(query, params)))
                rows = [dict(record) async for record in result]
                await transaction.rollback()
                return rows

    async def batch(self, query: Query, **params: object) -> list[Row]:
        """Run a statement that commits in batches and return its rows. Never retries it."""
        query.check(params, ("batch",))
        bound = self.bind(query, params)
        return (await self.call(query.text, bound, "write", name=query.name))[1]

    async def stream(
        self,
        query: Query,
        take: Callable[[AsyncIterator[Row]], Awaitable[Result]],
        /,
        *,
        fetch: int = 1000,
        **params: object,
    ) -> Result:
        """Pass the rows of a read statement to ``take`` as they arrive, and return its result.

        If another transaction deletes something that the statement has found, ``take`` runs again
        from the first row, up to five times. So ``take`` must be harmless to repeat, and it must
        not run statements. A deletion shows as an error or a null in a column that the statement's
        header says is never null. So a streamed statement must leave out nodes that another program
        may have damaged. The deadline applies to each wait for a row and not to the whole stream.
        """
        query.check(params, ("read",))
        bound = self.bind(query, params)
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
            # Only driver errors are translated. Errors of ``take`` pass unchanged.
            with self._translate_errors():
                async with self._session("read", fetch) as session:
                    async with asyncio.timeout_at(due):
                        records = aiter(await session.run(query.text, sent(bound)))
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
        """Run a statement in an implicit transaction and return its columns and rows.

        ``gds`` and batches use this. The server lists ``metadata`` with the statement, and ``name``
        is the name of its span. A statement that only reads, such as a projection, is retried a few
        times if another transaction deletes something that the statement has found. A batch is not
        retried, because it deletes or sets properties, which deletions do not disturb.
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

    async def explain(self, text: str, params: Row, timeout_s: float) -> tuple[Row, str]:
        """Return the plan of a statement without running it, and its type: ``r`` for a read.

        Raises QueryError if the server cannot plan it, and ScopeError within a scope.
        """
        self.require_no_scope("Cypher reads the whole database")
        explained = neo4j.Query(queries.explained(text), timeout=timeout_s)
        with self._span(spans.GATE), self._translate_errors():
            async with asyncio.timeout(timeout_s), self._session("read") as session:
                summary = await (await session.run(explained, sent(params))).consume()
                return dict(summary.plan or {}), str(summary.query_type)

    async def read_some(
        self, text: str, params: Row, timeout_s: float, most_rows: int
    ) -> tuple[list[str], list[Row], bool]:
        """Return the columns and first rows of a read, and whether it has more rows.

        The server ends a statement that takes longer than ``timeout_s`` seconds. Raises QueryError,
        DatabaseTimeoutError, and ScopeError within a scope.
        """
        self.require_no_scope("Cypher reads the whole database")
        timed = neo4j.Query(text, timeout=timeout_s)
        with self._span(spans.GATE), self._translate_errors():
            async with (
                asyncio.timeout(timeout_s),
                self._session("read", most_rows + 1) as session,
            ):
                result = await session.run(timed, sent(params))
                records = await result.fetch(most_rows + 1)
                columns = list(result.keys())
                # The rest is not fetched, and the server drops it.
                return columns, [dict(one) for one in records[:most_rows]], len(records) > most_rows

    def scoped(self, scope: Scope) -> Database:
        """Return this database within a scope."""
        return self if scope == self.scope else replace(self, scope=scope)

    def bind(self, query: Query, params: Row) -> Row:
        """Return the parameters with which the server runs a statement within the scope.

        Raises ScopeError for a statement that sees the whole database.
        """
        if query.sees == "everything":
            self.require_no_scope(f"{query.name} reads the whole database")
        if query.sees != "nothing" and self.scope.view == UNOPENED:
            raise ScopeError(
                "this is not possible in a view; use an engine without where and as_of (--where, "
                "--as-of)"
            )
        bound = {name: self._qualify(query.params[name], value) for name, value in params.items()}
        added = {
            queries.SCOPE: self.scope.as_dict(),
            queries.VIEW: self.scope.view or None,
            queries.VALID: self.scope.as_bounds(),
        }
        return bound | {name: value for name, value in added.items() if name in query.params}

    def _qualify(self, kind: str, value: object) -> object:
        if not self.scope or value is None:
            return value
        if kind.removesuffix("?") == queries.GRAPH_NAME:
            return self.scope.qualify(cast(str, value))
        if kind == f"list[{queries.GRAPH_NAME}]":
            return [self.scope.qualify(name) for name in cast("list[str]", value)]
        return value

    def _select(self, query: Query, rows: list[Row]) -> list[Row]:
        """Leave out rows about graphs of other scopes, and return the names of graphs as given."""
        column = next(
            (name for name, kind in query.columns.items() if kind == queries.GRAPH_NAME), None
        )
        if column is None:
            return rows
        named = ((row, self.scope.unqualify(row[column])) for row in rows)
        return [row | {column: name} for row, name in named if name is not None]

    def require_no_scope(self, action: str) -> None:
        """Raise ScopeError within a scope; ``action`` is the beginning of its sentence."""
        if self.scope:
            raise ScopeError(
                f"{action}, which is not possible within a scope; use an engine without a scope"
            )

    async def fenced(self) -> Database:
        """Return this database with a fence, for a writer that is about to read.

        The fence refuses writes that contain text of a document whose deletion is in progress or
        begins later. The schema must exist. Raises DatabaseError.
        """
        return self if self.fence is not None else replace(self, fence=await take_fence(self))

    def unfenced(self) -> Database:
        """Return this database without its fence, for writes of records that contain no text."""
        return self if self.fence is None else replace(self, fence=None)

    async def check_deleted(self, value: object) -> None:
        """Raise TextDeletedError if a value contains text that was deleted since ``fenced``."""
        if self.fence is not None:
            await self.fence.renew(self)
            self.fence.check_texts({"": value})

    async def read_position(self) -> Position | None:
        """Return the position of the last committed transaction, in O(1).

        Returns None if the form of the bookmark is unknown.
        """
        with self._translate_errors():
            async with asyncio.timeout(self.timeout_s), self._session("read") as session:
                await session.execute_read(read_nothing)
                raw = (await session.last_bookmarks()).raw_values
        return parse_position(next(iter(raw))) if len(raw) == 1 else None

    def address(self) -> neo4j.Address:
        """Return the host and port of the server."""
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
            # A transaction that changes the schema may not write data, so a second transaction
            # counts it. If the second transaction is lost, readers assume that the user made the
            # change, and check the graph once more than necessary.
            await self._write(queries.get("database/count_schema_change"), {})
        return rows

    async def _within_fence(
        self, params: Row, attempt: Callable[[Known], Awaitable[Result]]
    ) -> Result:
        """Run a transaction that writes ``params``, and repeat it when a new deletion has begun.

        ``attempt`` gets the tokens of the deletions with whose text ``params`` were compared. It
        must use these tokens and not the fence's current tokens, because another task of the writer
        may add a token to the fence before the transaction ends.
        """
        if self.fence is None:
            return await attempt(None)
        while True:
            try:
                return await attempt(self.fence.check_texts(params))
            except FenceMovedError:
                await self.fence.review(self)

    async def _check_fence(self, transaction: AsyncManagedTransaction, known: Known) -> None:
        """Raise FenceMovedError if a deletion has begun that the writer does not know.

        A transaction that counts its commit locks the fence's node anyway. Every other transaction
        calls this function.
        """
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
        """Start the span of a statement. It has the statement's name and never its parameters."""
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
    """A database whose statements all run in one transaction.

    It does not translate driver errors, because the driver repeats the transaction on some of them.
    """

    transaction: AsyncManagedTransaction = field(repr=False)

    async def _read(self, query: Query, params: Row) -> list[Row]:
        attempt = partial(self._run, query, params)
        whole = refuse_lost(attempt, partial(lacks_values, query), self.uri)
        try:
            return await whole()
        except GraphChangedError:  # Rows that differ once more repeat the whole transaction.
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
            with self._translate_errors():  # the driver does not retry a translated error
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

    The server must answer and be new enough. With ``ca``, an issuer in that file must have signed
    the server's certificate. Before each write, ``require_room`` gets the megabytes of disk that
    the write needs. Raises ConfigError (malformed URI), DatabaseAuthError,
    DatabaseUnavailableError, DatabaseVersionError.
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
    """Raise FenceMovedError unless the token is among ``known``; None accepts any token.

    After a purge, there is no token until the schema is created again.
    """
    record = await locked.single()
    token = record["token"] if record is not None else None
    # If the token is not a string, another program wrote it. No writer knows this token, and
    # ``Fence.review`` then raises the error.
    missing = record is None or not isinstance(token, str | None)
    if known is not None and (missing or (token or "") not in known):
        raise FenceMovedError


async def run_to_commit(
    run: Callable[[Work[Result]], Awaitable[Result]], work: Work[Result]
) -> Result:
    """Repeat a transaction until the server acknowledges its commit, and return its result.

    Also repeats the transaction a few times if another transaction disturbs it. So ``work`` must be
    harmless to repeat.
    """
    while True:
        try:
            return await repeat_disturbed(partial(run, work))
        except IncompleteCommit:
            await asyncio.sleep(LOST_S)


async def read_nothing(transaction: AsyncManagedTransaction) -> None:
    """Run an empty statement, so that the driver receives a bookmark of the last commit."""
    await (await transaction.run(queries.get("database/read_nothing").text)).consume()


async def read_managed(session: AsyncSession, query: Query, params: Row) -> list[Row]:
    """Return the rows of a read statement, and retry it on transient faults."""

    async def work(transaction: AsyncSession | AsyncManagedTransaction) -> list[Row]:
        result = await transaction.run(query.text, sent(params))
        return [dict(record) async for record in result]

    # Without an explicit transaction, a statement takes one round trip instead of three.
    try:
        return await work(session)
    except (Neo4jError, DriverError) as error:
        if not error.is_retryable():
            raise
    return await session.execute_read(work)
