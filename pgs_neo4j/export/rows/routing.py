"""The choice of partitions for a question, in words."""

from __future__ import annotations

from pgs_neo4j.model import Route, Routing
from pgs_neo4j.text.shown import counted


def chosen_line(routing: Routing) -> str:
    """Return in words how many partitions were chosen."""
    return f"{len(routing.routes)} of {counted(routing.considered, 'partition')}"


def score_heading(routing: Routing) -> str:
    """Return what decided, as the heading of a right-aligned column."""
    by_evidence = any(route.evidence for route in routing.routes)
    return "evidence>" if by_evidence else "similarity>"


def score_text(route: Route) -> str:
    """Return the number of matching nodes, else the similarity."""
    if route.evidence:
        return str(route.evidence)
    return "-" if route.similarity is None else f"{route.similarity:.2f}"
