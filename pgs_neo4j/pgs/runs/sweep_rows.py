"""Rows that store a sweep: its node, its bullets, and their links to cited nodes.

Citations and quotations are stored as JSON together with the results of their checks. They are
checked only once, when the reply arrives, because the graph may change later: a citation of a
deleted node would then look invalid, and a quotation of an edited node would look wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypedDict

from pydantic import TypeAdapter

from pgs_neo4j.database.stored_data import FIX, parse_stored
from pgs_neo4j.model import Citation, Finding, Flag, Quote, Report, Sweep
from pgs_neo4j.pgs.runs import keys

CITATIONS = TypeAdapter(tuple[Citation, ...])
QUOTES = TypeAdapter(tuple[Quote, ...])
Name = tuple[int, str]
"""A cited node: partition id and alias."""


class SweepNodeRow(TypedDict):
    """The node of a sweep.

    The ranks that were read are half-open ranges from ``read_first`` to ``read_last``, and the
    ranks that were shown without proof are ranges from ``unproven_first`` to ``unproven_last``.
    ``without_text`` lists single ranks. ``struck`` are the texts that were struck, with their
    ``struck_reasons`` in the same order. ``usage`` is JSON.
    """

    id: str
    partition: int
    status: str
    nodes: int
    nodes_read: int
    read_first: list[int]
    read_last: list[int]
    without_text: list[int]
    nodes_unproven: int
    unproven_first: list[int]
    unproven_last: list[int]
    passes: int
    passes_accepted: int
    domain_state: str | None
    wave: int
    struck: list[str]
    struck_reasons: list[str]
    errors: list[str]
    usage: str
    seconds: float


class BulletRow(TypedDict):
    """The node of a bullet; ``place`` counts from 0 within its section."""

    id: str
    text: str
    place: int


class FindingRow(BulletRow):
    """The node of a finding; ``citations`` and ``quotes`` are JSON, ``doubts`` are plain texts."""

    supported: bool
    misquoted: int
    citations: str
    quotes: str
    doubts: list[str]


class FlagRow(BulletRow):
    """The node of a flag.

    ``target`` is a partition id; ``citations`` is JSON.
    """

    target: int | None
    citations: str


class BulletCitationRow(TypedDict):
    """A link from a bullet to a cited node, given by its rank in the swept partition."""

    id: str
    rank: int | None
    alias: str


class SweepRows(TypedDict):
    """Parameters of ``runs/write_sweeps`` that describe the sweep."""

    sweep: SweepNodeRow
    findings: list[FindingRow]
    flags: list[FlagRow]
    absences: list[BulletRow]
    citations: list[BulletCitationRow]


def sweep_rows(run_id: str, sweep: Sweep) -> SweepRows:
    """Return the rows of a sweep: its node, its bullets, and their valid citations."""
    partition_id = sweep.partition
    report = sweep.report or Report(partition=partition_id)
    findings = [
        finding_row(keys.finding_id(run_id, partition_id, place), place, finding)
        for place, finding in enumerate(report.findings)
    ]
    flags = [
        _flag_row(keys.flag_id(run_id, partition_id, place), place, flag)
        for place, flag in enumerate(report.flags)
    ]
    absences: list[BulletRow] = [
        {"id": keys.absence_id(run_id, partition_id, place), "text": absence.text, "place": place}
        for place, absence in enumerate(report.absences)
    ]
    cited = [
        (row["id"], finding.citations)
        for row, finding in zip(findings, report.findings, strict=True)
    ]
    cited += [(row["id"], flag.citations) for row, flag in zip(flags, report.flags, strict=True)]
    return {
        "sweep": _sweep_row(keys.sweep_id(run_id, partition_id), sweep),
        "findings": findings,
        "flags": flags,
        "absences": absences,
        "citations": [
            _bullet_citation_row(bullet_id, citation)
            for bullet_id, citations in cited
            for citation in citations
            if citation.valid
        ],
    }


def finding_row(finding_id: str, place: int, finding: Finding) -> FindingRow:
    """Return the row of a finding; ``place`` is its place in its report or answer, from 0."""
    return {
        "id": finding_id,
        "text": finding.text,
        "place": place,
        "supported": finding.supported,
        "misquoted": sum(not quote.found for quote in finding.quotes),
        "citations": citations_json(finding.citations),
        "quotes": quotes_json(finding.quotes),
        "doubts": list(finding.doubts),
    }


def _flag_row(flag_id: str, place: int, flag: Flag) -> FlagRow:
    return {
        "id": flag_id,
        "text": flag.text,
        "place": place,
        "target": flag.target,
        "citations": citations_json(flag.citations),
    }


def _sweep_row(sweep_id: str, sweep: Sweep) -> SweepNodeRow:
    return {
        "id": sweep_id,
        "partition": sweep.partition,
        "status": str(sweep.status),
        "nodes": sweep.nodes,
        "nodes_read": sweep.nodes_read,
        "read_first": [first for first, _ in sweep.read],
        "read_last": [last for _, last in sweep.read],
        "without_text": list(sweep.without_text),
        "nodes_unproven": sweep.nodes_unproven,
        "unproven_first": [first for first, _ in sweep.unproven],
        "unproven_last": [last for _, last in sweep.unproven],
        "passes": sweep.passes,
        "passes_accepted": sweep.passes_accepted,
        "domain_state": sweep.report.domain_state if sweep.report else None,
        "struck": [one.text for one in sweep.report.struck] if sweep.report else [],
        "struck_reasons": [one.reason for one in sweep.report.struck] if sweep.report else [],
        "wave": sweep.wave,
        "errors": list(sweep.errors),
        "usage": json.dumps(
            {
                "calls": sweep.usage.calls,
                "input_tokens": sweep.usage.input_tokens,
                "output_tokens": sweep.usage.output_tokens,
                "cached": sweep.usage.cached,
                "cache_read_tokens": sweep.usage.cache_read_tokens,
                "cache_write_tokens": sweep.usage.cache_write_tokens,
                "estimated": sweep.usage.estimated,
            }
        ),
        "seconds": sweep.seconds,
    }


def _bullet_citation_row(bullet_id: str, citation: Citation) -> BulletCitationRow:
    return {"id": bullet_id, "rank": citation.rank, "alias": citation.alias}


def citations_json(citations: tuple[Citation, ...]) -> str:
    """Return citations as JSON, without element ids, because these may change."""
    stored = CITATIONS.dump_json(
        citations, exclude={"__all__": {"element_id"}}, exclude_defaults=True
    )
    return stored.decode()


def quotes_json(quotes: tuple[Quote, ...]) -> str:
    """Return quotations as JSON."""
    return QUOTES.dump_json(quotes).decode()


def parse_citations(stored: str, element_ids: Mapping[Name, str]) -> tuple[Citation, ...]:
    """Parse stored citations, and give them the current element ids of their nodes.

    ``element_ids`` has the nodes that are still in the graph. Raises StoredDataError.
    """
    citations = parse_stored(CITATIONS, stored, "a list of citations", FIX)
    return locate_citations(citations, element_ids)


def parse_quotes(stored: str) -> tuple[Quote, ...]:
    """Parse stored quotations. Raises StoredDataError."""
    return parse_stored(QUOTES, stored, "a list of quotations", FIX)


def locate_citations(
    citations: Iterable[Citation], element_ids: Mapping[Name, str]
) -> tuple[Citation, ...]:
    """Return citations with the current element ids of their nodes.

    The id is None if the node is no longer in the graph, or if the citation is invalid.
    """
    return tuple(
        replace(
            citation,
            element_id=element_ids.get((citation.partition, citation.alias))
            if citation.valid
            else None,
        )
        for citation in citations
    )
