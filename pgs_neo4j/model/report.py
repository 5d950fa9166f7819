"""What a sweep returns: reports, their citations, and what reading them cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """An alias as the model wrote it, resolved to a node, or kept with ``valid`` false."""

    alias: str
    partition: int
    node: str | None = None
    title: str | None = None
    valid: bool = True
    element_id: str | None = field(default=None, repr=False, compare=False)
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that a finding puts in quotation marks; ``found``: a node that it cites holds them."""

    text: str
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One discovery of a sweep, with what it cites and quotes."""

    text: str
    citations: tuple[Citation, ...] = ()
    quotes: tuple[Quote, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether at least one citation resolves to a node that was shown."""
        return any(citation.valid for citation in self.citations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """An outbound flag: a suspected connection to another partition (None if none was named)."""

    text: str
    target: int | None = None
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Something a sweep looked for in its partition and did not find."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one sweep returns: the four sections of the contract, parsed and resolved."""

    partition: int
    domain_state: str = ""
    findings: tuple[Finding, ...] = ()
    flags: tuple[Flag, ...] = ()
    absences: tuple[Absence, ...] = ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every citation of findings and flags, in reading order, repeats included."""
        cited = [c for finding in self.findings for c in finding.citations]
        return (*cited, *(c for flag in self.flags for c in flag.citations))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was paid for: calls and tokens; ``estimated`` when an endpoint reported no usage.

    ``cached`` counts replies that were there already and cost nothing.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    cached: int = 0

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
        )


class SweepStatus(StrEnum):
    """How the reading of one partition ended; ``unread``: the run was stopped before it."""

    ACCEPTED = "accepted"
    PARTIAL = "partial"
    FAILED = "failed"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """The reading of one partition, in one or more passes.

    ``read`` holds half-open rank ranges of the nodes that stood whole in prompts whose
    reports were accepted; nothing else counts as read. ``wave`` 1 was routed, 2 flagged.
    ``run`` is the id of the earlier run that made it, empty for the run at hand.
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

    @property
    def nodes_read(self) -> int:
        """Nodes that stood in an accepted prompt."""
        return sum(last - first for first, last in self.read)
