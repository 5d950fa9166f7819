"""What is exported: an answer, the nodes it rests on, and the partitions it stands among."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pgs_neo4j.model import Answer


class AreaState(StrEnum):
    """How much of a partition the session has read; ``failed``: a sweep tried and read nothing."""

    READ = "read"
    PARTIAL = "partial"
    FAILED = "failed"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceNode:
    """A cited node as it is in the graph now.

    ``text`` is None when the node is gone; ``changed``: its text is another than was read.
    """

    partition: int
    alias: str
    key: str
    title: str
    text: str | None
    labels: tuple[str, ...] = ()
    changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A partition of the generation, read or not; ``nodes_read`` counts those of the session."""

    partition: int
    nodes: int
    nodes_read: int
    state: AreaState
    pool: bool = False
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An answer with all that its page shows.

    ``asked_at`` is an ISO 8601 time. ``areas`` are all partitions of the generation.
    ``sources`` may hold any nodes that are cited or sighted; of others only the title is shown.
    """

    answer: Answer
    asked_at: str
    areas: tuple[Area, ...] = ()
    sources: tuple[SourceNode, ...] = ()
