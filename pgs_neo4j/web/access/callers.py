"""Callers, and what the holder of each token may see and do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pgs_neo4j.config.token_table import ROLES, Role
from pgs_neo4j.errors import PGSError, UnknownGraphError, UsageError, unknown_run
from pgs_neo4j.model.scope import NO_SCOPE, Scope

METRICS_PATH, LOGGED_IN = "/metrics", "/api/me"
"""The only path for scrapers, and a path that every logged-in caller may open."""
BETWEEN = " / "
"""Separates the tenant's name from its session name in a stored session name."""


class ForbiddenError(PGSError):
    """The caller's role does not allow the request."""


class UnknownJobError(UsageError):
    """No job in progress has this id."""


class UnrecordedRunError(UsageError):
    """A run of this server has no record: it is queued, or it ended before it was recorded."""


class UnknownUploadError(UsageError):
    """No uploaded file with this id waits to be ingested."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A person or program. ``graphs`` are the graphs that the caller sees; None means all.

    A tenant is a caller with a token in ``pgs.toml``, and sees only its own sessions.
    ``runs_at_once`` limits its concurrent runs, and ``cost_per_day`` its costs; None means no
    limit. ``scope`` limits the nodes that the caller sees, and its graphs are those of this scope.
    """

    name: str
    role: Role = "operator"
    tenant: bool = False
    graphs: frozenset[str] | None = None
    runs_at_once: int | None = None
    cost_per_day: float | None = None
    scope: Scope = NO_SCOPE

    def require(self, role: Role) -> None:
        """Raise ForbiddenError unless the caller has this role or a higher one."""
        if ROLES.index(self.role) < ROLES.index(role):
            raise ForbiddenError(
                f"this needs the role {role}, and the token of {self.name} has the role {self.role}"
            )

    def require_all_graphs(self) -> None:
        """Raise ForbiddenError if the caller is limited to some graphs or to a scope."""
        if self.scope:
            raise ForbiddenError(
                f"this reads the whole database, and the token of {self.name} has a scope; use a "
                "token without a scope in its table of pgs.toml"
            )
        if self.graphs is not None:
            raise ForbiddenError(
                f"this reaches beyond single graphs, and the token of {self.name} is limited to "
                "its graphs; use a token without graphs in its table of pgs.toml"
            )

    def may_open(self, path: str) -> bool:
        """Return whether the caller's role may open a path."""
        if path == METRICS_PATH:
            return self.role == "metrics" or not self.tenant
        return self.role != "metrics"

    def is_same(self, other: Caller) -> bool:
        """Return whether both are the same caller; a tenant may have the same name as the owner."""
        return (self.tenant, self.name) == (other.tenant, other.name)

    def sees(self, graph: str) -> bool:
        """Return whether the caller may see a graph."""
        return self.graphs is None or graph in self.graphs

    def check_graph(self, graph: str) -> str:
        """Return a graph's name. Raises UnknownGraphError if the caller must not see it."""
        if not self.sees(graph):
            raise UnknownGraphError(
                f"there is no graph {graph}; 'GET /api/graphs' lists those you see"
            )
        return graph

    def visible(self, graphs: Iterable[str]) -> list[str]:
        """Return the graphs that the caller sees, in the given order."""
        return [graph for graph in graphs if self.sees(graph)]

    def stored_session(self, name: str) -> str:
        """Return the name under which a session is stored; a tenant's name becomes its prefix."""
        return f"{self.name}{BETWEEN}{name}" if self.tenant else name

    def own_session(self, stored: str) -> str | None:
        """Return the caller's own name for a stored session; None if another caller owns it."""
        if not self.tenant:
            return stored
        own = f"{self.name}{BETWEEN}"
        return stored[len(own) :] if stored.startswith(own) else None

    @property
    def own_prefix(self) -> str:
        """Prefix of the stored names of the caller's sessions; empty if the caller sees all."""
        return f"{self.name}{BETWEEN}" if self.tenant else ""

    def check_run(self, run: str, graph: str, session: str) -> None:
        """Raise UnknownRunError if the caller must not see a run."""
        if not self.sees(graph) or self.own_session(session) is None:
            raise unknown_run(run)


OWNER = Caller("owner")
"""The person who opened a link that the server issued."""
