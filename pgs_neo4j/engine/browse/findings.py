"""Reads the findings that cite a node."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.stored_data import check_fields, check_stored
from pgs_neo4j.database.typed_columns import FIX
from pgs_neo4j.engine.browse.view import GraphView, check_limit, unknown_node
from pgs_neo4j.model import Node, NodeFinding
from pgs_neo4j.pgs.sweeping.claims import quotes_from
from pgs_neo4j.text import node_text
from pgs_neo4j.text.claims.marking import remark

_TEXT, _DOUBTS = TypeAdapter(str), TypeAdapter(list[str])
WHAT = "a finding of a run"
NAMES = ("element_id", "labels", "text", "title", "key")


async def read_findings(
    db: Database,
    view: GraphView,
    element_id: str,
    *,
    sessions: Sequence[str] | None = None,
    limit: int = 20,
) -> tuple[NodeFinding, ...]:
    """Return findings that cite a node, those of the latest run first, marked if in doubt.

    Only those of some ``sessions`` count, None means all. Raises UnknownNodeError, and UsageError
    for a ``limit`` out of range.
    """
    check_limit(limit)
    rows = await db.read(
        queries.get("engine/browse/read_findings"),
        graph=view.name,
        node=element_id,
        labels=list(view.mapping.labels),
        text=view.mapping.text_properties,
        facts=view.mapping.facts,
        title=view.mapping.title_properties,
        key=view.mapping.key_properties,
        every=sessions is None,
        sessions=list(sessions or ()),
        limit=limit,
    )
    if not rows:
        raise unknown_node(view, element_id)
    node = node_text.node(rank=0, **{name: rows[0][name] for name in NAMES})
    return tuple(
        _finding(
            {name: value for name, value in finding.items() if name not in ("text", "doubts")},
            check_stored(_TEXT, finding["text"], WHAT, FIX),
            check_stored(_DOUBTS, finding["doubts"], WHAT, FIX),
            node,
        )
        for finding in rows[0]["findings"]
    )


def _finding(values: Row, text: str, doubts: list[str], node: Node) -> NodeFinding:
    values |= {"text": remark(text, doubts), "quotes": quotes_from(text, node)}
    return check_fields(NodeFinding, values, WHAT, FIX)
