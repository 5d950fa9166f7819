"""Enforces the limits on what a run may spend, before each call.

A call is made only if its worst case still fits. The worst case is the prompt at its largest
possible token count and at the highest price that its tokens can have, plus the maximum reply.
After the call, its actual bill replaces the worst case. Sweeps never use the reserve that the run
needs for its answer. The likely cost of planned calls is a range below their worst case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import BudgetError, ConfigError, DeadlineError, StoppedError, WaitError
from pgs_neo4j.llm.protocol import Named, is_free
from pgs_neo4j.model import PlannedCalls, Prompt, Usage
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate

# With any byte-pair vocabulary, a text has at most as many tokens as bytes.
WORST = BYTES_PER_TOKEN
# In a small budget, this worst case might allow no call at all. So if it exceeds the share SMALL of
# the limit on tokens, LIKELY_WORST replaces it: Base64 is the costliest text that graphs store, at
# about 0.7 tokens a byte.
LIKELY_WORST = 2.5
SMALL = 0.25
# Texts differ: digits and code cost 1.5 times as much as prose. So assume that the next prompt may
# cost this many times the costliest prompt so far.
MARGIN = 1.3
LEAST = 1.5  # the minimum factor, even if all prompts so far cost less
FRAME_TOKENS = 32  # roles and separators around the messages

# Actual tokens of a prompt per estimated token, at the two ends of the range. The lower end assumes
# empty replies, and the upper end assumes replies of maximum length. The content of a provider's
# prompt cache is unknown, so the lower end prices all input at the lowest rate, the upper end at
# the highest.
CHEAP, DEAR = 0.8, 1.5

Purpose = Literal["sweep", "rest", "synthesis"]
"""The purpose of a call.

Only the synthesis may use the reserve. After sweeping has ended, only sweeps are refused.
"""


class StopKind(StrEnum):
    """The limit of a run that was reached."""

    BUDGET = "budget"
    DEADLINE = "deadline"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Stop:
    """The limit that a run reached, and one sentence about it.

    ``least`` is the smallest limit of this kind that would have allowed the call.
    """

    kind: StopKind
    text: str
    least: float | None = None

    @classmethod
    def from_error(cls, error: StoppedError) -> Stop:
        """Return the stop that an error reports."""
        kinds = {DeadlineError: StopKind.DEADLINE, WaitError: StopKind.WAIT}
        least = error.least if isinstance(error, BudgetError) else None
        return cls(kinds.get(type(error), StopKind.BUDGET), str(error), least)

    def to_error(self, prefix: str = "") -> StoppedError:
        """Return the error of this kind; ``prefix`` comes before its text."""
        kinds = {StopKind.DEADLINE: DeadlineError, StopKind.WAIT: WaitError}
        return kinds.get(self.kind, BudgetError)(f"{prefix}{self.text}")

    @property
    def final(self) -> bool:
        """Whether not even the synthesis may be called."""
        return self.kind is StopKind.WAIT


@dataclass(frozen=True, slots=True)
class Amount:
    """Calls, tokens, and their cost, which is 0 if no price is known."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost)


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """The maximum that a run may spend; None means no limit."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None

    @property
    def any(self) -> bool:
        """Whether there is any limit."""
        return (self.calls, self.tokens, self.cost) != (None, None, None)

    def crossed(self, amount: Amount) -> tuple[str, float] | None:
        """Return the first limit that an amount crosses, and the value that would allow it.

        Returns None if it crosses no limit.
        """
        if self.calls is not None and amount.calls > self.calls:
            return f"{counted(self.calls, 'call')} (max_calls)", amount.calls
        if self.tokens is not None and amount.tokens > self.tokens:
            return f"{self.tokens:,} tokens (max_tokens)", amount.tokens
        # A sum of costs may exceed the limit by an error of rounding.
        if self.cost is not None and amount.cost > self.cost * (1 + 1e-9):
            return f"a cost of {self.cost:g} (max_cost)", amount.cost
        return None


@dataclass(slots=True)
class Budget:
    """Counts spending, the reservations of calls in flight, and the reserve.

    ``ending`` is the reserve for the end of the run. ``closed`` is the limit that ended the
    sweeping.
    """

    bounds: SpendingLimits
    models: Mapping[str, ModelEntry]
    spent: Amount = field(default_factory=Amount)
    reserved: Amount = field(default_factory=Amount)
    ending: Amount = field(default_factory=Amount)
    closed: Stop | None = None
    _costliest: dict[str, float] = field(default_factory=dict)
    _unpriced: set[str] = field(default_factory=set)

    def check(self, names: Mapping[str, bool]) -> None:
        """Raise ConfigError if ``max_cost`` needs a price that a model lacks.

        ``names`` maps each model to whether it is free.
        """
        if self.bounds.cost is None:
            return
        for name, free in names.items():
            if not free and self.price(name, 1, 1) is None:
                raise ConfigError(
                    f"max_cost needs the price of {name}; add input_price and output_price per "
                    f"million tokens under [models.{name!r}] in pgs.toml, or leave out max_cost"
                )

    def price(
        self, model: str, input_tokens: float, output_tokens: float, calls: int = 1
    ) -> float | None:
        """Return the price of calls without prompt caching; None without configured prices."""
        entry = self.models.get(model)
        return None if entry is None else entry.cost(input_tokens, output_tokens, calls=calls)

    def bill(self, model: str, usage: Usage) -> float | None:
        """Return the bill for one call; None without configured prices."""
        entry = self.models.get(model)
        if entry is None:
            return None
        return entry.cost(
            usage.input_tokens,
            usage.output_tokens,
            cached=usage.cache_read_tokens,
            stored=usage.cache_write_tokens,
        )

    @property
    def cost(self) -> float | None:
        """The money spent; None when a model without prices was called."""
        return None if self._unpriced else self.spent.cost

    def most(self, model: str, estimated: int, room: int) -> Amount:
        """Return the maximum cost of one call.

        Its prompt is estimated at ``estimated`` tokens, and its reply has ``room`` tokens.
        """
        tokens = int(estimated * self._factor(model, estimated + room)) + FRAME_TOKENS
        entry = self.models.get(model)
        cost = entry.dearest(tokens, room) if entry else None
        return Amount(1, tokens + room, cost or 0.0)

    def reserve(self, amount: Amount, purpose: Purpose = "sweep") -> Amount:
        """Reserve an amount before a call.

        Raises BudgetError above a limit, and WaitError after the endpoint asked for too long a
        wait.
        """
        if self.closed and self.closed.final:
            raise self.closed.to_error()
        ending = Amount() if purpose == "synthesis" else self.ending
        crossed = self.bounds.crossed(self.spent + self.reserved + ending + amount)
        if crossed:
            limit, least = crossed
            raise BudgetError(f"the next call could exceed the limit of {limit}", least=least)
        if self.closed and purpose == "sweep":
            raise self.closed.to_error()
        self.reserved += amount
        return amount

    def fits(self, model: str, room: int) -> bool:
        """Return whether a sweep with an empty prompt and a reply of ``room`` tokens would fit."""
        return self.allows(self.most(model, 0, room))

    def allows(self, amount: Amount) -> bool:
        """Return whether an amount fits beside all spending and reservations."""
        return not self.bounds.crossed(self.spent + self.reserved + self.ending + amount)

    def knows(self, model: str) -> bool:
        """Return whether the true size of this model's prompts is known or irrelevant.

        The first reply shows the size. Without a limit on tokens or cost, it is irrelevant.
        """
        return model in self._costliest or (self.bounds.tokens, self.bounds.cost) == (None, None)

    @property
    def idle(self) -> bool:
        """Whether nothing is reserved, so that waiting would free nothing."""
        return self.reserved.calls <= 0

    def release(self, amount: Amount) -> None:
        """Release a reserved amount."""
        self.reserved -= amount

    def spend(
        self, model: str, estimated: int, usage: Usage, *, free: bool = False
    ) -> float | None:
        """Count the usage of a call, and return its cost; None for a model without prices.

        ``estimated`` is the estimated size of its prompt, in tokens. The ratio of actual to
        estimated tokens determines how much later calls of the model reserve.
        """
        cost = 0.0 if free else self.bill(model, usage)
        if cost is None:
            self._unpriced.add(model)
        self.spent += Amount(usage.calls, usage.tokens, cost or 0.0)
        if usage.calls and estimated > 0:
            ratio = usage.input_tokens / usage.calls / estimated
            self._costliest[model] = max(ratio, self._costliest.get(model, 0.0))
        return cost

    def lose(self, model: str, amount: Amount, *, free: bool = False) -> float | None:
        """Count the full reservation of a call whose cost is unknown, and return its cost.

        Returns None for a model without prices.
        """
        cost = self.worst_cost(model, amount, free=free)
        if cost is None:
            self._unpriced.add(model)
        self.spent += amount
        return cost

    def worst_cost(self, model: str, amount: Amount, *, free: bool) -> float | None:
        """Return the cost of a call's full reservation; None for a model without prices."""
        return None if not free and self.price(model, 1, 1) is None else amount.cost

    def whole(self, model: str) -> int | None:
        """Return the total tokens that the limits allow a model; None without a limit."""
        worth: list[float] = []
        if self.bounds.tokens is not None:
            worth.append(self.bounds.tokens)
        if self.bounds.cost is not None:
            worth += self._affordable(model, self.bounds.cost)
        return int(min(worth)) if worth else None

    def left(self, model: str) -> int | None:
        """Return the total tokens left for one more call; None without a limit."""
        free: list[float] = []
        used = self.spent + self.reserved
        if self.bounds.tokens is not None:
            free.append(self.bounds.tokens - used.tokens)
        if self.bounds.cost is not None:
            free += self._affordable(model, self.bounds.cost - used.cost)
        if self.bounds.calls is not None and used.calls >= self.bounds.calls:
            free.append(0)
        return max(0, int(min(free))) if free else None

    def estimate_within(self, model: str, tokens: int) -> int:
        """Return the largest estimate of a prompt that is safe to send.

        A prompt with this estimate has at most ``tokens`` tokens.
        """
        return int(max(0, tokens - FRAME_TOKENS) / self._factor(model, tokens))

    def _affordable(self, model: str, money: float) -> list[float]:
        """Return the maximum number of tokens for this money; empty if money sets no limit."""
        entry = self.models.get(model)
        tokens = entry.affordable_tokens(money) if entry else None
        return [] if tokens is None else [tokens]

    def _factor(self, model: str, estimated: int) -> float:
        """Return the maximum number of tokens of a prompt per estimated token."""
        costliest = self._costliest.get(model)
        if costliest is not None:
            return min(WORST, max(LEAST, MARGIN * costliest))
        bound = self.bounds.tokens
        small = bound is not None and WORST * estimated > SMALL * bound
        return LIKELY_WORST if small else WORST


def estimated_tokens(prompt: Prompt) -> int:
    """Return the tokens that a prompt is likely to have."""
    return estimate(prompt.system) + estimate(prompt.user)


def cost_range(
    budget: Budget, parts: Iterable[tuple[Named, PlannedCalls]]
) -> tuple[float | None, float | None]:
    """Return the likely minimum and maximum cost of calls.

    Both are None if a model has no price.
    """
    low = high = 0.0
    for llm, calls in parts:
        if is_free(llm):
            continue
        entry = budget.models.get(llm.name)
        if entry is None:
            return None, None
        cheap = entry.cheapest(CHEAP * calls.input_tokens, 0)
        dear = entry.dearest(DEAR * calls.input_tokens, calls.output_most, DEAR * calls.longest)
        if cheap is None or dear is None:
            return None, None
        low, high = low + cheap, high + dear
    return low, high


def least_uncached(budget: Budget, parts: Iterable[tuple[Named, PlannedCalls]]) -> float | None:
    """Return the likely minimum cost of calls if no provider has cached their input.

    Returns None if a model has no price.
    """
    total = 0.0
    for llm, calls in parts:
        if is_free(llm):
            continue
        entry = budget.models.get(llm.name)
        tokens = CHEAP * calls.input_tokens
        cost = entry.cheapest(tokens, 0, may_be_cached=False) if entry else None
        if cost is None:
            return None
        total += cost
    return total
