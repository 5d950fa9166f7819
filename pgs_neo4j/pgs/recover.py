"""Reports that were paid for and reached no answer: their run failed or was interrupted.

The next ``continue`` or ``targeted`` run of the session takes them into its synthesis, since
it does not read their nodes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pgs_neo4j import node_text, queries
from pgs_neo4j.db import Database
from pgs_neo4j.model import (
    Absence,
    Citation,
    Finding,
    Flag,
    GraphMapping,
    Report,
    Sweep,
    SweepStatus,
)
from pgs_neo4j.pgs.session import uid


@dataclass(frozen=True, slots=True)
class Recovered:
    """A stored sweep as it was, and its key."""

    key: str
    sweep: Sweep


async def unsynthesized(
    db: Database, graph: str, session: str, run: str, generation: str, mapping: GraphMapping
) -> list[Recovered]:
    """Reports of the session's other runs on a generation that no synthesis has seen, by key."""
    rows = await db.read(
        queries.get("session/read_unsynthesized"),
        session=uid(graph, session),
        run=run,
        generation=generation,
        title=mapping.title or "",
        key=mapping.key or "",
        text=list(mapping.text),
    )
    return [Recovered(row["id"], _sweep(row, generation)) for row in rows]


def _sweep(row: dict[str, Any], generation: str) -> Sweep:
    stored, partition = row["sweep"], row["partition"]
    report = Report(
        partition=partition,
        domain_state=stored.get("domain_state") or "",
        findings=tuple(
            Finding(text=found["text"], citations=_citations(partition, found["cited"]))
            for found in _placed(row["findings"])
        ),
        flags=tuple(
            Flag(
                text=found["text"],
                # The partition of that number may be another one by now.
                target=found["target"] if row["current"] else None,
                citations=_citations(partition, found["cited"]),
            )
            for found in _placed(row["flags"])
        ),
        absences=tuple(Absence(text=found["text"]) for found in _placed(row["absences"])),
    )
    return Sweep(
        partition=partition,
        status=SweepStatus(stored["status"]),
        nodes=stored["nodes"],
        read=tuple(zip(stored["read_first"], stored["read_last"], strict=True)),
        passes=stored["passes"],
        passes_accepted=stored["passes_accepted"],
        report=report,
        errors=tuple(stored["errors"]),
        generation=generation,
    )


def _placed(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row["place"]))


def _citations(partition: int, cited: Sequence[dict[str, Any]]) -> tuple[Citation, ...]:
    found = []
    for row in sorted(cited, key=lambda row: int(row["rank"])):
        named = {
            name: row[name] for name in ("rank", "element_id", "labels", "text", "title", "key")
        }
        node = node_text.node(**named)
        found.append(
            Citation(
                alias=row["alias"],
                partition=partition,
                node=node.key,
                title=node.title,
                element_id=node.element_id,
                rank=node.rank,
            )
        )
    return tuple(found)
