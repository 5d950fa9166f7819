"""What a run would do and cost, told before it does."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.model.answer import Mode, Routing


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSweep:
    """One partition: the passes it takes, and their tokens but for those that are ``cached``.

    ``output_tokens`` are likely ones, ``output_most`` what the passes may have.
    """

    partition: int
    nodes: int
    passes: int
    cached: int
    input_tokens: int
    output_tokens: int
    output_most: int
    reason: str
    similarity: float | None = None
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCalls:
    """Calls that depend on the reports: reductions, the synthesis, what flags may add."""

    calls: int
    input_tokens: int
    output_tokens: int
    output_most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is known of a run before its first model call.

    ``flagged`` is what flags may add at most. ``low`` and ``high`` are the bounds of the cost in
    the unit of the configured prices, None when a model has no price. ``budget`` says what a
    bound would leave out, empty when nothing.
    """

    graph: str
    session: str
    mode: Mode
    generation: str
    sweep_model: str
    synthesis_model: str
    routing: Routing
    sweeps: tuple[PlannedSweep, ...]
    synthesis: PlannedCalls
    flagged: PlannedCalls
    low: float | None = None
    high: float | None = None
    budget: str = ""

    @property
    def calls(self) -> int:
        """Model calls that will be paid for, those for flags aside."""
        return sum(each.passes - each.cached for each in self.sweeps) + self.synthesis.calls

    @property
    def cached(self) -> int:
        """Passes that cost nothing."""
        return sum(each.cached for each in self.sweeps)

    @property
    def input_tokens(self) -> int:
        """Predicted input tokens, those for flags aside."""
        return sum(each.input_tokens for each in self.sweeps) + self.synthesis.input_tokens

    @property
    def output_tokens(self) -> int:
        """Predicted output tokens, those for flags aside."""
        return sum(each.output_tokens for each in self.sweeps) + self.synthesis.output_tokens
