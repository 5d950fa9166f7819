"""Shared by all routes: the server's state, checks of callers, and reads shared by requests."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, cast
from weakref import WeakValueDictionary

from fastapi import Depends, Request, Security
from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.security.base import SecurityBase

from pgs_neo4j.config.token_table import Role
from pgs_neo4j.engine import PGS, Payer, StoredGraph, current_day, find_only_graph
from pgs_neo4j.engine.metrics import GraphMetrics
from pgs_neo4j.errors import BudgetError, UnknownGraphError
from pgs_neo4j.model import PartitionMap, SearchMode
from pgs_neo4j.model.scope import NO_SCOPE, Scope
from pgs_neo4j.web.access.callers import Caller, ForbiddenError
from pgs_neo4j.web.access.tokens import Backoff, Tokens
from pgs_neo4j.web.jobs import JobBoard
from pgs_neo4j.web.runs.board import RunBoard
from pgs_neo4j.web.served_work import held_costs, stop_served
from pgs_neo4j.web.uploads import UploadStore

MOST_KEPT = 16
MapKey = tuple[str, int | None]


@dataclass(slots=True)
class Serving:
    """The engine, the runs in progress, and the tokens of one server.

    ``scope`` is the scope of the engine. ``cookie`` is the name of the cookie. ``stopped`` is set
    once no more runs will begin. Only a request that holds the lock ``scanning`` may scan a graph,
    so that scans leave capacity for other requests.
    """

    pgs: PGS
    board: RunBoard
    tokens: Tokens
    cookie: str
    read_only: bool = False
    confirm_cost: float | None = None
    scope: Scope = NO_SCOPE
    backoff: Backoff = field(default_factory=Backoff)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    jobs: JobBoard = field(default_factory=JobBoard, repr=False)
    uploads: UploadStore = field(default_factory=UploadStore, repr=False)
    scanning: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    streams: Counter[str] = field(default_factory=Counter, repr=False)
    _searching: dict[object, tuple[Caller, float]] = field(default_factory=dict, repr=False)
    _within: dict[Scope, Serving] = field(default_factory=dict, repr=False)
    graph_metrics: GraphMetrics = field(init=False)
    lookups: GraphLookups = field(init=False)
    drawings: MapDrawings = field(init=False)

    def __post_init__(self) -> None:
        self.graph_metrics = GraphMetrics(self.pgs)
        self.lookups = GraphLookups(self.pgs)
        self.drawings = MapDrawings(self.pgs, storing=not self.read_only)

    def for_caller(self, caller: Caller) -> Serving:
        """Return the part of the server that serves the caller's scope.

        The parts share everything but the engine and what is read through it: all runs of a server
        wait in one queue.
        """
        if not caller.scope:
            return self
        if caller.scope not in self._within:
            within = replace(
                self,
                pgs=self.pgs.within(caller.scope.as_dict()),
                scope=self.scope.join(caller.scope),
                streams=Counter(),
            )
            self._within[caller.scope] = within
        return self._within[caller.scope]

    @contextmanager
    def streaming(self, graph: str) -> Iterator[None]:
        """Count an open stream of a graph while the block runs."""
        self.streams[graph] += 1
        try:
            yield
        finally:
            self.streams[graph] -= 1

    async def stop(self) -> None:
        """Cancel all runs and jobs, which leave records, and remove waiting uploads.

        Nothing new begins after this.
        """
        jobs = asyncio.create_task(stop_served(self.jobs.live))
        await stop_served(self.board.live)
        self.stopped.set()  # last, so that agents receive how their runs ended
        await jobs
        self.uploads.close()

    def require_writing(self) -> None:
        """Raise ForbiddenError if the server was started with ``--read-only``."""
        if self.read_only:
            raise ForbiddenError("this server only reads; start it without --read-only")

    async def remaining_cost(self, caller: Caller) -> float | None:
        """Return the most that a new run or job of the caller may cost; None without a daily limit.

        Days are in UTC. Work in progress counts with the maximum cost that its limits allow. Raises
        BudgetError if nothing is left.
        """
        most = caller.cost_per_day
        if most is None:
            return None
        held = self._find_held_costs(caller)
        costs = await self.pgs.runs.costs(days=1)
        # Work that ended during the read still counts, because ``costs`` may lack its costs.
        held |= self._find_held_costs(caller)
        # If the clock was set back, there may be costs of later days. They count on those days.
        today = current_day()
        spent = sum(
            one.cost
            for one in costs
            if one.day <= today and caller.own_session(one.session) is not None
        )
        if spent >= most:
            raise BudgetError(
                f"{caller.name} has spent today's limit of {most:g}; ask again tomorrow (UTC)"
            )
        left, configured = most - spent - sum(held.values()), self.pgs.config.max_cost
        if left <= 0.0:
            raise BudgetError(
                f"{caller.name} has work in progress that may use up the rest of today's limit of "
                f"{most:g}; ask again when some of it has ended"
            )
        return left if configured is None else min(left, configured)

    def payer(self, caller: Caller) -> Payer:
        """Return a caller as the payer of its searches, plans, and jobs."""
        return Payer(caller.own_prefix, partial(self._reserve, caller))

    @asynccontextmanager
    async def _reserve(self, caller: Caller, most: float) -> AsyncIterator[float | None]:
        left = await self.remaining_cost(caller)
        if left is None:
            yield None
            return
        place, allowed = object(), min(left, most)
        self._searching[place] = (caller, allowed)
        try:
            yield allowed
        finally:
            del self._searching[place]

    def _find_held_costs(self, caller: Caller) -> dict[object, float]:
        """Return the maximum cost of each run, job, and search of the caller in progress."""
        searches = {
            place: most for place, (one, most) in self._searching.items() if one.is_same(caller)
        }
        runs, jobs = held_costs(self.board.live, caller), held_costs(self.jobs.live, caller)
        return {**runs, **jobs, **searches}


# Asynchronous, since FastAPI runs synchronous dependencies in threads.
async def _find_serving(request: Request) -> Serving:
    serving = cast(Serving, request.app.state.serving)
    caller: Caller | None = getattr(request.state, "caller", None)
    return serving if caller is None else serving.for_caller(caller)


class RoleCheck(SecurityBase):
    """Admits callers with a role or a higher one. OpenAPI shows the role.

    With ``all_graphs``, callers that are limited to some graphs are refused.
    """

    model = HTTPBearerModel()
    scheme_name = "token"

    def __init__(self, role: Role, *, all_graphs: bool = False) -> None:
        self.role: Role = role
        self.all_graphs = all_graphs

    async def __call__(self, request: Request) -> Caller:
        """Return the caller. Raises ForbiddenError."""
        caller = cast(Caller, request.state.caller)  # the guard has set it
        caller.require(self.role)
        if self.all_graphs:
            caller.require_all_graphs()
        return caller


def _require_role(role: Role, *, all_graphs: bool = False) -> object:
    return Security(RoleCheck(role, all_graphs=all_graphs), scopes=[role])


ServingNow = Annotated[Serving, Depends(_find_serving)]
CallerNow = Annotated[Caller, _require_role("reader")]
AskerNow = Annotated[Caller, _require_role("asker")]
OperatorNow = Annotated[Caller, _require_role("operator")]
UnlimitedNow = Annotated[Caller, _require_role("operator", all_graphs=True)]
"""An operator who sees all graphs, for requests that concern the whole database."""
ScraperNow = Annotated[Caller, _require_role("metrics")]


def check_search_mode(serving: Serving, caller: Caller, mode: SearchMode | None) -> None:
    """Raise ForbiddenError for a mode that reads beyond the graphs that the caller is limited to.

    None is the configured mode.
    """
    if caller.graphs is not None and (mode or serving.pgs.settings.search.mode) == "cypher":
        caller.require_all_graphs()


async def visible_graph(serving: Serving, caller: Caller, graph: str | None) -> str:
    """Return the graph's name if the caller sees it; without a name, the name of the only graph.

    Raises UnknownGraphError.
    """
    if graph is not None:
        caller.check_graph(graph)
    elif caller.graphs is not None:
        graph = find_only_graph([*caller.graphs])
    try:
        name = (await serving.lookups.find(graph)).name
    except UnknownGraphError as error:
        if caller.graphs is None and not error.several:
            raise
        name = ""  # the error may name graphs that the caller must not see
    if name and caller.sees(name):
        return name
    if graph is None:
        raise UnknownGraphError(
            "there is no only graph; name one as 'graph' in the query or the body ('GET "
            "/api/graphs' lists those you see)"
        )
    raise UnknownGraphError(f"there is no graph {graph}; 'GET /api/graphs' lists those you see")


async def own_sessions(serving: Serving, caller: Caller, graph: str) -> list[str] | None:
    """Return the stored names of a caller's sessions of a graph; None if the caller sees all."""
    if not caller.tenant:
        return None
    stored = [info.id for info in await serving.pgs.sessions(graph)]
    return [name for name in stored if caller.own_session(name) is not None]


@dataclass(slots=True)
class GraphLookups:
    """Reads graphs; many concurrent requests share at most two reads of each graph.

    A request never uses a read that began before the request arrived, so it sees all earlier
    writes.
    """

    pgs: PGS
    _next: dict[str | None, asyncio.Task[StoredGraph]] = field(default_factory=dict, repr=False)
    _reading: WeakValueDictionary[str | None, asyncio.Lock] = field(
        default_factory=WeakValueDictionary, repr=False
    )

    async def find(self, name: str | None) -> StoredGraph:
        """Return a stored graph; without a name, the only graph. Raises UnknownGraphError."""
        shared = self._next.get(name)
        if shared is None:
            shared = self._next[name] = asyncio.create_task(self._read(name))
        return await asyncio.shield(shared)  # a canceled request must not cancel it for the others

    async def _read(self, name: str | None) -> StoredGraph:
        lock = self._reading.get(name)
        if lock is None:
            lock = self._reading[name] = asyncio.Lock()
        async with lock:
            del self._next[name]  # requests that come from now on need a later read
            return await self.pgs.graphs.get(name)


@dataclass(slots=True)
class MapDrawings:
    """Draws maps, and keeps the last ones in memory, by generation and unit.

    With ``storing``, the database stores the positions of places, so that they survive a restart.
    """

    pgs: PGS
    storing: bool = True
    _kept: dict[MapKey, PartitionMap] = field(default_factory=dict, repr=False)
    _drawing: dict[MapKey, asyncio.Task[PartitionMap]] = field(default_factory=dict, repr=False)

    async def find(self, graph: str, within: int | None = None) -> PartitionMap:
        """Return the map of the current generation, or of a unit of it.

        Raises NotPartitionedError and UnknownPartitionError.
        """
        key = (await self.pgs.partitions.generation(graph)).id, within
        drawn_map = self._kept.get(key)
        if drawn_map is not None:
            return drawn_map
        task = self._drawing.get(key)
        if task is None:
            task = self._drawing[key] = asyncio.create_task(self._draw(graph, within))
            task.add_done_callback(lambda done: self._end(key, done))
        return await asyncio.shield(task)  # a canceled request must not cancel the task for others

    async def _draw(self, graph: str, within: int | None) -> PartitionMap:
        drawn = await self.pgs.browse.map(graph, within=within, store=self.storing)
        self._kept[drawn.generation, within] = drawn
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return drawn

    def _end(self, key: MapKey, done: asyncio.Task[PartitionMap]) -> None:
        del self._drawing[key]
        if not done.cancelled():
            # Waiting requests get the exception. If no request waits, this call keeps asyncio from
            # logging that the exception was never retrieved.
            done.exception()
