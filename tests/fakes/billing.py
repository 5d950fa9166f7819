"""A provider's books: what it counts and bills for each call, including its prompt cache."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from pgs_neo4j.config.models_table import ModelEntry

Form = Literal[
    "openai", "openrouter", "deepseek", "moonshot", "xai", "gemini", "impossible", "silent"
]
FORMS: tuple[Form, ...] = (
    "openai", "openrouter", "deepseek", "moonshot", "xai", "gemini", "impossible", "silent",
)  # fmt: skip
THOUGHT = 321
"""Thinking tokens of each reply, which two of the forms count in addition to the reply."""
Share = Callable[[int], tuple[int, int]]
"""Returns how many tokens of a prompt were cached, and how many were stored."""

BLOCK_TOKENS = 16
"""Tokens of a block. A cache holds whole blocks from the beginning of a prompt."""
LONG_TOKENS = 1_000
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of a million tokens: uncached input, cached input, stored input, and output."""

    plain: int
    cached: Fraction
    stored: Fraction
    output: int


SHORT = Rates(2_000, Fraction(200), Fraction(2_500), 10_000)
LONG = Rates(4_000, Fraction(400), Fraction(5_000), 15_000)
PRICES = ModelEntry(
    input_price=2_000, output_price=10_000, cached_input_price=200, cache_write_price=2_500,
    long_prompt_tokens=LONG_TOKENS, long_input_price=4_000, long_output_price=15_000,
)  # fmt: skip
"""The same prices, as a user configures them."""


@dataclass(slots=True)
class Billed:
    """The billed tokens, in kinds that do not overlap."""

    calls: int = 0
    uncached: int = 0
    cache_writes: int = 0
    cache_reads: int = 0
    output: int = 0

    @property
    def input(self) -> int:
        """All tokens of the prompts."""
        return self.uncached + self.cache_writes + self.cache_reads


@dataclass(slots=True)
class Books:
    """Counts calls in the form of one vendor, and bills each of them.

    The beginning that a prompt shares with an earlier prompt counts as cached. In the form
    ``openrouter``, the rest counts as stored. ``share`` replaces both rules. In the form
    ``impossible``, nothing is cached, and the reported counts are impossible. In the form
    ``silent``, nothing is cached or reported.
    """

    form: Form = "openai"
    share: Share | None = None
    cost: Fraction = Fraction(0)
    totals: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    _seen: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _odd: Any = field(
        default_factory=lambda: itertools.cycle((-1, 10**18, None, "many", [], 2.5, 10**30))
    )
    _lock: Any = field(default_factory=threading.Lock)

    def begin(self, form: Form = "openai", share: Share | None = None) -> None:
        """Open new books, but keep the prompt cache."""
        self.form, self.share, self.cost = form, share, Fraction(0)
        self.totals.clear()

    def usage(self, body: dict[str, Any], text: str) -> dict[str, Any]:
        """Bill a call, and return its usage."""
        said = "".join(str(message["content"]) for message in body["messages"])
        read, written = len(said.encode()) // 4 + 1, len(text.encode()) // 4 + 1
        thought = THOUGHT if self.form in ("xai", "gemini") else 0
        with self._lock:
            cached, stored = self._divide(str(body["model"]), said, read)
            rates = LONG if read > LONG_TOKENS else SHORT
            self.cost += (
                (read - cached - stored) * rates.plain
                + cached * rates.cached
                + stored * rates.stored
                + (written + thought) * rates.output
            ) / MILLION
            parts = {"input": read, "output": written + thought, "cached": cached, "stored": stored}
            for name, count in (*parts.items(), ("calls", 1), ("long", int(rates is LONG))):
                self.totals[name] += count
            return {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written + thought,
                **self._report(read, cached, stored),
            }

    def _divide(self, model: str, said: str, read: int) -> tuple[int, int]:
        if self.form in ("impossible", "silent"):
            return 0, 0
        if self.share is not None:
            return self.share(read)
        former = self._seen[model]
        common = max((_common(said, one) for one in former), default=0)
        former.append(said)
        cached = min(read, common // 4) // BLOCK_TOKENS * BLOCK_TOKENS
        return cached, read - cached if self.form == "openrouter" else 0

    def _report(self, read: int, cached: int, stored: int) -> dict[str, Any]:
        match self.form:
            case "openai":
                return {"prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0}}
            case "xai" | "gemini":
                told = {"completion_tokens_details": {"reasoning_tokens": THOUGHT}}
                read_details: dict[str, Any] = {"prompt_tokens_details": {"cached_tokens": cached}}
                return read_details | (told if self.form == "xai" else {})
            case "openrouter":
                details = {"cached_tokens": cached, "cache_write_tokens": stored}
                return {"prompt_tokens_details": details, "cost": float(self.cost)}
            case "deepseek":
                miss = read - cached
                return {"prompt_cache_hit_tokens": cached, "prompt_cache_miss_tokens": miss}
            case "moonshot":
                return {"cached_tokens": cached}
            case "impossible":
                odd = next(self._odd)
                details = {"cached_tokens": odd, "cache_write_tokens": odd}
                return {"prompt_tokens_details": details, "cached_tokens": read + 1}
            case "silent":
                return {"prompt_tokens_details": None}


def _common(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))
