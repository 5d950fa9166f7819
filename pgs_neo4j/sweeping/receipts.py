"""Receipts: short codes among the nodes of a prompt, which its reader repeats.

Only a reader that was given a code can repeat it, because it follows from the whole prompt and
stands nowhere else. One stands before the first node, one behind the last, and the others at most
2,000 tokens apart, so whatever a server cuts off takes one of them along.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Sequence
from hashlib import blake2b

APART_TOKENS = 2000
LEAST_APART_TOKENS = 250
FEWEST = 4  # in a short prompt, so that a cut in its middle takes one along
LENGTH = 5  # characters of a code: one in 33 million
REQUEST = (
    "Codes such as ~{example}~ stand among the nodes. Before anything else, write one line that "
    "repeats all of them in their order: Codes: ..."
)
FRAME_CHARACTERS = len(REQUEST) + 40  # with the first and the last code
CODE_CHARACTERS = LENGTH + 3


def place_receipts(texts: Sequence[str], tokens: Sequence[int]) -> tuple[str, tuple[str, ...]]:
    """Return the texts of nodes as one with codes between them, and the codes in their order.

    ``tokens`` are those of each text.
    """
    apart = max(LEAST_APART_TOKENS, min(APART_TOKENS, sum(tokens) // FEWEST))
    seed = blake2b("\n".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    codes = [_code(seed, 0, texts)]
    lines = [f"~{codes[0]}~"]
    since = 0
    for place, (text, count) in enumerate(zip(texts, tokens, strict=True), start=1):
        lines.append(text)
        since += count
        if since >= apart or place == len(texts):
            codes.append(_code(seed, len(codes), texts))
            lines.append(f"~{codes[-1]}~")
            since = 0
    return "\n".join(lines), tuple(codes)


def request_receipts(codes: Sequence[str]) -> str:
    """Return the sentence that asks for codes; empty without any."""
    return REQUEST.format(example="ab3de") if codes else ""


def _code(seed: bytes, number: int, texts: Sequence[str]) -> str:
    """Return a code that no text holds."""
    while True:
        digest = blake2b(number.to_bytes(4), key=seed, digest_size=8).digest()
        code = b32encode(digest).decode()[:LENGTH].lower()
        if not any(code in text.lower() for text in texts):
            return code
        seed = blake2b(seed, digest_size=16).digest()
