"""Masks secrets in texts such as log records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote

MASK = "***"
SHORTEST = 4
"""Minimum characters of a secret that is masked.

Masking shorter secrets would remove ordinary text and protect nothing.
"""

_SHAPES = re.compile(
    r"(?<=://)[^\s/@]+(?=@)"  # credentials in an address
    r"|(?i:\b(?:bearer|basic)\s+)[\w.~+/=-]+"
    r"|\bsk-[\w-]{16,}"  # keys of models
    r"|\bpgs_[\w-]{40,}"  # tokens of 'pgs token'
    r"|(?<=[#?&]token=)[\w-]+"
)
_hidden: set[str] = set()


def hide(secrets: Iterable[str | None]) -> None:
    """Mask these secrets in all later texts, in every form in which messages escape them."""
    for secret in secrets:
        if secret is not None and len(secret.strip()) >= SHORTEST:
            _hidden.update(_list_forms(secret), _list_forms(secret.strip()))


def redacted(text: str) -> str:
    """Mask all hidden secrets in a text, and everything that looks like a secret."""
    # Longest first, because a short secret may be a part of a longer one.
    for secret in sorted(_hidden, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _SHAPES.sub(MASK, text)


def _list_forms(secret: str) -> set[str]:
    """Return a secret in all forms in which messages may quote it."""
    return {secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], quote(secret, safe="")}
