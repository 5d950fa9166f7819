"""The result of a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Hits:
    """The nodes that a path found, by element id, best first, and how it found them.

    ``ways`` tell how relationships lead to some of them.
    """

    method: str
    scores: Mapping[str, float] = field(default_factory=dict)
    ways: Mapping[str, str] = field(default_factory=dict)
