"""Returns findings about a question as items, for libraries that retrieve documents."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgs_neo4j.config import Knobs
from pgs_neo4j.engine import PGS, Request
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import Answer, Citation, Finding, Mode
from pgs_neo4j.pgs.runs.session import DEFAULT
from pgs_neo4j.text.citations import name_of
from pgs_neo4j.text.json_data import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingQuery:
    """How to get findings: ask a question, or read a stored ``run`` without calling a model.

    ``top_k`` is the maximum number of items to return; None returns all. ``knobs`` set limits and
    other options.
    """

    graph: str | None = None
    run: str | None = None
    mode: Mode = "full"
    session: str = DEFAULT
    full_sweep: bool = False
    top_k: int | None = None
    knobs: Knobs = field(default_factory=Knobs)


@dataclass(frozen=True, slots=True)
class FindingItem:
    """One finding: its text, and where it comes from."""

    content: str
    metadata: Json


@dataclass(frozen=True, slots=True)
class FindingList:
    """The findings of an answer; findings with a valid citation come first."""

    answer: Answer
    items: tuple[FindingItem, ...]

    @property
    def metadata(self) -> Json:
        """Facts about the whole answer."""
        answer = self.answer
        return {
            "run": answer.run,
            "graph": answer.graph,
            "answer": answer.text,
            "partial": answer.partial,
            "nodes_read": answer.coverage.nodes_read,
            "nodes_unproven": answer.coverage.nodes_unproven,
            "nodes_total": answer.coverage.nodes_total,
            "own_nodes_read": answer.own_coverage.nodes_read,
            "cost": answer.cost,
            "warnings": list(answer.warnings),
        }


async def find_findings(pgs: PGS, question: str, query: FindingQuery) -> FindingList:
    """Return the findings of a question, or of a stored run if the query names one.

    With a stored run, ``question`` is ignored. Raises UsageError for a ``top_k`` below 1, and what
    ``PGS.execute`` and ``pgs.runs.answer`` raise.
    """
    if query.top_k is not None and query.top_k < 1:
        raise UsageError(f"top_k is {query.top_k}; ask for 1 or more")
    if query.run is not None:
        answer = await pgs.runs.answer(query.run)
    else:
        request = Request(
            question,
            graph=query.graph,
            mode=query.mode,
            session=query.session,
            full_sweep=query.full_sweep,
            knobs=query.knobs,
        )
        answer = await pgs.execute(request)
    return FindingList(answer, tuple(_list_items(answer))[: query.top_k])


def _list_items(answer: Answer) -> list[FindingItem]:
    ranked: list[tuple[int | None, Finding]] = [
        (sweep.partition, finding)
        for sweep in answer.sweeps
        if sweep.report is not None
        for finding in sweep.report.findings
    ]
    if answer.shown is not None:
        ranked += [(None, finding) for finding in answer.shown.findings]
    ranked.sort(key=lambda item: not item[1].supported)
    return [_make_item(answer, partition, finding) for partition, finding in ranked]


def _make_item(answer: Answer, partition: int | None, finding: Finding) -> FindingItem:
    metadata: Json = {
        "run": answer.run,
        "graph": answer.graph,
        "partition": partition,
        "supported": finding.supported,
        "citations": [_describe_citation(citation) for citation in finding.citations],
        "quotes": [{"text": quote.text, "found": quote.found} for quote in finding.quotes],
        "doubts": list(finding.doubts),
    }
    return FindingItem(finding.text, metadata)


def _describe_citation(citation: Citation) -> Json:
    return {
        "name": name_of(citation.partition, citation.alias),
        "node": citation.node,
        "title": citation.title,
        "element_id": citation.element_id,
        "valid": citation.valid,
    }
