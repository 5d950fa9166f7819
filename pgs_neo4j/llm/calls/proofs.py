"""Decides whether a model was given the whole prompt.

A server may cut a prompt and answer as if nothing had happened. Two kinds of evidence reveal it.

The first is the server's count of tokens. A text has a minimum number of tokens, similar texts have
about equally many tokens per byte on one model, and a cut prompt has exactly as many tokens as fit
in the context. The count reveals any cut of more than a few percent.

The second is receipts: short codes among the nodes, which only a reader who was given them can
repeat. They reveal each cut at the beginning or the end. A stretch between two codes can vanish
unnoticed, unless the count of tokens reveals it.

If a model repeats no codes, only the count of tokens is left, and it is enough only if the context
is known. Otherwise, a small cut might go unnoticed, and nothing is proven.

A server that is known to refuse prompts that are too long gets no request for receipts, and is
trusted if it counts no tokens. If it counts too few, another program answers at its address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pgs_neo4j.llm.context import ModelContext
from pgs_neo4j.model import Prompt
from pgs_neo4j.text.tokens import LEAST_COUNT, TextSize

Verdict = Literal["read", "cut", "unproven"]
"""``read``: the model was given the whole prompt. ``cut``: it was not. ``unproven``: unknown."""

Receipts = Literal["all", "some", "none", "unasked"]

_BY_RECEIPTS: dict[Receipts, Verdict] = {
    "all": "read",
    "some": "cut",
    "none": "unproven",
    "unasked": "unproven",
}
# Servers miscount by a few percent (special tokens, templates, rounding). So the count of tokens
# alone cannot reveal a prompt that lost less than this share.
SLACK = 0.05
FRAME_TOKENS = 40  # tokens that a chat template may add around two messages
# Codes are at every quarter of a prompt or closer, so a reader who repeats all of them was given
# more than this share. A count below this share leaves out the tokens that the server had cached.
COUNTED_PART = 0.5
# A cut prompt has as many tokens as the context or, if the server shifts its context like Ollama,
# half as many. Once a cut was seen, only its size is a sign of a cut, because no server cuts to
# half of that size.
SHIFTED = 0.5
PLATEAU_SLACK = 0.03
# Two prompts cut to one context have about equal counts. A count below this share of another was
# not cut to the same context, so it can predict the other's true count.
SHORTER = 1 - PLATEAU_SLACK
FEWEST_SHORTER = 2  # a single shorter prompt may be of an odd kind
# If the count shrinks with the prompt, it is not the limit of a context: the endpoint counts in its
# own way.
SHRUNK = 0.7
# The kind of a text is its shares of words, digits, marks, and letters without spaces. Two texts
# are of one kind if the differences of their shares add up to at most this sum.
ALIKE = 0.2
# All prompts that are cut to one context have the same count, whatever their sizes. So the longest
# prompts of a kind were cut if they have the same count although the longest of them is larger than
# the shortest by this factor. Two whole prompts may share a count if their texts differ a little in
# tokens per byte. For three prompts that is unlikely, so they need less of a spread.
LEVEL_SPREADS = {2: 1.05, 3: 1.02}
LEVEL_SLACK = 1  # tokens, because a tokenizer may join or divide a word at the cut
SAMPLES = 40  # per model; the oldest are dropped


@dataclass(frozen=True, slots=True)
class _Sample:
    """The size of a prompt that seems whole, and the server's count of its tokens."""

    size: TextSize
    counted: int

    @property
    def tokens(self) -> float:
        """The tokens of the prompt, without the tokens of a chat template."""
        return max(self.size.floor, self.counted - FRAME_TOKENS)

    def usual(self, size: TextSize) -> float:
        """Predict from this sample the minimum tokens of a text of the same kind and this size."""
        by_bytes = size.size_bytes / self.size.size_bytes
        return self.tokens * min(by_bytes, size.runs / self.size.runs)


@dataclass(frozen=True, slots=True)
class OpenProof:
    """The evidence of one reply about its prompt, which later replies may help to judge.

    ``counted`` is the endpoint's count of the prompt's tokens; None if it reported none.
    """

    size: TextSize
    counted: int | None
    receipts: Receipts


@dataclass(slots=True)
class Proofs:
    """How the endpoint of each model counts tokens, by the model's name."""

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
        """Return whether the model was given the whole prompt, which has this size.

        ``counted`` is the endpoint's count of the prompt's tokens; None if it reported none.
        ``context`` is the model's context, as far as it is known.
        """
        if counted is None or not self.is_count(model, counted):
            return _BY_RECEIPTS[receipts]
        whole = receipts == "all"
        if whole and counted < COUNTED_PART * size.floor:
            return "read"
        if not whole and _is_beyond(counted, context):
            # The server counted the prompt before it cut it, or it counts in its own way.
            self._miscounting.add(model)
            return _BY_RECEIPTS[receipts]
        if self.is_short(model, size, counted):
            if not self._shrinks(model, size, counted):
                return "cut"
            self._miscounting.add(model)
            return _BY_RECEIPTS[receipts]
        # A prompt that was cut to half of a context would have half of the usual tokens.
        usual = bool(self._find_alike(model, size))
        if receipts == "some" or (not whole and _is_plateau(counted, context, usual=usual)):
            return "cut"
        return "read" if whole or context is not None else "unproven"

    def belies(self, model: str, size: TextSize, counted: int | None) -> bool:
        """Return whether a server cut this prompt although it is said to refuse long prompts.

        Only the count of tokens can show that, because such a server is not asked for receipts.
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
        """Remember the count of a prompt that the model was given as a whole."""
        if counted is None or counted < size.floor or not self.is_count(model, counted):
            return
        samples = self._samples.setdefault(model, [])
        samples.append(_Sample(size, counted))
        del samples[:-SAMPLES]

    def is_count(self, model: str, counted: int | None) -> bool:
        """Return whether a reported count can be the tokens of a prompt, whole or cut."""
        return counted is not None and counted >= LEAST_COUNT and model not in self._miscounting

    def counts(self, model: str) -> bool:
        """Return whether this model's endpoint has counted the tokens of a whole prompt."""
        return bool(self._samples.get(model)) and model not in self._miscounting

    def knows(self, model: str, size: TextSize) -> bool:
        """Return whether this model's endpoint has counted the tokens of a similar text."""
        return self.counts(model) and bool(self._find_alike(model, size))

    def distrust(self, model: str) -> None:
        """Forget the counts of prompts that seemed whole, because their server has cut one."""
        self._samples.pop(model, None)

    def forget(self, model: str) -> None:
        """Forget how a model's endpoint counts, because the name now belongs to another model."""
        self._samples.pop(model, None)
        self._cuts.pop(model, None)
        self._miscounting.discard(model)

    def is_short(self, model: str, size: TextSize, counted: int) -> bool:
        """Return whether a prompt of this size must have more tokens than the server counted."""
        alike = self._find_alike(model, size)
        usual = min((one.usual(size) for one in alike), default=0.0)
        shorter = [one.usual(size) for one in alike if one.tokens < SHORTER * counted]
        if len(shorter) >= FEWEST_SHORTER:
            usual = min(shorter)
        if counted < max(size.floor, usual * (1 - SLACK)):
            return True
        return _is_level([*alike, _Sample(size, counted)], counted)

    def _shrinks(self, model: str, size: TextSize, counted: int) -> bool:
        """Return whether the count of an earlier, longer prompt was too small by the same share.

        Then the endpoint counts in its own way, because a cut would not scale with the prompt.
        """
        cuts = self._cuts.setdefault(model, [])
        share = counted / size.floor
        for floor, earlier in cuts:
            alike = abs(earlier / floor - share) <= SLACK * share
            if alike and size.floor <= SHRUNK * floor:
                return True
        cuts.append((size.floor, counted))
        del cuts[:-SAMPLES]
        return False

    def _find_alike(self, model: str, size: TextSize) -> list[_Sample]:
        """Return the samples of the same kind of text."""
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
    """Return whether a server counted more tokens than fit in its model's context.

    This is false for a context that was learned from a refusal or a cut, since it may be larger.
    """
    if context is None or context.origin in ("cut", "refusal"):
        return False
    return counted > context.tokens * (1 + PLATEAU_SLACK)


def _is_level(alike: Sequence[_Sample], counted: int) -> bool:
    """Return whether the longest prompts of a kind have about this count, at any size.

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
    """Return whether a count equals a full context, so the prompt may have been cut to it.

    ``usual`` is true if counts of similar texts are known. Then half a context is no sign of a cut.
    """
    if context is None:
        return False
    limits = [context.tokens, context.prompt or context.tokens]
    if context.prompt is None and not usual:
        limits.append(int(SHIFTED * context.tokens))
    return any(abs(counted - limit) <= PLATEAU_SLACK * limit for limit in limits)
