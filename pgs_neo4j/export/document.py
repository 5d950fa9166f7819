"""Defines the values to export: an answer, its cited nodes, and its partitions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pgs_neo4j.model import Answer
from pgs_neo4j.model.graph import ordered_topics


class AreaState(StrEnum):
    """How much of a partition its session has read.

    ``UNPROVEN``: no node counts as read, but some nodes were shown without proof that they were
    read. ``FAILED``: a sweep was tried and read no nodes.
    """

    READ = "read"
    PARTIAL = "partial"
    UNPROVEN = "unproven"
    FAILED = "failed"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceNode:
    """A cited node in its current state.

    ``text`` is None if the node is no longer in the graph. ``changed`` is true if the node's text
    differs from the text that was read.
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
    """A partition of the answer's generation, read or not.

    ``nodes_read`` counts the nodes that the session had read, and ``texts_read`` counts the read
    nodes that had text. ``nodes_unproven`` counts other nodes, which were shown without proof.
    Names are the same as in :class:`pgs_neo4j.model.Partition`.
    """

    partition: int
    nodes: int
    nodes_read: int
    state: AreaState
    pool: bool = False
    keywords: tuple[str, ...] = ()
    label: str = ""
    terms: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    abstract: str = ""
    texts: int = 0
    texts_read: int = 0
    nodes_unproven: int = 0

    @property
    def topics(self) -> tuple[str, ...]:
        """The label and terms, which distinguish the partition, followed by its keywords."""
        return ordered_topics(self.label, self.terms, self.keywords)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An answer with everything that its page shows.

    ``asked_at`` is an ISO 8601 time. ``areas`` are all partitions of the generation. ``sources``
    has cited or sighted nodes with their texts. Other cited or sighted nodes appear only by title.
    """

    answer: Answer
    asked_at: str
    areas: tuple[Area, ...] = ()
    sources: tuple[SourceNode, ...] = ()
