"""Counts the tokens of a text without a tokenizer: an estimate, and a lower bound.

Byte-pair and unigram vocabularies never merge two words across white space, or a word with the
punctuation after it. So a text has at least as many tokens as runs. This bound is much closer than
a bound by bytes: English prose has 1.1 to 1.5 tokens per run in the vocabularies of current models.
Text without spaces is bounded by its characters, because vocabularies merge at most a few of them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

# English prose has about four characters per token in BPE vocabularies. Markup, names, and numbers
# take more tokens, so budgets use 3.5 bytes.
BYTES_PER_TOKEN = 3.5
DIGITS_PER_TOKEN = 4  # vocabularies contain all numbers of three digits, and few longer numbers
UNSPACED_PER_TOKEN = 4  # frequent words of Chinese, Japanese, and Thai are single tokens
MARKS_SHARE = 0.8  # tokens per run of marks; some runs are merged with a line's end or a space

# Runs overestimate the tokens of markup: "[n12]" has four runs in five bytes. So the lower bound
# never exceeds one token per this many bytes. Large vocabularies reach over five bytes on prose.
MOST_BYTES_PER_TOKEN = 6.0
WORDS_SHARE = 0.97  # tokens per run of letters; in some vocabularies, "don't" is one token

# A smaller reported count is not a real count of a prompt, whole or cut. Some endpoints always
# report 0 or 1, and no useful context is smaller than this.
LEAST_COUNT = 128

# Only the number of matches is needed, which takes a tenth of the time of reading each match.
_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(rf"\d{{1,{DIGITS_PER_TOKEN}}}")
_MARKS = re.compile(r"[^\w\s]+|_+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)


def estimate(text: str) -> int:
    """Return estimated tokens of ``text``: UTF-8 bytes divided by 3.5, rounded up."""
    count = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return estimate_bytes(count)


def estimate_bytes(count: int) -> int:
    """Return estimated tokens of ``count`` UTF-8 bytes, rounded up."""
    return math.ceil(count / BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class TextSize:
    """The size of a text: its bytes, and the minimum tokens of its runs, by kind."""

    size_bytes: int = 0
    words: float = 0.0
    digits: float = 0.0
    marks: float = 0.0
    unspaced: float = 0.0

    @property
    def runs(self) -> float:
        """The minimum tokens of all runs."""
        return self.words + self.digits + self.marks + self.unspaced

    @property
    def floor(self) -> float:
        """The minimum tokens of the text, by its runs or by its bytes, whichever gives fewer."""
        return min(self.runs, self.size_bytes / MOST_BYTES_PER_TOKEN)

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of each kind of run, which shows what kind of text it is."""
        total = self.runs or 1.0
        return tuple(kind / total for kind in (self.words, self.digits, self.marks, self.unspaced))


def measure(text: str) -> TextSize:
    """Return the size of a text; this takes linear time."""
    size_bytes = len(text.encode("utf-8", "surrogatepass"))
    unspaced = len(_UNSPACED.findall(text)) if not text.isascii() else 0
    if unspaced:
        text = _UNSPACED.sub(" ", text)
    return TextSize(
        size_bytes=size_bytes,
        words=len(_WORD.findall(text)) * WORDS_SHARE,
        digits=len(_DIGITS.findall(text)),
        marks=len(_MARKS.findall(text)) * MARKS_SHARE,
        unspaced=unspaced / UNSPACED_PER_TOKEN,
    )
