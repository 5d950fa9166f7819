"""Hashes by which a scan tells what changed. Sums of them do not depend on any order."""

from __future__ import annotations

import json
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.graph.csr import mixed


def digest(parts: object) -> str:
    """A short hash of what can be written as JSON."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def text_hash(text: str) -> int:
    """Signed 64 bits of a text, what Neo4j stores as an integer."""
    return hash64(encoded(text))


def encoded(text: str) -> bytes:
    """The text's bytes; half a character, too, has some."""
    return text.encode("utf-8", "surrogatepass")


def hash64(data: bytes) -> int:
    """Signed 64 bits."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little") - 2**63


def mixed_with(state: NDArray[np.uint64], column: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The state (k,) after taking in one more column."""
    with np.errstate(over="ignore"):
        return mixed((state + column).view(np.int64), 0)


def total(hashes: NDArray[np.uint64]) -> int:
    """The sum modulo 2**64."""
    return int(hashes.sum(dtype=np.uint64))
