"""Token counts without a tokenizer: an estimate, and its correction by reported usage."""

from __future__ import annotations

import math
from dataclasses import dataclass

# About four characters a token is the customary figure for English prose in BPE vocabularies;
# markup, names and numbers cost more, so 3.5 bytes is the middle ground budgets are made with.
BYTES_PER_TOKEN = 3.5
# Beyond a factor of two the report counts something else than the prompt (images, caches,
# a hidden system prompt), so it must not steer the budget further.
RATIO_LIMITS = (0.5, 2.0)


def estimate(text: str) -> int:
    """Tokens that ``text`` is likely to cost: UTF-8 bytes over 3.5, rounded up."""
    count = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return estimate_bytes(count)


def estimate_bytes(count: int) -> int:
    """Tokens that so many UTF-8 bytes of text are likely to cost."""
    return math.ceil(count / BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Running totals of estimated and reported tokens of the same prompts."""

    estimated: int = 0
    reported: int = 0

    @property
    def ratio(self) -> float:
        """Reported over estimated, clipped to 0.5 to 2; 1 before anything was reported."""
        if self.estimated <= 0 or self.reported <= 0:
            return 1.0
        low, high = RATIO_LIMITS
        return min(high, max(low, self.reported / self.estimated))

    def observe(self, *, estimated: int, reported: int) -> Calibration:
        """The calibration after one more reply; figures that are not positive are ignored."""
        if estimated <= 0 or reported <= 0:
            return self
        return Calibration(self.estimated + estimated, self.reported + reported)

    def tokens(self, text: str) -> int:
        """Estimate of ``text`` corrected by what was reported so far, rounded up."""
        return math.ceil(estimate(text) * self.ratio)
