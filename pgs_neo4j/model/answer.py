"""The result of a run: routing, coverage, synthesis, answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pgs_neo4j.model.crosscheck import Crosscheck
from pgs_neo4j.model.report import Citation, Sweep, SweepStatus, Usage

Mode = Literal["full", "continue", "targeted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One partition chosen; ``similarity`` is a cosine, or None when it was not scored."""

    partition: int
    similarity: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """All routes of one question, best first, and how they came about."""

    routes: tuple[Route, ...]
    considered: int
    best_similarity: float | None = None
    broad: bool = False
    fallback: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What a session has read of the current generation, in partitions and in nodes."""

    partitions_swept: int
    partitions_total: int
    nodes_read: int
    nodes_total: int

    @property
    def fraction(self) -> float:
        """Nodes read over nodes of the graph, 0 to 1."""
        return self.nodes_read / self.nodes_total if self.nodes_total else 0.0

    @property
    def exhausted(self) -> bool:
        """Whether every node of the graph has been read in this session."""
        return self.nodes_read >= self.nodes_total


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """The synthesis text and its parsed sections.

    ``reductions`` counts the model calls that condensed reports before it, 0 when all of them
    stood in one prompt as they are. An empty text that is not ``complete``: there was none.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of one run.

    ``stopped`` says which bound ended it early, empty when none did. ``cost`` is in the unit of
    the configured prices, None when a model has no price.
    """

    question: str
    graph: str
    session: str
    run: str
    mode: Mode
    model: str
    synthesis: Synthesis
    routing: Routing
    sweeps: tuple[Sweep, ...]
    coverage: Coverage
    usage: Usage
    seconds: dict[str, float]
    warnings: tuple[str, ...] = ()
    crosscheck: Crosscheck = field(default_factory=Crosscheck)
    generation: str = ""
    stopped: str = ""
    cost: float | None = None

    @property
    def text(self) -> str:
        """The answer as the model wrote it, in Markdown."""
        return self.synthesis.text

    def _repr_html_(self) -> str:
        """The answer as a notebook shows it."""
        from pgs_neo4j.export.notebook import to_notebook

        return to_notebook(self)

    @property
    def partial(self) -> bool:
        """Whether a bound stopped the run, a sweep failed, or the synthesis was cut off."""
        whole = all(sweep.status is SweepStatus.ACCEPTED for sweep in self.sweeps)
        return bool(self.stopped) or not self.synthesis.complete or not whole
