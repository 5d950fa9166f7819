"""The work and the cost of a run, predicted before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.model.answer import Mode, Routing
from pgs_neo4j.model.found import SearchMode
from pgs_neo4j.model.notebook import render


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMost:
    """The most that calls take if replies are cut off, rejected, and asked for again.

    ``cost`` is None if a model has no price.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: PlannedMost) -> PlannedMost:
        unknown = self.cost is None or other.cost is None
        return PlannedMost(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=None if unknown else (self.cost or 0.0) + (other.cost or 0.0),
        )

    def times(self, count: int) -> PlannedMost:
        """Return the most of as many such calls."""
        return PlannedMost(
            calls=count * self.calls,
            input_tokens=count * self.input_tokens,
            output_tokens=count * self.output_tokens,
            cost=None if self.cost is None else count * self.cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTotal:
    """Partitions that a run reads, and all of its calls, tokens, and money.

    ``cost`` is None if a model has no price.
    """

    partitions: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSweep:
    """One partition: its passes, and the tokens of those not ``cached``.

    ``output_tokens`` are likely ones; ``output_most`` is the maximum if each reply is accepted at
    once, and ``most`` the maximum in any case. ``longest_prompt`` is the input of the longest pass,
    in tokens.
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
    label: str = ""
    longest_prompt: int = 0
    most: PlannedMost = PlannedMost()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCalls:
    """Calls and their tokens.

    ``output_tokens`` are likely ones; ``output_most`` is the maximum if each reply is accepted at
    once, and ``most`` the maximum in any case, where it is worked out. ``longest_prompt`` is the
    input of the longest call, in tokens, or 0 if they are about equal.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    output_most: int = 0
    longest_prompt: int = 0
    most: PlannedMost = PlannedMost()

    @property
    def longest(self) -> int:
        """Input tokens of the longest call."""
        return self.longest_prompt or -(-self.input_tokens // max(self.calls, 1))

    def __add__(self, other: PlannedCalls) -> PlannedCalls:
        return PlannedCalls(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            output_most=self.output_most + other.output_most,
            longest_prompt=max(self.longest, other.longest),
            most=self.most + other.most,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is known about a run before its first model call.

    ``synthesis`` includes the reductions before it. ``flagged`` is what flags may add: the largest
    unrouted partitions. ``without_flags`` and ``with_flags`` are the likely range of everything,
    and ``most`` is never exceeded, unless requests fail, a server cuts prompts, or a text has more
    than 1.5 tokens for each estimated one. ``low`` and ``high`` are the likely range of the cost
    without flags, in the unit of the configured prices; both are None if a model has no price.
    ``low_uncached`` bounds it from below if no provider has cached the input. ``budget`` says what
    a limit would leave out; it is empty if nothing is left out. ``advice`` says how to get
    partitions that one pass shows whole; it is empty if they are so already. ``contexts`` are what
    models behind endpoints can take, by their names, in words, and ``context_advice`` has a
    sentence for each that takes little at once. ``routed`` is what embedding the question takes, at
    an endpoint that may cost something. ``partitions_note`` says if partitions were made, or if a
    question would replace them first; else it is empty.
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
    advice: str = ""
    contexts: tuple[tuple[str, str], ...] = ()
    context_advice: tuple[str, ...] = ()
    low_uncached: float | None = None
    partitions_note: str = ""
    routed: PlannedCalls = PlannedCalls()
    without_flags: PlannedTotal = PlannedTotal()
    with_flags: PlannedTotal = PlannedTotal()
    most: PlannedTotal = PlannedTotal()

    @property
    def calls(self) -> int:
        """Model calls to pay for, without those for flags."""
        return sum(sweep.passes - sweep.cached for sweep in self.sweeps) + self._others.calls

    @property
    def _others(self) -> PlannedCalls:
        return self.synthesis + self.routed

    @property
    def cached(self) -> int:
        """Passes that cost nothing."""
        return sum(sweep.cached for sweep in self.sweeps)

    @property
    def input_tokens(self) -> int:
        """Predicted input tokens, without those for flags."""
        return sum(sweep.input_tokens for sweep in self.sweeps) + self._others.input_tokens

    @property
    def output_tokens(self) -> int:
        """Predicted output tokens, without those for flags."""
        return sum(sweep.output_tokens for sweep in self.sweeps) + self._others.output_tokens

    def _repr_html_(self) -> str:
        """Return the plan as an HTML fragment for notebooks."""
        return render(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """What an answer from a search would show and cost, known before its model call.

    ``calls`` is 0 when the reply is in the cache or nothing was found. ``low`` and ``high`` bound
    the cost as those of Plan do. ``budget`` says which limit prevents the call; it is empty if none
    does. ``contexts`` and ``context_advice`` are those of Plan, for the models that are called.
    ``notes`` are those of its search, such as that the graph has changed since it was partitioned.
    """

    graph: str
    session: str
    mode: SearchMode
    model: str
    nodes: int
    relationships: int
    calls: int
    input_tokens: int
    output_tokens: int
    output_most: int
    low: float | None = None
    high: float | None = None
    budget: str = ""
    contexts: tuple[tuple[str, str], ...] = ()
    context_advice: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """Return the plan as an HTML fragment for notebooks."""
        return render(self)
