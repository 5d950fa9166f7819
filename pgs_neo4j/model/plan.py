"""The work and the cost of a run or an answer, predicted before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.model.answer import Mode, Routing
from pgs_neo4j.model.found import SearchMode
from pgs_neo4j.model.notebook import render


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMost:
    """The maximum that calls use, even if replies are cut off or rejected and requested again.

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
        """Return the maximum that these calls use if they are made ``count`` times."""
        return PlannedMost(
            calls=count * self.calls,
            input_tokens=count * self.input_tokens,
            output_tokens=count * self.output_tokens,
            cost=None if self.cost is None else count * self.cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTotal:
    """All partitions, calls, and tokens of a run, and its cost.

    ``cost`` is None if a model has no price.
    """

    partitions: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSweep:
    """One partition: its passes, and the tokens of the passes that are not cached.

    ``cached`` counts passes with a cached reply. ``output_tokens`` is a likely number;
    ``output_most`` is the maximum if each reply is accepted at once, and ``most`` the maximum in
    any case. ``longest_prompt`` is the input of the longest pass, in tokens.
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

    ``output_tokens`` is a likely number; ``output_most`` is the maximum if each reply is accepted
    at once, and ``most`` the maximum in any case, all zero if it is not computed.
    ``longest_prompt`` is the input of the longest call, in tokens, or 0 if all calls are about
    equally long.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    output_most: int = 0
    longest_prompt: int = 0
    most: PlannedMost = PlannedMost()

    @property
    def longest(self) -> int:
        """The input tokens of the longest call."""
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

    ``routed`` are the calls that embed the question, if the endpoint may cost something.
    ``synthesis`` includes the reductions before it. ``flagged`` are the calls that flags may add,
    for the largest partitions that are not routed. ``without_flags`` and ``with_flags`` bound the
    likely total. ``most`` is never exceeded, unless requests fail, a server cuts prompts off, or a
    text has more than 1.5 tokens for each estimated token.

    ``low`` and ``high`` are the likely range of the cost without flags, in the unit of the
    configured prices; both are None if a model has no price. ``low_uncached`` is the lower end if
    no provider has cached the input. ``budget`` says what a limit would leave out; it is empty if
    nothing is left out.

    ``advice`` says how to make partitions that fit into one pass; it is empty if they fit.
    ``contexts`` pairs the name of each model behind an endpoint with its context, in words.
    ``context_advice`` has a sentence for each short context. ``partitions_note`` says that
    partitions were just made, or that a question would replace them first; otherwise it is empty.
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
        """The number of model calls to pay for, without calls for flags."""
        return sum(sweep.passes - sweep.cached for sweep in self.sweeps) + self._beside_sweeps.calls

    @property
    def _beside_sweeps(self) -> PlannedCalls:
        return self.synthesis + self.routed

    @property
    def cached(self) -> int:
        """The number of passes with a cached reply, which cost nothing."""
        return sum(sweep.cached for sweep in self.sweeps)

    @property
    def input_tokens(self) -> int:
        """The likely number of input tokens, without calls for flags."""
        return sum(sweep.input_tokens for sweep in self.sweeps) + self._beside_sweeps.input_tokens

    @property
    def output_tokens(self) -> int:
        """The likely number of output tokens, without calls for flags."""
        return sum(sweep.output_tokens for sweep in self.sweeps) + self._beside_sweeps.output_tokens

    def _repr_html_(self) -> str:
        """Return the plan as an HTML fragment for notebooks."""
        return render(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """What an answer from a search would show and cost, known before its model call.

    ``calls`` is 0 if the reply is cached or if nothing was found. ``output_tokens`` is a likely
    number; ``output_most`` is the maximum. ``low`` and ``high`` are the likely range of the cost,
    as in Plan. ``budget`` says which limit prevents the call; it is empty if none does.
    ``contexts`` and ``context_advice`` are as in Plan, for the models that are called. ``notes``
    are from the search, for example that the graph has changed since it was partitioned.
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
