"""The results of sweeps: reports, their citations, and their cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """An alias in a model's text, resolved to a node.

    An alias that was not in the prompt is kept with ``valid`` false. ``element_id`` is the
    database's current handle for the node; it is never stored or compared. ``labels`` are the
    labels that the node had when it was read; they are not compared either.
    """

    alias: str
    partition: int
    node: str | None = None
    title: str | None = None
    valid: bool = True
    element_id: str | None = field(default=None, repr=False, compare=False)
    rank: int | None = None
    labels: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that a finding puts in quotation marks.

    ``found``: a cited node contains them, or a fact that its relationships state.
    """

    text: str
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One discovery of a sweep, with its citations and quotations.

    ``doubts`` say which of its numbers, dates, names, and denials the cited nodes do not support.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    quotes: tuple[Quote, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether at least one citation resolves to a node of the prompt."""
        return any(citation.valid for citation in self.citations)

    @property
    def failures(self) -> tuple[str, ...]:
        """Why the finding is in doubt: claims, then quotations; empty if it is not in doubt."""
        misquoted = [quote.text for quote in self.quotes if not quote.found]
        return (*self.doubts, *(f"no cited node has “{text}”" for text in misquoted))


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtedSentence:
    """A sentence with claims that its cited nodes do not support, and the reason.

    ``partition`` is the partition of its report, None if it is in the answer itself.
    """

    text: str
    reason: str
    partition: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """An outbound flag: a suspected connection to another partition.

    ``target`` is None if the flag names no partition.
    """

    text: str
    target: int | None = None
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Something that is missing in a partition, according to its report."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The report of one sweep: the contract's four sections, parsed and resolved.

    ``omitted`` counts bullets that were left out because their section has too many. ``in_doubt``
    are the marked sentences of the Domain State and of the flags; findings have doubts of their
    own. ``struck`` are the sentences that were removed because they failed their checks twice.
    """

    partition: int
    domain_state: str = ""
    findings: tuple[Finding, ...] = ()
    flags: tuple[Flag, ...] = ()
    absences: tuple[Absence, ...] = ()
    omitted: int = 0
    in_doubt: tuple[DoubtedSentence, ...] = ()
    struck: tuple[DoubtedSentence, ...] = ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All citations of findings and flags, in reading order, including repeated ones."""
        cited = [c for finding in self.findings for c in finding.citations]
        return (*cited, *(c for flag in self.flags for c in flag.citations))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The calls and tokens that were paid for.

    ``input_tokens`` counts all input. Of these tokens, the provider read ``cache_read_tokens`` from
    its prompt cache and stored ``cache_write_tokens`` in it; both kinds have other prices.
    ``estimated``: an endpoint reported no usage, so some tokens are estimated. ``cached`` counts
    replies from the reply cache of pgs, which cost nothing.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    cached: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            estimated=self.estimated or other.estimated,
            cached=self.cached + other.cached,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )


class SweepStatus(StrEnum):
    """How the sweep of one partition ended.

    ``UNREAD``: a limit ended the run before this sweep.
    """

    ACCEPTED = "accepted"
    PARTIAL = "partial"
    FAILED = "failed"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """The sweep of one partition, in one or more passes.

    ``read`` are half-open ranges of ranks: the nodes that were complete in prompts with an accepted
    report and that were provably given to the model. No other node counts as read. ``unproven`` are
    the ranges of nodes in such prompts without that proof. ``without_text`` are the ranks that were
    read but showed no text. ``wave`` is 1 for routed and 2 for flagged partitions. ``run`` is the
    id of the earlier run that made the sweep, empty for the current run.
    """

    partition: int
    status: SweepStatus
    nodes: int
    read: tuple[tuple[int, int], ...] = ()
    passes: int = 0
    passes_accepted: int = 0
    report: Report | None = None
    errors: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    generation: str = ""
    wave: int = 1
    run: str = ""
    without_text: tuple[int, ...] = ()
    unproven: tuple[tuple[int, int], ...] = ()

    @property
    def nodes_unproven(self) -> int:
        """The number of nodes shown without proof that the model was given all of them."""
        return sum(last - first for first, last in self.unproven)

    @property
    def nodes_read(self) -> int:
        """The number of nodes that count as read."""
        return sum(last - first for first, last in self.read)

    @property
    def texts_read(self) -> int:
        """The number of nodes that were read with their text."""
        return self.nodes_read - len(self.without_text)
