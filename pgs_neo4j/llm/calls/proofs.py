"""Decides whether a model was given all of a prompt.

A server may cut a prompt and answer as if nothing had happened. Two things can show it.

The tokens that it counted: no prompt has fewer than its text must have, prompts of one kind have
about equally many for each byte on one model, and what was cut to a context has just as many as
that holds. This shows a cut that takes more than a few percent.

Receipts: short codes among the nodes, which only a reader who was given them can repeat. They show
each cut at the beginning or the end. A stretch between two codes can vanish unnoticed, unless the
tokens show it.

A model that repeats no codes can be judged by its tokens alone, and then only if its context is
known. Otherwise a small cut might go unnoticed, and nothing is proven.

A server that is known to refuse a prompt that is too long is asked for no receipts, and believed if
it counts no tokens. Too few tokens belie it: then something else answers under its address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pgs_neo4j.llm.context import ModelContext
from pgs_neo4j.model import Prompt
from pgs_neo4j.text.tokens import LEAST_COUNT, TextSize

Verdict = Literal["read", "cut", "unproven"]
"""``read``: given as a whole. ``cut``: not. ``unproven``: nothing can show it."""

Receipts = Literal["all", "some", "none", "unasked"]

_BY_RECEIPTS: dict[Receipts, Verdict] = {
    "all": "read",
    "some": "cut",
    "none": "unproven",
    "unasked": "unproven",
}
# Servers miscount by a few percent (special tokens, templates, rounding). A prompt that lost less
# than this share is not noticed by its tokens alone.
SLACK = 0.05
FRAME_TOKENS = 40  # a chat template around two messages may add as many
# Codes stand at every quarter of a prompt or closer. A reader who repeats all of them was
# given more than this share, so a smaller count is that of a part: the rest was cached.
COUNTED_PART = 0.5
# A prompt that was cut has the tokens of the context, or of half of it, as Ollama shifts it. Once a
# cut was seen, what it left is all that matters: no server cuts to half of that.
SHIFTED = 0.5
PLATEAU_SLACK = 0.03
# Prompts of less than this share of another's tokens may show what a server has cut from that one:
# what is cut alike has equally many.
SHORTER = 0.9
FEWEST_SHORTER = 2  # one alone may be of an odd kind
# A count that shrinks with the prompt is no limit: the endpoint counts in a way of its own.
SHRUNK = 0.7
# Kinds of text, as shares of words, digits, marks, and letters without spaces, are alike up to this
# sum of differences.
ALIKE = 0.2
# Prompts that were cut to one context all have its count, whatever their sizes. So the longest
# prompts of a kind were cut if they have one count and the longest is larger than the shortest of
# them by this factor. Two whole prompts can have one count if their texts differ a little in tokens
# per byte; three hardly can, and then no longer one has another count.
LEVEL_SPREADS = {2: 1.05, 3: 1.02}
LEVEL_SLACK = 1  # tokens, since a tokenizer may join or divide a word at the cut
SAMPLES = 40  # per model; the oldest go


@dataclass(frozen=True, slots=True)
class _Sample:
    """A prompt that seems whole: its size, and the tokens that were counted for it."""

    size: TextSize
    counted: int

    @property
    def tokens(self) -> float:
        """Its tokens without those of a chat template."""
        return max(self.size.floor, self.counted - FRAME_TOKENS)

    def usual(self, size: TextSize) -> float:
        """Return the least tokens that a text of this size and kind has by this sample."""
        by_bytes = size.size_bytes / self.size.size_bytes
        return self.tokens * min(by_bytes, size.runs / self.size.runs)


@dataclass(frozen=True, slots=True)
class OpenProof:
    """What a reply has shown of its prompt, which later replies may yet decide.

    ``counted`` are the tokens that the endpoint reported for it; None if it reported none.
    """

    size: TextSize
    counted: int | None
    receipts: Receipts


@dataclass(slots=True)
class Proofs:
    """What each model's endpoint has shown of its counting, by the model's name."""

    _samples: dict[str, list[_Sample]] = field(default_factory=dict)
    _cuts: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    _miscounting: set[str] = field(default_factory=set)

    def judge(
        self,
        model: str,
        size: TextSize,
        counted: int | None,
        receipts: Receipts,
        context: ModelContext | None,
    ) -> Verdict:
        """Return whether a prompt of this size was given as a whole.

        ``counted`` are the tokens that the endpoint reported for it; None if it reported none.
        ``context`` is what is known of the model's.
        """
        if counted is None or not self.is_count(model, counted):
            return _BY_RECEIPTS[receipts]
        whole = receipts == "all"
        if whole and counted < COUNTED_PART * size.floor:
            return "read"
        if not whole and _is_beyond(counted, context):
            # It was counted before it was cut, or in a way of the server's own.
            self._miscounting.add(model)
            return _BY_RECEIPTS[receipts]
        if self.is_short(model, size, counted):
            if not self._shrinks(model, size, counted):
                return "cut"
            self._miscounting.add(model)
            return _BY_RECEIPTS[receipts]
        # What was cut to half of a context would have half of the tokens that are usual.
        usual = bool(self._alike(model, size))
        if receipts == "some" or (not whole and _is_plateau(counted, context, usual=usual)):
            return "cut"
        return "read" if whole or context is not None else "unproven"

    def belies(self, model: str, size: TextSize, counted: int | None) -> bool:
        """Return whether a server that is said to refuse long prompts has cut this one.

        Only tokens can show that, because such a server is asked for no receipts.
        """
        if counted is None or not self.is_count(model, counted):
            return False
        if not self.is_short(model, size, counted):
            return False
        if self._shrinks(model, size, counted):
            self._miscounting.add(model)
            return False
        return True

    def learn(self, model: str, size: TextSize, counted: int | None) -> None:
        """Take in the tokens of a prompt that was given as a whole."""
        if counted is None or counted < size.floor or not self.is_count(model, counted):
            return
        samples = self._samples.setdefault(model, [])
        samples.append(_Sample(size, counted))
        del samples[:-SAMPLES]

    def is_count(self, model: str, counted: int | None) -> bool:
        """Return whether reported tokens can be those of a prompt, whole or cut."""
        return counted is not None and counted >= LEAST_COUNT and model not in self._miscounting

    def counts(self, model: str) -> bool:
        """Return whether this model's endpoint has counted the tokens of a whole prompt."""
        return bool(self._samples.get(model)) and model not in self._miscounting

    def knows(self, model: str, size: TextSize) -> bool:
        """Return whether this model's endpoint has counted the tokens of such a text."""
        return self.counts(model) and bool(self._alike(model, size))

    def distrust(self, model: str) -> None:
        """Forget the tokens of prompts that seemed whole, because their server has cut one."""
        self._samples.pop(model, None)

    def forget(self, model: str) -> None:
        """Forget how a model's endpoint counts, because another one has its name now."""
        self._samples.pop(model, None)
        self._cuts.pop(model, None)
        self._miscounting.discard(model)

    def is_short(self, model: str, size: TextSize, counted: int) -> bool:
        """Return whether a prompt of this size must have more tokens than were counted."""
        alike = self._alike(model, size)
        usual = min((one.usual(size) for one in alike), default=0.0)
        shorter = [one.usual(size) for one in alike if one.tokens < SHORTER * counted]
        if len(shorter) >= FEWEST_SHORTER:
            usual = min(shorter)
        if counted < max(size.floor, usual * (1 - SLACK)):
            return True
        return _is_level([*alike, _Sample(size, counted)], counted)

    def _shrinks(self, model: str, size: TextSize, counted: int) -> bool:
        """Return whether an earlier, longer prompt was short by the same share."""
        cuts = self._cuts.setdefault(model, [])
        share = counted / size.floor
        for floor, earlier in cuts:
            alike = abs(earlier / floor - share) <= SLACK * share
            if alike and size.floor <= SHRUNK * floor:
                return True
        cuts.append((size.floor, counted))
        del cuts[:-SAMPLES]
        return False

    def _alike(self, model: str, size: TextSize) -> list[_Sample]:
        """Return the prompts of such text whose tokens were counted."""
        return [
            sample
            for sample in self._samples.get(model, ())
            if sum(abs(a - b) for a, b in zip(sample.size.shares, size.shares, strict=True))
            <= ALIKE
        ]


def returned_receipts(prompt: Prompt, reply: str) -> Receipts:
    """Return how many of a prompt's receipts its reply repeats."""
    if not prompt.receipts:
        return "unasked"
    said = reply.lower()
    found = sum(code in said for code in prompt.receipts)
    if found == len(prompt.receipts):
        return "all"
    return "some" if found else "none"


def _is_beyond(counted: int, context: ModelContext | None) -> bool:
    """Return whether more tokens were counted than the model can have been given.

    A context that was learned from refusals and cuts may be larger than it seems.
    """
    if context is None or context.origin in ("cut", "refusal"):
        return False
    return counted > context.tokens * (1 + PLATEAU_SLACK)


def _is_level(alike: Sequence[_Sample], counted: int) -> bool:
    """Return whether the longest prompts of a kind all have about this count, whatever their size.

    ``alike`` are the prompts of the kind, at least one with this count.
    """
    level = {one.size for one in alike if abs(one.counted - counted) <= LEVEL_SLACK}
    shortest = min(level, key=lambda size: size.size_bytes)
    longest = max(level, key=lambda size: size.size_bytes)
    above = {one.size for one in alike if one.size.size_bytes > shortest.size_bytes}
    if not above or above - level:
        return False
    spread = min(longest.size_bytes / shortest.size_bytes, longest.runs / shortest.runs)
    return spread > LEVEL_SPREADS[min(len(level), 3)]


def _is_plateau(counted: int, context: ModelContext | None, *, usual: bool) -> bool:
    """Return whether a count is that of a context, where nothing else proves the prompt whole.

    ``usual``: such a text is known to have about as many tokens.
    """
    if context is None:
        return False
    limits = [context.tokens, context.prompt or context.tokens]
    if context.prompt is None and not usual:
        limits.append(int(SHIFTED * context.tokens))
    return any(abs(counted - limit) <= PLATEAU_SLACK * limit for limit in limits)
