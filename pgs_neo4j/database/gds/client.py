"""Runs the graphdatascience client on a database's own connection pool, in supervised calls.

The client is synchronous and sends several statements for one call, so it runs in a worker thread.
All statements of a call carry the call's tag to the server, so that exactly this call can be ended
there. Closing the connection is not enough: the server notices late, and a projection that is
nearly done would register itself after the cleanup.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Access, Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.server import parse_version
from pgs_neo4j.database.tasks import retrieve_exception, to_the_end
from pgs_neo4j.errors import (
    DatabaseError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    DatabaseVersionError,
    GDSError,
    GDSMemoryError,
    GDSMissingError,
    GraphChangedError,
    QueryError,
)

if TYPE_CHECKING:
    from graphdatascience import GraphDataScience

    from pgs_neo4j.database.gds.runner import DatabaseRunner

MINIMUM_VERSION = (2, 13)

TIMEOUT_S = 3600.0
END_S = 6.0
LEAVE_S = 2.0
POLL_S = 0.05
MEMORY_SIGNS = (
    "OutOfMemory",
    "Java heap space",
    "memory estimation",
    "exceeds current free memory",
)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Owner:
    """The job that makes a call: its graph, and the fence of its lease."""

    graph: str
    fence: int


@dataclass(frozen=True, slots=True)
class GDS:
    """A Graph Data Science client, made by ``open_gds``.

    All projections and statements of an ``owner`` carry the owner's name, so that a later job can
    end them.
    """

    db: Database
    client: GraphDataScience
    runner: DatabaseRunner
    version: str
    owner: Owner | None = None

    def owned_by(self, owner: Owner) -> GDS:
        """Return this client with a job as its owner."""
        return replace(self, owner=owner)

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run work with the client through ``run_supervised`` and return its result."""
        return await run_supervised(self.db, work, self.owner)


async def open_gds(db: Database) -> GDS:
    """Open the client on a database.

    Raises GDSMissingError when the library is not installed, DatabaseVersionError when it is too
    old.
    """
    version = await installed_version(db)
    if parse_version(version) < MINIMUM_VERSION:
        minimum = ".".join(map(str, MINIMUM_VERSION))
        raise DatabaseVersionError(
            f"Graph Data Science on the server is {version}; {minimum} or newer is needed, "
            "so upgrade the plugin"
        )
    client, runner = await run_supervised(db, lambda: _make_client(db))
    return GDS(db=db, client=client, runner=runner, version=version)


async def installed_version(db: Database) -> str:
    """Return the version of GDS on the server. Raises GDSMissingError if it is not installed."""
    try:
        rows = await db.read(queries.get("database/gds/read_gds_version"))
    except QueryError as error:
        raise GDSMissingError(
            f"Neo4j at {db.uri} has no Graph Data Science library; install the "
            "graph-data-science plugin and allow gds.* in dbms.security.procedures.unrestricted"
        ) from error
    return str(rows[0]["version"])


def _make_client(db: Database) -> tuple[GraphDataScience, DatabaseRunner]:
    # Imported late, because the client imports pandas and pyarrow, which takes seconds.
    from graphdatascience import GraphDataScience

    from pgs_neo4j.database.gds.runner import DatabaseRunner

    runner = DatabaseRunner(db)
    return GraphDataScience(runner, arrow=False, show_progress=False), runner


async def run_supervised(
    db: Database, work: Callable[[], Result], owner: Owner | None = None
) -> Result:
    """Run work with the client in a worker thread.

    Returns the result of the work. After a cancellation, a lost connection, or a timeout, ends the
    work at the server before it raises the error. Raises GDSError when GDS or its client refuses
    the work, GDSMemoryError, GraphChangedError, DatabaseError.
    """
    loop = asyncio.get_running_loop()
    call = Call(db, loop, owner)
    context = contextvars.copy_context()
    context.run(_current.set, call)
    # This is a future rather than a task, because it shows whether the thread has ended even while
    # the loop closes.
    worker = loop.run_in_executor(None, context.run, work)
    worker.add_done_callback(retrieve_exception)
    try:
        await asyncio.wait({worker})
        return worker.result()
    except (asyncio.CancelledError, DatabaseTimeoutError, DatabaseUnavailableError):
        await to_the_end(call.end(worker))
        raise
    except GraphChangedError:
        raise
    except QueryError as error:
        raise _make_gds_error(error) from error
    except (ValueError, LookupError, TypeError) as error:
        raise GDSError(
            "the graphdatascience client cannot read the answer of Graph Data Science "
            f"({type(error).__name__}); install compatible releases of the two"
        ) from error


@dataclass(slots=True)
class Call:
    """Runs the statements of one call. Only the event loop touches its state."""

    db: Database
    loop: asyncio.AbstractEventLoop
    owner: Owner | None = None
    tag: str = field(default_factory=lambda: uuid4().hex)
    ended: bool = False
    statement: asyncio.Task[Any] | None = None

    def run(self, text: str, params: Row, access: Access) -> tuple[list[str], list[Row]]:
        """Run one statement from the worker thread and return its columns and rows."""
        answer = self._run_statement(text, params, access)
        return asyncio.run_coroutine_threadsafe(answer, self.loop).result()

    async def end(self, worker: asyncio.Future[Result]) -> None:
        """Refuse new statements, end the running ones, and wait for the thread.

        Waits up to ``END_S`` seconds for the server to react. Then closes the connection and waits
        up to ``LEAVE_S`` seconds.
        """
        self.ended = True
        with suppress(DatabaseError, TimeoutError):
            async with asyncio.timeout(END_S):
                # This is repeated, since a statement that was just sent has no transaction yet.
                while True:
                    running = await self._terminate()
                    if worker.done() and not running:
                        break
                    await asyncio.sleep(POLL_S)
        if self.statement is not None:
            self.statement.cancel()
        await asyncio.wait({worker}, timeout=LEAVE_S)

    async def _run_statement(
        self, text: str, params: Row, access: Access
    ) -> tuple[list[str], list[Row]]:
        if self.ended:
            raise asyncio.CancelledError
        self.statement = asyncio.current_task()
        try:
            return await self.db.call(
                text, params, access, TIMEOUT_S, metadata=self._make_metadata()
            )
        finally:
            self.statement = None

    def _make_metadata(self) -> Row:
        tag: Row = {"pgs_call": self.tag}
        if self.owner is not None:
            tag |= {"pgs_graph": self.owner.graph, "pgs_fence": self.owner.fence}
        return tag

    async def _terminate(self) -> bool:
        query = queries.get("database/gds/terminate_statements")
        _, rows = await self.db.call(query.text, {"tag": self.tag}, "read", END_S)
        return bool(rows[0]["running"])


_current: contextvars.ContextVar[Call] = contextvars.ContextVar("pgs_gds_call")


def current_call() -> Call:
    """Return the call that this worker thread runs."""
    return _current.get()


def _make_gds_error(error: QueryError) -> GDSError:
    message = str(error)
    if any(sign in message for sign in MEMORY_SIGNS):
        return GDSMemoryError(
            f"Graph Data Science ran out of memory; raise server.memory.heap.max_size: {message}"
        )
    return GDSError(f"Graph Data Science failed: {message}")
