"""Reads an answer with its partitions and cited nodes, as a document to export."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict, cast

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.export import Area, AreaState, Document, SourceNode
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model import Answer, Citation, GraphMapping, Partition, SweepStatus
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.runs.answers import read_details
from pgs_neo4j.pgs.runs.runs import StoredRun
from pgs_neo4j.text import node_text

BATCH = 1000  # nodes that one statement reads

Place = tuple[int, int]  # partition id and rank


class SourceRow(TypedDict):
    """A row of ``read_sources`` or ``read_shown``: a node as it is now.

    ``title`` and ``key`` are None and ``text`` is empty if the mapping names no property for them.
    ``hash`` is the hash of the text that was read.
    """

    partition: int
    rank: int
    hash: int
    element_id: str
    labels: list[str]
    title: object
    key: object
    text: list[object]


async def read_document(
    db: Database, stored: StoredRun, answer: Answer, mapping: GraphMapping
) -> Document:
    """Return an answer with its partitions and cited nodes, for export.

    Coverage is as of the answer, while cited nodes are as they are now. Raises DatabaseError.
    """
    partitions = await generation.read_partitions(db, answer.generation)
    details = read_details(stored.properties["details"])
    read, texts, unproven = details.nodes_read, details.texts_read, details.nodes_unproven
    return Document(
        answer=answer,
        asked_at=str(stored.properties["started_at"]),
        areas=tuple(
            make_area(
                part, read.get(part.id, 0), texts.get(part.id, 0), unproven.get(part.id, 0), answer
            )
            for part in partitions
        ),
        sources=tuple(await _read_sources(db, answer, mapping)),
    )


def make_area(
    part: Partition, nodes_read: int, texts_read: int, nodes_unproven: int, answer: Answer
) -> Area:
    """Return a partition with its coverage in the session at the time of an answer."""
    failed = any(s.partition == part.id and s.status is SweepStatus.FAILED for s in answer.sweeps)
    if nodes_read >= part.size:
        state = AreaState.READ
    elif nodes_read:
        state = AreaState.PARTIAL
    elif nodes_unproven:
        state = AreaState.UNPROVEN
    else:
        state = AreaState.FAILED if failed else AreaState.UNREAD
    return Area(
        partition=part.id,
        nodes=part.size,
        nodes_read=nodes_read,
        state=state,
        pool=part.pool,
        keywords=part.keywords,
        label=part.label,
        terms=part.terms,
        titles=part.titles,
        abstract=part.abstract,
        texts=part.texts,
        texts_read=texts_read,
        nodes_unproven=nodes_unproven,
    )


async def _read_sources(db: Database, answer: Answer, mapping: GraphMapping) -> list[SourceNode]:
    cited = _name_cited_nodes(answer)
    rows = await _read_shown(db, answer, mapping)
    places = sorted(place for place in cited if place[0])
    if not answer.generation:
        # The partitions were deleted, so their nodes cannot be read, and must not be called
        # missing.
        cited = {place: name for place, name in cited.items() if not place[0]}
        places = []
    for first in range(0, len(places), BATCH):
        batch = places[first : first + BATCH]
        batch_rows = await db.read(
            queries.get("pgs/runs/read_sources"),
            generation=answer.generation,
            partitions=[partition for partition, _ in batch],
            ranks=[rank for _, rank in batch],
            title=mapping.title_properties,
            key=mapping.key_properties,
            text=mapping.text_properties,
            facts=mapping.facts,
        )
        for row in cast("list[SourceRow]", batch_rows):
            rows[row["partition"], row["rank"]] = row
    return [_make_source(place, rows.get(place), cited[place]) for place in sorted(cited)]


async def _read_shown(
    db: Database, answer: Answer, mapping: GraphMapping
) -> dict[Place, SourceRow]:
    """Read the nodes that the prompt of an answer from a search showed; empty for a run."""
    if answer.shown is None:
        return {}
    rows = await db.read(
        queries.get("pgs/runs/read_shown"),
        run=answer.run,
        title=mapping.title_properties,
        key=mapping.key_properties,
        text=mapping.text_properties,
        facts=mapping.facts,
    )
    return {(row["partition"], row["rank"]): row for row in cast("list[SourceRow]", rows)}


def _name_cited_nodes(answer: Answer) -> dict[Place, tuple[str, str]]:
    """Return key and title of each node cited in the answer, its reports, or its checks."""
    nodes: dict[Place, tuple[str, str]] = {}
    for citation in _iterate_citations(answer):
        if citation.valid and citation.rank is not None:
            name = (citation.node or "", citation.title or "")
            nodes.setdefault((citation.partition, citation.rank), name)
    for absence in answer.crosscheck.absences:
        for sighting in absence.sightings:
            place = (sighting.partition, sighting.rank)
            nodes.setdefault(place, (sighting.node, sighting.title))
    return nodes


def _iterate_citations(answer: Answer) -> Iterable[Citation]:
    yield from answer.synthesis.citations
    for finding in answer.shown.findings if answer.shown else ():
        yield from finding.citations
    for sweep in answer.sweeps:
        yield from sweep.report.citations if sweep.report else ()
    for flag in answer.crosscheck.flags:
        yield from flag.citations
    for convergence in answer.crosscheck.convergences:
        yield from convergence.citations


def _make_source(place: Place, row: SourceRow | None, name: tuple[str, str]) -> SourceNode:
    """Return a cited node; ``name`` is its key and title when it was cited.

    Without a ``row``, the node was deleted, and its text is None.
    """
    partition, rank = place
    key, title = name
    if row is None:
        return SourceNode(
            partition=partition, alias=f"n{rank + 1}", key=key, title=title, text=None
        )
    node = node_text.node(
        rank=row["rank"],
        element_id=row["element_id"],
        labels=row["labels"],
        text=row["text"],
        title=row["title"],
        key=row["key"],
    )
    return SourceNode(
        partition=partition,
        alias=node.alias,
        key=node.key,
        title=node.title,
        text=node.text,
        labels=node.labels,
        changed=row["hash"] != text_hash(node.text),
    )
