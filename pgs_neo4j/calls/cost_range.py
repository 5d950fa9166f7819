"""The likely range of what planned calls cost."""

from __future__ import annotations

from collections.abc import Iterable

from pgs_neo4j.calls.budget import Budget
from pgs_neo4j.llm.protocol import Named, is_free

# Tokens of a prompt for each that was estimated. The lower end of the band takes replies for
# nothing, the upper one for as long as they may be.
CHEAP, DEAR = 0.8, 1.5


def cost_range(
    budget: Budget, parts: Iterable[tuple[Named, int, int]]
) -> tuple[float | None, float | None]:
    """Return the least and the most that calls are likely to cost; None for an unpriced model.

    Each part has a model, its input tokens by estimate, and the most output tokens.
    """
    low = high = 0.0
    for llm, tokens, most in parts:
        if is_free(llm):
            continue
        cheap = budget.price(llm.name, CHEAP * tokens, 0)
        dear = budget.price(llm.name, DEAR * tokens, most)
        if cheap is None or dear is None:
            return None, None
        low, high = low + cheap, high + dear
    return low, high
