"""Latencies of model calls: by length, with noise, and sometimes far too long.

Predicted tokens are log-normal. A call takes seconds in proportion to them, times log-normal noise.
With these spreads, fifteen calls in batches of five take 1.65 times their lower bound, as measured
when the engine was designed. The figures of all other policies follow from that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MEDIAN_S = 20.0
TOKENS = 40_000
SIZE_SPREAD = 0.35
"""Standard deviation of the logarithm of the predicted tokens."""
NOISE_SPREAD = 0.35
"""The same of what the prediction does not know."""
STRAGGLER_S = 120.0
TRIES = 4
"""Times that a call may be asked before its draws are used again."""


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """Predicted ``tokens`` ``(n,)`` and ``seconds`` ``(n, TRIES)`` of each time it is asked."""

    tokens: NDArray[np.int64]
    seconds: NDArray[np.float64]

    @property
    def count(self) -> int:
        """How many calls there are."""
        return int(self.tokens.size)

    def bound(self, slots: int) -> float:
        """Seconds that no schedule in so many slots stays under, were each call asked once."""
        once = self.seconds[:, 0]
        return float(max(once.sum() / slots, once.max()))


def drawn(seed: int, count: int, stragglers: float = 0.0) -> Draw:
    """``count`` calls, the same for the same seed; a share of the tries takes STRAGGLER_S."""
    rng = np.random.default_rng(seed)
    size = np.exp(rng.normal(0.0, SIZE_SPREAD, count))
    noise = np.exp(rng.normal(0.0, NOISE_SPREAD, (count, TRIES)))
    late = rng.random((count, TRIES)) < stragglers
    seconds = MEDIAN_S * size[:, None] * noise
    return Draw(
        tokens=np.round(TOKENS * size).astype(np.int64),
        seconds=np.where(late, np.maximum(seconds, STRAGGLER_S), seconds),
    )
