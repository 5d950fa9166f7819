"""Rows that store an answer, of a run or of a search, as nodes and links for queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model import Answer, Citation, Crosscheck, FoundFact, FoundItem
from pgs_neo4j.pgs.runs.keys import (
    absence_id,
    checked_convergence_id,
    claim_id,
    connection_id,
    finding_id,
    stated_convergence_id,
    thesis_id,
)
from pgs_neo4j.pgs.runs.runs import Handle, write_as_holder
from pgs_neo4j.pgs.runs.sweep_rows import FindingRow, finding_row
from pgs_neo4j.text.citations import resolve_qualified


class ThesisRow(TypedDict):
    """The node of a thesis."""

    id: str
    text: str


class StatementRow(TypedDict):
    """The node of a connection; ``place`` counts from 0."""

    id: str
    text: str
    place: int


class ConvergenceRow(StatementRow):
    """The node of a convergence; ``kind`` is ``synthesis``, ``words``, or ``neighbors``."""

    kind: str


class JoinRow(TypedDict):
    """A link from a convergence to a finding, by their ids."""

    id: str
    finding: str


class AbsenceRow(TypedDict):
    """The result of checking a recorded absence.

    ``partitions`` counts the partitions that report it.
    """

    id: str
    status: str
    terms: list[str]
    searched: int
    method: str
    count: int
    partitions: int
    texts: int | None


class CitationRow(TypedDict):
    """A link from a statement to the node that it cites."""

    id: str
    partition: int
    alias: str
    rank: int | None


class SightingRow(TypedDict):
    """A link from an absence to a node that contains its words."""

    id: str
    partition: int
    rank: int


class AnswerRows(TypedDict):
    """Parameters of ``runs/write_answers`` that describe the answer."""

    generation: str
    thesis: ThesisRow
    connections: list[StatementRow]
    convergences: list[ConvergenceRow]
    joins: list[JoinRow]
    absences: list[AbsenceRow]
    citations: list[CitationRow]
    sightings: list[SightingRow]


def answer_rows(answer: Answer) -> AnswerRows:
    """Return the rows of an answer's nodes and links.

    The id of a bullet begins with the id of the run that made its report, which may be an earlier
    run.
    """
    run, synthesis, crosscheck = answer.run, answer.synthesis, answer.crosscheck
    connections: list[StatementRow] = [
        {"id": connection_id(run, place), "text": text, "place": place}
        for place, text in enumerate(synthesis.connections)
    ]
    claimed: list[ConvergenceRow] = [
        {"id": stated_convergence_id(run, place), "text": text, "place": place, "kind": "synthesis"}
        for place, text in enumerate(synthesis.convergences)
    ]
    thesis: ThesisRow = {"id": thesis_id(run), "text": synthesis.thesis}
    statements = [(thesis["id"], synthesis.text)]
    statements += [(row["id"], row["text"]) for row in (*connections, *claimed)]
    return {
        "generation": answer.generation,
        "thesis": thesis,
        "connections": connections,
        "convergences": [*claimed, *_checked_convergence_rows(run, crosscheck)],
        "joins": _join_rows(run, crosscheck),
        "absences": _absence_rows(run, crosscheck),
        "citations": [
            *_synthesis_citation_rows(statements, synthesis.citations),
            *_convergence_citation_rows(run, crosscheck),
        ],
        "sightings": _sighting_rows(run, crosscheck),
    }


def _checked_convergence_rows(run: str, crosscheck: Crosscheck) -> list[ConvergenceRow]:
    """Return rows of the convergences that the crosscheck found."""
    return [
        {
            "id": checked_convergence_id(run, place),
            "text": "\n".join(f"P{stated.partition}: {stated.text}" for stated in met.findings),
            "place": place,
            "kind": met.kind,
        }
        for place, met in enumerate(crosscheck.convergences)
    ]


def _join_rows(run: str, crosscheck: Crosscheck) -> list[JoinRow]:
    return [
        {
            "id": checked_convergence_id(run, place),
            "finding": finding_id(stated.run or run, stated.partition, stated.place),
        }
        for place, met in enumerate(crosscheck.convergences)
        for stated in met.findings
    ]


def _absence_rows(run: str, crosscheck: Crosscheck) -> list[AbsenceRow]:
    return [
        {
            "id": absence_id(stated.run or run, stated.partition, stated.place),
            "status": str(absence.status),
            "terms": list(absence.terms),
            "searched": absence.searched,
            "method": absence.method,
            "count": absence.count,
            "partitions": len(absence.partitions),
            "texts": absence.texts,
        }
        for absence in crosscheck.absences
        for stated in absence.reported
    ]


def _sighting_rows(run: str, crosscheck: Crosscheck) -> list[SightingRow]:
    return [
        {
            "id": absence_id(stated.run or run, stated.partition, stated.place),
            "partition": sighting.partition,
            "rank": sighting.rank,
        }
        for absence in crosscheck.absences
        for stated in absence.reported
        for sighting in absence.sightings
    ]


def _synthesis_citation_rows(
    statements: Sequence[tuple[str, str]], citations: Sequence[Citation]
) -> Iterator[CitationRow]:
    """Yield a row for each valid citation of each statement, given as pairs of id and text."""
    valid = {(cited.partition, cited.alias): cited for cited in citations if cited.valid}
    for statement_id, text in statements:
        for citation in resolve_qualified(text, valid):
            if citation.valid:
                yield _citation_row(statement_id, citation)


def _convergence_citation_rows(run: str, crosscheck: Crosscheck) -> Iterator[CitationRow]:
    for place, met in enumerate(crosscheck.convergences):
        for citation in met.citations:
            yield _citation_row(checked_convergence_id(run, place), citation)


def _citation_row(statement_id: str, citation: Citation) -> CitationRow:
    return {
        "id": statement_id,
        "partition": citation.partition,
        "alias": citation.alias,
        "rank": citation.rank,
    }


class ShownNodeRow(TypedDict):
    """A node that a prompt showed; ``hash`` is the hash of its text.

    If the element id belongs to another node by now, ``key`` differs.
    """

    element_id: str
    key: str
    place: int
    hash: int


class ShownRelationshipRow(TypedDict):
    """A relationship that a prompt showed, by the element ids of its ends."""

    source: str
    target: str
    type: str
    place: int


class ClaimCitationRow(TypedDict):
    """A link from a statement to the node that it cites."""

    id: str
    element_id: str
    alias: str
    rank: int


class SearchAnswerRows(TypedDict):
    """Parameters of ``runs/write_search_answers`` that describe the answer."""

    thesis: ThesisRow
    findings: list[FindingRow]
    citations: list[ClaimCitationRow]
    nodes: list[ShownNodeRow]
    relationships: list[ShownRelationshipRow]


async def write_search_answer(
    db: Database,
    handle: Handle,
    answer: Answer,
    nodes: Mapping[str, FoundItem],
    facts: Mapping[str, FoundFact],
) -> None:
    """Write the claims of an answer, and the nodes and relationships of its prompt, by alias.

    Raises RunLostError when the run was deleted or taken over by another process.
    """
    rows = search_answer_rows(answer, nodes, facts)
    await write_as_holder(db, handle, queries.get("pgs/runs/write_search_answers"), **rows)


def search_answer_rows(
    answer: Answer, nodes: Mapping[str, FoundItem], facts: Mapping[str, FoundFact]
) -> SearchAnswerRows:
    """Return the rows of an answer's nodes and links."""
    run, claims = answer.run, answer.shown.findings if answer.shown else ()
    thesis: ThesisRow = {"id": thesis_id(run), "text": answer.synthesis.thesis}
    return {
        "thesis": thesis,
        "findings": [
            finding_row(claim_id(run, place), place, claim) for place, claim in enumerate(claims)
        ],
        "citations": [
            *_claim_citation_rows(thesis["id"], answer.synthesis.citations),
            *(
                row
                for place, claim in enumerate(claims)
                for row in _claim_citation_rows(claim_id(run, place), claim.citations)
            ),
        ],
        "nodes": [
            {
                "element_id": item.id,
                "key": item.key,
                "place": int(alias[1:]) - 1,
                "hash": text_hash(item.text),
            }
            for alias, item in nodes.items()
        ],
        "relationships": [
            {
                "source": fact.source,
                "target": fact.target,
                "type": fact.type,
                "place": int(alias[1:]) - 1,
            }
            for alias, fact in facts.items()
        ],
    }


def _claim_citation_rows(
    statement: str, citations: tuple[Citation, ...]
) -> Iterator[ClaimCitationRow]:
    """Yield a row for each valid citation of a node; citations of relationships are not stored."""
    for cited in citations:
        if cited.valid and cited.element_id and cited.rank is not None:
            yield {
                "id": statement,
                "element_id": cited.element_id,
                "alias": cited.alias,
                "rank": cited.rank,
            }
