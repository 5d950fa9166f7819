"""Removes accents from text."""

from __future__ import annotations

import unicodedata


def strip_accents(text: str) -> str:
    """Return a text in its compatible form (NFKD) without combining marks: ``José`` is ``Jose``."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
