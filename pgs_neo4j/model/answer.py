"""The result of a run: routing, coverage, synthesis, answer, and feedback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from pgs_neo4j.model.crosscheck import Crosscheck
from pgs_neo4j.model.found import SearchMode
from pgs_neo4j.model.notebook import render
from pgs_neo4j.model.report import (
    Citation,
    DoubtedSentence,
    Finding,
    Report,
    Sweep,
    SweepStatus,
    Usage,
)
from pgs_neo4j.model.statement_rows import StatementRows

Mode = Literal["full", "continue", "targeted"]
Outcome = Literal["accepted", "rework", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One chosen partition.

    ``similarity`` is a cosine, None if centroids did not decide. ``evidence`` counts its nodes
    among the nodes that match the question best. ``matches`` are the ranks of the best of these
    nodes, best first.
    """

    partition: int
    similarity: float | None
    reason: str
    evidence: int = 0
    matches: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The routes of one question, best first, and how they were chosen.

    ``considered`` counts the candidate partitions. ``broad``: the question concerns the whole
    graph. ``fallback``: no partition reached the threshold, so the best ones were chosen.
    ``unmatched``: nothing in the graph matches the question. ``note`` is a remark for people.
    """

    routes: tuple[Route, ...]
    considered: int
    best_similarity: float | None = None
    broad: bool = False
    fallback: bool = False
    note: str = ""
    unmatched: bool = False

    def _repr_html_(self) -> str:
        """Return the routing as an HTML fragment for notebooks."""
        return render(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What a session, or an answer, has read of a generation.

    ``partitions_swept`` counts the partitions that were read completely. ``texts_total`` counts the
    nodes with text, and ``texts_read`` how many of these were read with their text. Both are None
    for an answer from a search in a graph without partitions. ``nodes_unproven`` counts nodes that
    were shown without proof that the model was given all of them; they count neither as read nor as
    unread.
    """

    partitions_swept: int
    partitions_total: int
    nodes_read: int
    nodes_total: int
    texts_read: int | None = None
    texts_total: int | None = None
    nodes_unproven: int = 0

    @property
    def fraction(self) -> float:
        """Share of the graph's texts that were read, 0 to 1; 0 without any text."""
        return (self.texts_read or 0) / self.texts_total if self.texts_total else 0.0

    @property
    def exhausted(self) -> bool:
        """Whether the session has read every node of the graph."""
        return self.nodes_read >= self.nodes_total

    def _repr_html_(self) -> str:
        """Return the coverage as an HTML fragment for notebooks."""
        return render(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """The synthesis text and its parsed sections.

    ``reductions`` counts the model calls that condensed reports first; it is 0 if all reports fit
    into one prompt. An empty text that is not ``complete`` means that there is no synthesis.
    ``judged``: its bullets on absences include the results of their checks. ``in_doubt`` are the
    sentences that are marked in the text. ``struck`` are the sentences that were removed from the
    text, from the findings of an answer from a search, and from reports of earlier runs without
    strict checks. ``proven``: it is certain that the model was given the whole prompt.
    """

    text: str
    thesis: str = ""
    connections: tuple[str, ...] = ()
    absences: tuple[str, ...] = ()
    convergences: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    complete: bool = True
    reductions: int = 0
    judged: bool = False
    in_doubt: tuple[DoubtedSentence, ...] = ()
    struck: tuple[DoubtedSentence, ...] = ()
    proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The contents of the prompt of an answer from a search, and the findings of the answer.

    ``nodes`` and ``relationships`` are in the order of the prompt, in the form of citations.
    ``nodes_total`` counts the nodes of the graph. ``tokens`` is the estimated length of the
    contents. ``reason`` says why the search chose its mode; it is empty if the caller chose it.
    ``rows`` are what a Cypher statement read; None in all modes but ``cypher``.
    """

    nodes: tuple[Citation, ...]
    relationships: tuple[Citation, ...]
    nodes_total: int
    tokens: int
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    rows: StatementRows | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of one run.

    ``coverage`` is the session's coverage when the run ended, and ``own_coverage`` covers what was
    read for this answer alone. ``stopped`` names the limit that ended the run early; it is empty if
    none did. ``cost`` is in the unit of the configured prices, None if a model has no price.
    ``seconds`` are by phase. ``contexts`` pairs the name of each model behind an endpoint with its
    context, in words.

    An answer from a search has no sweeps. It rests on the contents of ``shown``, and ``routing``
    has the partitions that a run with the same question would sweep.
    """

    question: str
    graph: str
    session: str
    run: str
    mode: Mode | SearchMode
    model: str
    synthesis: Synthesis
    routing: Routing
    sweeps: tuple[Sweep, ...]
    coverage: Coverage
    own_coverage: Coverage
    usage: Usage
    seconds: dict[str, float]
    warnings: tuple[str, ...] = ()
    crosscheck: Crosscheck = field(default_factory=Crosscheck)
    generation: str = ""
    stopped: str = ""
    cost: float | None = None
    shown: Shown | None = None
    contexts: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The model's answer in Markdown, with the results of checking its absences."""
        return self.synthesis.text

    @property
    def in_doubt(self) -> tuple[DoubtedSentence, ...]:
        """The sentences in doubt: first from the answer, then from its reports.

        Within a report, findings come before the Domain State and flags.
        """
        reports = [sweep.report for sweep in self.sweeps if sweep.report is not None]
        return (
            *self.synthesis.in_doubt,
            *(one for report in reports for one in _find_doubted(report)),
        )

    @property
    def struck(self) -> tuple[DoubtedSentence, ...]:
        """The sentences that were struck: first from the answer, then from its reports."""
        reports = [sweep.report for sweep in self.sweeps if sweep.report is not None]
        return (*self.synthesis.struck, *(one for report in reports for one in report.struck))

    def _repr_html_(self) -> str:
        """Return the answer as an HTML fragment for notebooks."""
        return render(self)

    @property
    def partial(self) -> bool:
        """Whether a limit, a failed sweep, or a cut synthesis left gaps."""
        whole = all(sweep.status is SweepStatus.ACCEPTED for sweep in self.sweeps)
        return bool(self.stopped) or not self.synthesis.complete or not whole


def _find_doubted(report: Report) -> Iterator[DoubtedSentence]:
    for finding in report.findings:
        for reason in finding.failures:
            yield DoubtedSentence(text=finding.text, reason=reason, partition=report.partition)
    yield from report.in_doubt


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackResult:
    """The outcome of a run, and the weights that it changed.

    ``former`` is the previous outcome of the run, None if it had none. ``changed`` is False if the
    outcome stayed the same. ``nodes`` and ``triplets`` count the weights of nodes and of triplets.
    ``missing`` counts cited nodes that no longer exist.
    """

    run: str
    graph: str
    outcome: Outcome
    former: Outcome | None
    changed: bool
    nodes: int
    triplets: int
    missing: int
