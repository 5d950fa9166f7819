"""Callers: what the holder of a token may see and do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pgs_neo4j.config.token_table import ROLES, Role
from pgs_neo4j.errors import PGSError, UnknownGraphError, UsageError, unknown_run

METRICS_PATH, LOGGED_IN = "/metrics", "/api/me"
"""The one path for scrapers, and one that everyone who logs in may open."""
BETWEEN = " / "
"""Between the name of a tenant and the name that it gave its session."""


class ForbiddenError(PGSError):
    """The caller's role does not allow the request."""


class UnknownJobError(UsageError):
    """No job in progress has this id."""


class UnrecordedRunError(UsageError):
    """A run of this server has no record: it waits, or it ended before it had one."""


class UnknownUploadError(UsageError):
    """A file does not wait to be ingested, or not any more."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A person or program; ``graphs`` are those it sees, None for all.

    A tenant is a caller whose token stands in ``pgs.toml``. It sees its own sessions only.
    ``runs_at_once`` and ``cost_per_day`` limit what it asks; None means no limit.
    """

    name: str
    role: Role = "operator"
    tenant: bool = False
    graphs: frozenset[str] | None = None
    runs_at_once: int | None = None
    cost_per_day: float | None = None

    def require(self, role: Role) -> None:
        """Raise ForbiddenError unless the caller has a role, or one that includes it."""
        if ROLES.index(self.role) < ROLES.index(role):
            raise ForbiddenError(
                f"this needs the role {role}, and the token of {self.name} has the role {self.role}"
            )

    def require_all_graphs(self) -> None:
        """Raise ForbiddenError if the caller sees some graphs only."""
        if self.graphs is not None:
            raise ForbiddenError(
                f"this reaches beyond single graphs, and the token of {self.name} is limited to "
                "its graphs; use a token without graphs in its table of pgs.toml"
            )

    def may_open(self, path: str) -> bool:
        """Return whether the caller may open a path at all."""
        if path == METRICS_PATH:
            return self.role == "metrics" or not self.tenant
        return self.role != "metrics"

    def is_same(self, other: Caller) -> bool:
        """Return whether both are one person or program; a tenant may have the owner's name."""
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
        """Return those of some graphs that the caller sees."""
        return [graph for graph in graphs if self.sees(graph)]

    def stored_session(self, name: str) -> str:
        """Return the name under which a session is stored; that of a tenant is its own."""
        return f"{self.name}{BETWEEN}{name}" if self.tenant else name

    def own_session(self, stored: str) -> str | None:
        """Return the name that the caller gave a stored session; None if it is another's."""
        if not self.tenant:
            return stored
        own = f"{self.name}{BETWEEN}"
        return stored[len(own) :] if stored.startswith(own) else None

    @property
    def own_prefix(self) -> str:
        """How the stored names of its sessions begin; empty for one that sees all."""
        return f"{self.name}{BETWEEN}" if self.tenant else ""

    def check_run(self, run: str, graph: str, session: str) -> None:
        """Raise UnknownRunError if the caller must not see a run."""
        if not self.sees(graph) or self.own_session(session) is None:
            raise unknown_run(run)


OWNER = Caller("owner")
"""The person who opened the link that the server printed."""
