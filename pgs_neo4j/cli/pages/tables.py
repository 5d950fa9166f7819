"""Tables for people. Every cell is plain text: nothing from a graph is taken for markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pgs_neo4j.cli.pages.text import moment
from pgs_neo4j.export.figures import coverage_line
from pgs_neo4j.model import GraphMapping, Partition, Plan, Routing
from pgs_neo4j.text.shown import one_line, percent, seconds

if TYPE_CHECKING:
    from pgs_neo4j.engine import Job, SessionInfo, StoredGraph

KEYWORDS = 8
ERROR = 120


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Rows under headings; a heading that ends in ``>`` sets its column right."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        right = column.endswith(">")
        made.add_column(column.rstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(one_line(str(cell))) for cell in row))
    return made


def partitions(found: Sequence[Partition]) -> Table:
    """The current partitions, largest first."""
    rows = (
        (
            part.name,
            f"{part.size:,}",
            f"{part.tokens:,}",
            ", ".join(part.keywords[:KEYWORDS]) or "-",
            ", ".join(f"P{near.id} ({near.edges})" for near in part.adjacent) or "-",
            "yes" if part.pool else "",
        )
        for part in found
    )
    return table(("id", "nodes>", "tokens>", "keywords", "adjacent (edges)", "pool"), rows)


def routes(routing: Routing, found: Mapping[int, Partition]) -> Table:
    """The partitions a question goes to, best first."""
    rows = (
        (
            f"P{route.partition}",
            "-" if route.similarity is None else f"{route.similarity:.2f}",
            f"{found[route.partition].size:,}" if route.partition in found else "-",
            ", ".join(found[route.partition].keywords[:4]) if route.partition in found else "-",
            route.reason,
        )
        for route in routing.routes
    )
    return table(("id", "similarity>", "nodes>", "keywords", "reason"), rows)


def plan(found: Plan, why: str) -> Table:
    """The partitions a question would read, best first, and what each is likely to take.

    ``why`` is the reason of all of them, if they have but one; their keywords come then.
    """
    rows = (
        (
            f"P{each.partition}",
            f"{each.nodes:,}",
            f"{each.passes:,}",
            f"{each.cached:,}" if each.cached else "",
            f"{each.input_tokens:,}",
            f"{each.output_tokens:,}",
            ", ".join(each.keywords[:4]) or "-" if why else each.reason,
        )
        for each in found.sweeps
    )
    last = "keywords" if why else "why"
    return table(("id", "nodes>", "passes>", "cached>", "tokens in>", "out>", last), rows)


def graphs(found: Sequence[StoredGraph]) -> Table:
    """Stored graphs by name."""
    rows = (
        (
            graph.name,
            "-" if graph.partition_count is None else graph.partition_count,
            "-" if graph.node_count is None else f"{graph.node_count:,}",
            ", ".join(graph.mapping.labels) or "all labels",
            ", ".join(graph.mapping.text) or "-",
        )
        for graph in found
    )
    return table(("graph", "partitions>", "nodes>", "labels", "text"), rows)


def mapping(found: GraphMapping) -> Table:
    """What takes part in a graph, and what its properties mean."""
    rows = (
        ("labels", ", ".join(found.labels) or "(all)"),
        ("relationship types", ", ".join(found.relationship_types) or "(all)"),
        ("text", ", ".join(found.text) or "(none)"),
        ("title", found.title or "(none)"),
        ("key", found.key or "(none)"),
        ("weight", found.weight or "(none: by degree)"),
        ("relationship weight", found.relationship_weight or "(none: all alike)"),
        ("embedding", found.embedding or "(none)"),
    )
    return table(("mapping", ""), rows)


def sessions(found: Sequence[SessionInfo]) -> Table:
    """Stored sessions, the latest first."""
    rows = (
        (
            info.id,
            info.graph,
            info.runs,
            coverage_line(info.coverage) if info.coverage else "-",
            moment(info.updated_at),
        )
        for info in found
    )
    return table(("session", "graph", "runs>", "coverage", "last used (UTC)"), rows)


def jobs(found: Sequence[Job]) -> Table:
    """Records of jobs, the latest first."""
    rows = (
        (
            job.id,
            job.graph,
            "running (silent)" if job.silent else job.outcome,
            "-" if job.drift is None else percent(job.drift),
            moment(job.started_at),
            seconds(float(job.figures["seconds"])) if "seconds" in job.figures else "-",
            one_line(job.error or "", ERROR),
        )
        for job in found
    )
    return table(("job", "graph", "outcome", "drift>", "started (UTC)", "took>", "error"), rows)
