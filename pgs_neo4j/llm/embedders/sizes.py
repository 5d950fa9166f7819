"""Learns how many texts and tokens an endpoint takes in one call, from what it refuses.

A refusal does not say reliably which limit it is about. A call that is accepted rules out one
limit, and the middle between an accepted and a refused call is tried next. So the limits are found
in a logarithmic number of refusals, and kept for all later calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

# The tokens of a call are an estimate. A limit on them is not searched more closely than this, and
# a call that is refused below it lowers it by a tenth.
CLOSE = 1.2
LOWERED = 0.9


@dataclass(frozen=True, slots=True)
class _RefusedCall:
    texts: tuple[str, ...]
    tokens: int


@dataclass(slots=True)
class CallSizes:
    """The sizes of calls that an endpoint accepts, shared by all calls to it.

    ``texts`` and ``tokens`` are the most that were accepted. Tokens are estimates. ``trying``: a
    call in flight is larger than these, and one at a time is enough.
    """

    texts: int = 0
    tokens: int = 0
    trying: bool = False
    _refused: list[_RefusedCall] = field(default_factory=list)

    def fits(self, texts: int, tokens: int, *, surely: bool = False) -> bool:
        """Return whether a call may be accepted; ``surely``: only by what was accepted before.

        Nothing is smaller than one text.
        """
        return texts <= 1 or all(
            self._is_below(one, texts, tokens, surely=surely) for one in self._refused
        )

    def accept(self, texts: int, tokens: int) -> None:
        """Take in that a call was accepted."""
        self.texts, self.tokens = max(self.texts, texts), max(self.tokens, tokens)
        self._refused = [
            one for one in self._refused if len(one.texts) > texts or one.tokens > tokens
        ]

    def refuse(self, texts: Sequence[str], tokens: int) -> bool:
        """Take in that a call of several texts was refused because of its size.

        Return whether it was larger than all that were accepted. Otherwise one of its texts may be
        too long by itself.
        """
        larger = len(texts) > self.texts or tokens > self.tokens
        if not larger:
            # Texts are counted exactly, and their tokens are not.
            self.tokens = int(tokens * LOWERED)
        self._refused.append(_RefusedCall(tuple(texts), tokens))
        return larger

    def excuse(self, text: str) -> None:
        """Forget refusals of calls with a text that is too long by itself."""
        self._refused = [one for one in self._refused if text not in one.texts]

    def _is_below(self, refused: _RefusedCall, texts: int, tokens: int, *, surely: bool) -> bool:
        count = len(refused.texts)
        most_texts, most_tokens = self.texts, self.tokens
        if not surely:
            most_texts = (most_texts + count) // 2
            if refused.tokens > CLOSE * most_tokens:
                most_tokens = (most_tokens + refused.tokens) // 2
        if count > self.texts and refused.tokens <= self.tokens:
            return texts <= most_texts
        if count <= self.texts and refused.tokens > self.tokens:
            return tokens <= most_tokens
        return texts <= most_texts or tokens <= most_tokens
