"""The result of a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgs_neo4j.model import FoundThing


@dataclass(frozen=True, slots=True)
class Hits:
    """What a path found, and how: the scores of nodes by element id, best first.

    ``ways`` tell how relationships lead to some nodes. ``things`` are all that are not nodes.
    """

    method: str
    scores: Mapping[str, float] = field(default_factory=dict)
    ways: Mapping[str, str] = field(default_factory=dict)
    things: tuple[FoundThing, ...] = ()
