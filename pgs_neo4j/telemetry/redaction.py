"""Keeps secrets out of log records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote

MASK = "***"
SHORTEST = 4
"""Characters of a secret. Shorter ones would blot out ordinary text, and protect nothing."""

_SHAPES = re.compile(
    r"(?<=://)[^\s/@]+(?=@)"  # credentials in an address
    r"|(?i:\b(?:bearer|basic)\s+)[\w.~+/=-]+"
    r"|\bsk-[\w-]{16,}"  # keys of models
    r"|\bpgs_[\w-]{40,}"  # tokens of 'pgs token'
    r"|(?<=[#?&]token=)[\w-]+"
)
_hidden: set[str] = set()


def hide(secrets: Iterable[str | None]) -> None:
    """Mask these texts in all log records from now on, however they are escaped."""
    for secret in secrets:
        if secret is not None and len(secret.strip()) >= SHORTEST:
            _hidden.update(_forms(secret), _forms(secret.strip()))


def redacted(text: str) -> str:
    """Return the text with all hidden secrets, and what looks like one, masked."""
    for secret in sorted(_hidden, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _SHAPES.sub(MASK, text)


def _forms(secret: str) -> set[str]:
    """Return a secret as messages may quote it."""
    return {secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], quote(secret, safe="")}
