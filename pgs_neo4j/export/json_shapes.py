"""The shape of each JSON document that is exported, from which its JSON schema is generated.

``json_text`` writes these documents. Names of fields never change, but fields may be added.
"""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from pgs_neo4j.export.document import Area
from pgs_neo4j.model import (
    AbsenceStatus,
    DoubtedSentence,
    Mode,
    Quote,
    Routing,
    Stated,
    StatementRows,
    SweepStatus,
    Usage,
)
from pgs_neo4j.model.crosscheck import Kinship
from pgs_neo4j.model.found import SearchMode


class CitationShape(TypedDict):
    """A citation; ``node`` is the key of the cited node, null if the citation is not valid."""

    partition: int
    alias: str
    node: str | None
    title: str | None
    valid: bool


class FindingShape(TypedDict):
    """A finding with its citations and quotations."""

    text: str
    supported: bool
    citations: list[CitationShape]
    quotes: list[Quote]
    doubts: list[str]


class FlagShape(TypedDict):
    """A flag of a report."""

    text: str
    target: int | None
    citations: list[CitationShape]


class ReportShape(TypedDict):
    """The report of a sweep."""

    domain_state: str
    findings: list[FindingShape]
    flags: list[FlagShape]
    absences: list[str]
    struck: list[DoubtedSentence]


class SweepShape(TypedDict):
    """A sweep with its report, null without one. ``read`` has half-open ranges of ranks."""

    partition: int
    keywords: list[str]
    label: str
    titles: list[str]
    status: SweepStatus
    wave: int
    nodes: int
    nodes_read: int
    texts_read: int
    nodes_unproven: int
    read: list[tuple[int, int]]
    passes: int
    passes_accepted: int
    report: ReportShape | None
    errors: list[str]
    usage: Usage
    seconds: float
    generation: str
    run: str


class SightingShape(TypedDict):
    """A node that contains what was reported missing."""

    partition: int
    alias: str
    node: str
    title: str
    read: bool


class AbsenceShape(TypedDict):
    """An absence and the result of the search for it."""

    text: str
    status: AbsenceStatus
    partitions: list[int]
    reported: list[Stated]
    terms: list[str]
    searched: int
    texts: int | None
    method: str
    count: int
    sightings: list[SightingShape]


class ChasedFlagShape(TypedDict):
    """A flag, and its target's statements about the same thing."""

    source: int
    target: int | None
    place: int
    text: str
    swept: bool
    opportunity: bool
    citations: list[CitationShape]
    answers: list[Stated]
    absent: Stated | None


class ConvergenceShape(TypedDict):
    """Findings of different partitions that say the same or cite connected nodes."""

    kind: Kinship
    partitions: list[int]
    findings: list[Stated]
    citations: list[CitationShape]


class ChecksShape(TypedDict):
    """What the checks counted."""

    findings: int
    unsupported_findings: int
    misquotes: int
    invalid_citations: int
    doubted_sentences: int
    struck_sentences: int


class CoverageShape(TypedDict):
    """The amount that was read; ``fraction`` is the share of the texts, 0 to 1."""

    partitions_swept: int
    partitions_total: int
    nodes_read: int
    nodes_total: int
    texts_read: int | None
    texts_total: int | None
    nodes_unproven: int
    fraction: float


class ShownShape(TypedDict):
    """The nodes and relationships that the prompt of an answer from a search showed."""

    nodes: list[CitationShape]
    relationships: list[CitationShape]
    nodes_total: int
    tokens: int
    findings: list[FindingShape]
    reason: str
    rows: StatementRows | None


class SourceShape(TypedDict):
    """A cited node in its current state; ``text`` is null if the node is gone."""

    partition: int
    alias: str
    key: str
    title: str
    text: str | None
    labels: list[str]
    changed: bool
    gone: bool


class AnswerShape(TypedDict):
    """An answer. ``shown`` exists only for an answer from a search."""

    question: str
    graph: str
    session: str
    run: str
    mode: Mode | SearchMode
    model: str
    generation: str
    partial: bool
    stopped: str
    answer: str
    complete: bool
    proven: bool
    reductions: int
    thesis: str
    connections: list[str]
    absences: list[str]
    convergences: list[str]
    citations: list[CitationShape]
    checks: ChecksShape
    in_doubt: list[DoubtedSentence]
    struck: list[DoubtedSentence]
    checked_absences: list[AbsenceShape]
    flags: list[ChasedFlagShape]
    converging_findings: list[ConvergenceShape]
    sweeps: list[SweepShape]
    routing: Routing
    coverage: CoverageShape
    own_coverage: CoverageShape
    usage: Usage
    synthesis_usage: Usage
    cost: float | None
    contexts: dict[str, str]
    seconds: dict[str, float]
    warnings: list[str]
    shown: NotRequired[ShownShape]


class DocumentShape(AnswerShape):
    """An answer with the partitions of its generation and its sources, as HTTP returns it."""

    asked_at: str
    areas: list[Area]
    sources: list[SourceShape]


class RunShape(DocumentShape):
    """A run with its answer, as ``pgs export`` and ``pgs show --json`` write it."""

    status: str
    finished_at: str | None
    error: str | None
    outcome: str | None


class FoundNodeShape(TypedDict):
    """A node that a search found."""

    alias: str
    node: str
    title: str


class SearchShape(TypedDict):
    """The result of the search before a question, best node first."""

    answer: str
    method: str
    nodes: list[FoundNodeShape]
    citations: list[CitationShape]
    struck: list[DoubtedSentence]


class AskedShape(AnswerShape):
    """What ``pgs ask --json`` prints; ``search`` is null unless a search came before."""

    search: SearchShape | None


SHAPES = {"run": RunShape, "document": DocumentShape, "asked": AskedShape}
"""The documents, by the names of their schemas."""
