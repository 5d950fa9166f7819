"""Everything that a page on an answer shows: the partitions around it, and the nodes it cites."""

from __future__ import annotations

from collections.abc import Iterable

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.export import Area, AreaState, Document, SourceNode
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model import Answer, Citation, GraphMapping, Partition, SweepStatus
from pgs_neo4j.partitioning import generation
from pgs_neo4j.runs import answers, session
from pgs_neo4j.runs.runs import StoredRun
from pgs_neo4j.runs.sweeps import cited_node

BATCH = 1000  # nodes read per statement

Place = tuple[int, int]  # a partition and a rank


async def document(
    db: Database, stored: StoredRun, answer: Answer, mapping: GraphMapping
) -> Document:
    """The answer of a run, what had been read by then, and the nodes it cites as they are now.

    Raises DatabaseError.
    """
    partitions = await generation.read_partitions(db, answer.generation)
    read = answers.nodes_read(stored)
    if read is None:  # the first releases did not store it: the map is of what is read by now
        now = await session.read_so_far(db, answer.graph, answer.session, answer.generation)
        read = now.counts
    return Document(
        answer=answer,
        asked_at=str(stored.properties.get("started_at") or ""),
        areas=tuple(_area(part, read.get(part.id, 0), answer) for part in partitions),
        sources=tuple(await _sources(db, answer, mapping)),
    )


def _area(part: Partition, nodes_read: int, answer: Answer) -> Area:
    tried = any(s.partition == part.id and s.status is SweepStatus.FAILED for s in answer.sweeps)
    if nodes_read >= part.size:
        state = AreaState.READ
    elif nodes_read:
        state = AreaState.PARTIAL
    else:
        state = AreaState.FAILED if tried else AreaState.UNREAD
    return Area(
        partition=part.id,
        nodes=part.size,
        nodes_read=nodes_read,
        state=state,
        pool=part.pool,
        keywords=part.keywords,
    )


async def _sources(db: Database, answer: Answer, mapping: GraphMapping) -> list[SourceNode]:
    if not answer.generation:
        return []  # nothing tells where its partitions were, so no node can be called gone
    cited = _cited(answer)
    places = sorted(cited)
    rows: dict[Place, Row] = {}
    for first in range(0, len(places), BATCH):
        batch = places[first : first + BATCH]
        found = await db.read(
            queries.get("runs/read_sources"),
            generation=answer.generation,
            partitions=[partition for partition, _ in batch],
            ranks=[rank for _, rank in batch],
            title=mapping.title or "",
            key=mapping.key or "",
            text=list(mapping.text),
        )
        rows |= {(row["partition"], row["rank"]): row for row in found}
    return [_source(place, rows.get(place), cited[place]) for place in places]


def _cited(answer: Answer) -> dict[Place, tuple[str, str]]:
    """Every node that the answer, a report, or a check names, with its key and title."""
    found: dict[Place, tuple[str, str]] = {}
    for citation in _citations(answer):
        if citation.valid and citation.rank is not None:
            named = (citation.node or "", citation.title or "")
            found.setdefault((citation.partition, citation.rank), named)
    for absence in answer.crosscheck.absences:
        for seen in absence.sightings:
            found.setdefault((seen.partition, seen.rank), (seen.node, seen.title))
    return found


def _citations(answer: Answer) -> Iterable[Citation]:
    yield from answer.synthesis.citations
    for sweep in answer.sweeps:
        yield from sweep.report.citations if sweep.report else ()
    for flag in answer.crosscheck.flags:
        yield from flag.citations
    for convergence in answer.crosscheck.convergences:
        yield from convergence.citations


def _source(place: Place, row: Row | None, named: tuple[str, str]) -> SourceNode:
    partition, rank = place
    if row is None:
        return SourceNode(
            partition=partition, alias=f"n{rank + 1}", key=named[0], title=named[1], text=None
        )
    node = cited_node(row)
    return SourceNode(
        partition=partition,
        alias=node.alias,
        key=node.key,
        title=node.title,
        text=node.text,
        labels=node.labels,
        changed=row["hash"] != text_hash(node.text),
    )
