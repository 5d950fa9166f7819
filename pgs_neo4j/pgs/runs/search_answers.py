"""Answers from searches in the database: their claims, and what their prompts showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypedDict

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model import Answer, Citation, Finding, FoundFact, FoundItem
from pgs_neo4j.pgs.runs.answer_rows import ThesisRow
from pgs_neo4j.pgs.runs.keys import claim_id, thesis_id
from pgs_neo4j.pgs.runs.runs import Handle, write_as_holder
from pgs_neo4j.pgs.runs.sweep_rows import FindingRow
from pgs_neo4j.pgs.runs.verdicts import citations_json, quotes_json


class ShownNodeRow(TypedDict):
    """A node that a prompt showed; ``hash`` is of its text, and ``key`` tells it from others."""

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


async def write(
    db: Database,
    handle: Handle,
    answer: Answer,
    nodes: Mapping[str, FoundItem],
    facts: Mapping[str, FoundFact],
) -> None:
    """Write the claims of an answer, and what its prompt showed by alias.

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
        "findings": [_finding(run, place, claim) for place, claim in enumerate(claims)],
        "citations": [
            *_citations(thesis["id"], answer.synthesis.citations),
            *(
                row
                for place, claim in enumerate(claims)
                for row in _citations(claim_id(run, place), claim.citations)
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


def _finding(run: str, place: int, claim: Finding) -> FindingRow:
    return {
        "id": claim_id(run, place),
        "text": claim.text,
        "place": place,
        "supported": claim.supported,
        "misquoted": sum(not quote.found for quote in claim.quotes),
        "citations": citations_json(claim.citations),
        "quotes": quotes_json(claim.quotes),
        "doubts": list(claim.doubts),
    }


def _citations(statement: str, citations: tuple[Citation, ...]) -> Iterator[ClaimCitationRow]:
    """Yield the links to nodes; relationships have none of their own."""
    for cited in citations:
        if cited.valid and cited.element_id and cited.rank is not None:
            yield {
                "id": statement,
                "element_id": cited.element_id,
                "alias": cited.alias,
                "rank": cited.rank,
            }
