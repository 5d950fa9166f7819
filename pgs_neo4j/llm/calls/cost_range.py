"""The likely range of what planned calls cost."""

from __future__ import annotations

from collections.abc import Iterable

from pgs_neo4j.llm.calls.budget import Budget
from pgs_neo4j.llm.protocol import Named, is_free
from pgs_neo4j.model import PlannedCalls

# Tokens of a prompt for each that was estimated. The lower end of the band takes replies for
# nothing, the upper one for as long as they may be. Nobody knows what a provider's prompt cache
# still holds, so the lower end takes all input at the cheapest price, the upper one at the dearest.
CHEAP, DEAR = 0.8, 1.5


def cost_range(
    budget: Budget, parts: Iterable[tuple[Named, PlannedCalls]]
) -> tuple[float | None, float | None]:
    """Return the least and the most that calls of models are likely to cost.

    None for an unpriced model.
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
    """Return the least that calls are likely to cost if no provider has cached their input.

    None for an unpriced model.
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
