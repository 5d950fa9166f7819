"""Estimates token counts without a tokenizer."""

from __future__ import annotations

import math

# About four characters a token is the customary figure for English prose in BPE vocabularies;
# markup, names and numbers cost more, so 3.5 bytes is the middle ground budgets are made with.
BYTES_PER_TOKEN = 3.5


def estimate(text: str) -> int:
    """Tokens that ``text`` is likely to cost: UTF-8 bytes over 3.5, rounded up."""
    count = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return estimate_bytes(count)


def estimate_bytes(count: int) -> int:
    """Tokens that so many UTF-8 bytes of text are likely to cost."""
    return math.ceil(count / BYTES_PER_TOKEN)
