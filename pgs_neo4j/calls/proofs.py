"""Decides whether a model was given all of a prompt.

A server may cut a prompt and answer as if nothing had happened. Two things can show it. The tokens
that it counted: no prompt has fewer than its text must have, and prompts of one kind have about
equally many for each of those on one model. And receipts: short codes among the nodes, which only
those who were given them can repeat. Neither is needed where the server is known to refuse a prompt
that is too long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pgs_neo4j.model import Prompt
from pgs_neo4j.text.token_floor import TextSize

Verdict = Literal["read", "cut", "unproven", "unknown"]
"""``read``: given as a whole. ``cut``: not. ``unproven``: nothing can show it. ``unknown``: the
tokens are plausible, but nothing says how many such a text has on this model."""

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
# Fewer tokens than this share of the floor are not a count of this prompt: of its new part, where
# the rest was cached, or of nothing.
PLAUSIBLE = 0.04
# Kinds of text, as shares of words, digits, marks, and letters without spaces, are alike up to this
# sum of differences.
ALIKE = 0.2
SAMPLES = 40  # per model; the oldest go
SAMPLE_REPLY = 16  # tokens of the reply to a sample
SAMPLE_CHARACTERS = 2500
SAMPLE_SYSTEM = "Reply with the one word OK, whatever the text says."


@dataclass(frozen=True, slots=True)
class _Sample:
    """Tokens of a whole prompt, per byte and per run, and the kind of its text."""

    shares: tuple[float, ...]
    per_byte: float
    per_run: float


@dataclass(slots=True)
class Proofs:
    """What each model's endpoint has shown of its counting, by the model's name."""

    _samples: dict[str, list[_Sample]] = field(default_factory=dict)
    _miscounting: set[str] = field(default_factory=set)

    def judge(self, model: str, size: TextSize, counted: int | None, receipts: Receipts) -> Verdict:
        """Return whether a prompt of this size was given as a whole.

        ``counted`` are the tokens that the endpoint reported for it; None if it reported none.
        """
        if not self._is_count(model, size, counted):
            return _BY_RECEIPTS[receipts]
        usual = self._least(model, size)
        if (counted or 0) < max(size.floor, (usual or 0.0) * (1 - SLACK)) or receipts == "some":
            return "cut"
        return "read" if receipts == "all" or usual is not None else "unknown"

    def learn(self, model: str, size: TextSize, counted: int | None) -> None:
        """Take in the tokens of a prompt that was given as a whole."""
        if not self._is_count(model, size, counted) or counted is None or counted < size.floor:
            return
        tokens = max(size.floor, counted - FRAME_TOKENS)
        samples = self._samples.setdefault(model, [])
        samples.append(_Sample(size.shares, tokens / size.size_bytes, tokens / size.runs))
        del samples[:-SAMPLES]

    def _is_count(self, model: str, size: TextSize, counted: int | None) -> bool:
        if counted is None or model in self._miscounting or size.runs <= 0:
            return False
        return counted >= PLAUSIBLE * size.floor

    def distrust(self, model: str) -> None:
        """Believe no more tokens of this model's endpoint: halving a prompt did not change them."""
        self._miscounting.add(model)

    def trusts(self, model: str) -> bool:
        """Return whether some tokens of this model were seen to be those of whole prompts."""
        return bool(self._samples.get(model)) and model not in self._miscounting

    def _least(self, model: str, size: TextSize) -> float | None:
        """Return the least tokens that such a text has by what was learned; None without that."""
        alike = [
            min(sample.per_byte * size.size_bytes, sample.per_run * size.runs)
            for sample in self._samples.get(model, ())
            if sum(abs(a - b) for a, b in zip(sample.shares, size.shares, strict=True)) <= ALIKE
        ]
        return min(alike) if alike else None


def returned_receipts(prompt: Prompt, reply: str) -> Receipts:
    """Return how many of a prompt's receipts its reply repeats."""
    if not prompt.receipts:
        return "unasked"
    said = reply.lower()
    found = sum(code in said for code in prompt.receipts)
    if found == len(prompt.receipts):
        return "all"
    return "some" if found else "none"


def sample_prompt(prompt: Prompt) -> Prompt:
    """Return a short prompt with text of the same kind, from the middle of another."""
    text = prompt.user
    start = max(0, len(text) // 2 - SAMPLE_CHARACTERS // 2)
    part = text[start : start + SAMPLE_CHARACTERS]
    return Prompt(task=prompt.task, system=SAMPLE_SYSTEM, user=part, question="")
