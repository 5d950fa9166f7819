"""Receipts as sweeps use them; see ``calls.receipts``."""

from __future__ import annotations

from pgs_neo4j.calls.receipts import (
    CODE_CHARACTERS,
    FEWEST,
    FRAME_CHARACTERS,
    place_receipts,
    request_receipts,
)

__all__ = [
    "CODE_CHARACTERS",
    "FEWEST",
    "FRAME_CHARACTERS",
    "place_receipts",
    "request_receipts",
]
