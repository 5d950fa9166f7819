"""Hashes that show what changed between scans; their sums ignore order."""

from __future__ import annotations

import json
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.graph.csr import mixed


def digest(parts: object) -> str:
    """Return a hash of any JSON value, as 32 hexadecimal digits."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def text_hash(text: str) -> int:
    """Return a text's signed 64-bit hash, as Neo4j stores it."""
    return hash64(encoded(text))


def encoded(text: str) -> bytes:
    """Return the text's UTF-8 bytes, including those of unpaired surrogates."""
    return text.encode("utf-8", "surrogatepass")


def hash64(data: bytes) -> int:
    """Return the BLAKE2b hash of the bytes as a signed 64-bit integer."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little") - 2**63


def mixed_with(state: NDArray[np.uint64], column: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the state ``(k,)`` after mixing in one more column ``(k,)``."""
    with np.errstate(over="ignore"):
        return mixed((state + column).view(np.int64), 0)


def total(hashes: NDArray[np.uint64]) -> int:
    """Return the sum of hashes ``(n,)`` modulo 2**64."""
    return int(hashes.sum(dtype=np.uint64))
