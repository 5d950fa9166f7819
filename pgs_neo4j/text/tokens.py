"""Estimates token counts without a tokenizer."""

from __future__ import annotations

import math

# English prose takes about four characters a token in BPE vocabularies. Markup, names, and numbers
# take more tokens, so budgets use 3.5 bytes.
BYTES_PER_TOKEN = 3.5


def estimate(text: str) -> int:
    """Return estimated tokens of ``text``: UTF-8 bytes divided by 3.5, rounded up."""
    count = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return estimate_bytes(count)


def estimate_bytes(count: int) -> int:
    """Return estimated tokens of ``count`` UTF-8 bytes, rounded up."""
    return math.ceil(count / BYTES_PER_TOKEN)
