"""What all tools share: the engine, its callers, the questions in progress, and the bounds.

Over stdio there is one caller, who sees everything. A program that serves several callers gives
each an ``AgentCaller``, which determines that caller's graphs and session names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from mcp.server.mcpserver import Context

from pgs_neo4j.engine import PGS, StoredGraph, find_only_graph
from pgs_neo4j.engine.live_work import Viewer
from pgs_neo4j.errors import UnknownGraphError, UnknownRunError
from pgs_neo4j.mcp_server.questions import QuestionBoard
from pgs_neo4j.model.scope import NO_SCOPE, Scope

Call = Context[Any]


class AgentCaller(Viewer, Protocol):
    """What a caller may see, and whether it may ask.

    Callers may use the same name for different sessions; stored names are unique.
    """

    def stored_session(self, name: str) -> str:
        """Return the name under which a session of the caller is stored."""

    def require(self, role: Literal["asker"]) -> None:
        """Raise an error of this package unless the caller may ask."""

    def require_all_graphs(self) -> None:
        """Raise an error of this package if the caller is limited to some graphs."""


CallerOf = Callable[[object], AgentCaller]
"""Returns the caller who sent an HTTP request; over stdio, the request is None."""


@dataclass(frozen=True, slots=True)
class ProcessOwner:
    """The owner of the process, who sees everything that the engine sees."""

    scope: Scope = NO_SCOPE

    def sees(self, graph: str) -> bool:
        """Return True."""
        return bool(graph)

    def stored_session(self, name: str) -> str:
        """Return the name itself."""
        return name

    def own_session(self, stored: str) -> str:
        """Return the name itself."""
        return stored

    def require(self, role: Literal["asker"]) -> None:
        """Allow everything."""

    def require_all_graphs(self) -> None:
        """Allow everything."""


def process_owner(request: object) -> AgentCaller:
    """Return the owner of the process, whatever the request."""
    del request
    return ProcessOwner()


@dataclass(frozen=True, slots=True, kw_only=True)
class McpBounds:
    """Limits for agents: the maximum seconds of one call, and the maximum tokens of one reply."""

    most_wait_s: float = 300.0
    reply_tokens: int = 8000


@dataclass(frozen=True, slots=True)
class McpService:
    """An engine and its callers; the code that creates a service must stop its ``questions``.

    ``engine_of`` returns the engine within a caller's scope. Without it, all callers share ``pgs``.
    """

    pgs: PGS
    questions: QuestionBoard = field(default_factory=QuestionBoard)
    caller_of: CallerOf = process_owner
    bounds: McpBounds = field(default_factory=McpBounds)
    engine_of: Callable[[AgentCaller], PGS] | None = None

    def caller(self, ctx: Call) -> AgentCaller:
        """Return the caller behind a call."""
        return self.caller_of(ctx.request_context.request)

    def engine(self, caller: AgentCaller) -> PGS:
        """Return the engine that sees what the caller may see."""
        return self.pgs if self.engine_of is None else self.engine_of(caller)

    async def graph(self, ctx: Call, name: str | None) -> StoredGraph:
        """Return a graph that the caller may see. Raises UnknownGraphError."""
        caller = self.caller(ctx)
        return await choose_graph(self.engine(caller), caller, name)

    def tokens(self, share: float) -> int:
        """Return a share of the tokens of a reply."""
        return int(self.bounds.reply_tokens * share)


async def visible_graphs(pgs: PGS, caller: AgentCaller) -> list[StoredGraph]:
    """Return the graphs that a caller may see."""
    return [graph for graph in await pgs.graphs() if caller.sees(graph.name)]


async def choose_graph(pgs: PGS, caller: AgentCaller, name: str | None) -> StoredGraph:
    """Return the named graph, else the configured graph or the only graph that the caller sees.

    Raises UnknownGraphError, naming only graphs that the caller may see.
    """
    graphs = {graph.name: graph for graph in await visible_graphs(pgs, caller)}
    wanted = name or pgs.settings.graph or find_only_graph([*graphs])
    if wanted in graphs:
        return graphs[wanted]
    listed = f"there are {', '.join(graphs)}" if graphs else "you may see no graph"
    if name is None:
        way = "; name one in the argument 'graph'" if graphs else ""
        raise UnknownGraphError(f"{listed}{way}")
    raise UnknownGraphError(f"there is no graph {name[:64]}; {listed}")


def unknown_run(run: str) -> UnknownRunError:
    """Return the error for a run that does not exist, or that belongs to another caller."""
    return UnknownRunError(
        f"there is no run {run[:80]}; the resource pgs://graphs/GRAPH/runs lists runs"
    )
