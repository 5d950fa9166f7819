"""What all tools share: the engine, the callers, the questions in progress, and the bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcp.server.mcpserver import Context

from pgs_neo4j.engine import PGS, StoredGraph
from pgs_neo4j.mcp_server.inquiries import Inquiries
from pgs_neo4j.mcp_server.visitors import Visitor, VisitorOf, choose_graph, everyone

Call = Context[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpBounds:
    """How much an agent may take: seconds of one call, and tokens of one reply."""

    most_wait_s: float = 300.0
    reply_tokens: int = 8000


@dataclass(frozen=True, slots=True)
class Desk:
    """An engine and those who call; the maker of a desk closes its ``inquiries``."""

    pgs: PGS
    inquiries: Inquiries = field(default_factory=Inquiries)
    visitor_of: VisitorOf = everyone
    bounds: McpBounds = field(default_factory=McpBounds)

    def visitor(self, ctx: Call) -> Visitor:
        """Return the caller behind a call."""
        return self.visitor_of(ctx.request_context.request)

    async def graph(self, ctx: Call, name: str | None) -> StoredGraph:
        """Return a graph that the caller may see. Raises UnknownGraphError."""
        return await choose_graph(self.pgs, self.visitor(ctx), name)

    def tokens(self, share: float) -> int:
        """Return a share of the tokens of a reply."""
        return int(self.bounds.reply_tokens * share)
