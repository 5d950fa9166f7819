"""Orders nodes so that each adds something to those before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BALANCE = 0.5
"""Weight of relevance against novelty; 1 ranks by relevance alone."""


def order_diversely(
    relevance: NDArray[np.float64], vectors: NDArray[np.float32], k: int, balance: float = BALANCE
) -> list[int]:
    """Return the places of ``k`` items by maximal marginal relevance (Carbonell, Goldstein 1998).

    ``relevance`` is ``(n,)``; ``vectors`` is ``(n, d)`` in unit rows, zeros for items without one.
    Each step compares all items with the last chosen one alone, so that it takes n · k · d steps.
    """
    count = len(relevance)
    nearest = np.zeros(count)
    free = np.ones(count, np.bool_)
    chosen: list[int] = []
    for _ in range(min(k, count)):
        worth = balance * relevance - (1 - balance) * nearest
        place = int(np.argmax(np.where(free, worth, -np.inf)))
        chosen.append(place)
        free[place] = False
        np.maximum(nearest, vectors @ vectors[place], out=nearest)
    return chosen
