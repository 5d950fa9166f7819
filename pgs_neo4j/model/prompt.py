"""What a model is shown, and what it replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgs_neo4j.model.graph import Relationship
from pgs_neo4j.model.report import Report, Usage

Task = Literal["sweep", "reduction", "synthesis", "search"]
Effort = Literal["minimal", "low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class PromptNode:
    """A node as it stands in a prompt; ``text`` may be one part of a very long one."""

    alias: str
    title: str
    text: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptNeighbor:
    """The digest of a partition that the reader sees but does not read."""

    name: str
    keywords: tuple[str, ...]
    summary: str
    edges: int = 0
    lineage: str = ""


@dataclass(frozen=True, slots=True)
class PromptReport:
    """One partition's report as the synthesis sees it; ``text`` is the rendered Markdown."""

    name: str
    keywords: tuple[str, ...]
    report: Report
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One model call: the two messages, and the same content as values.

    A language model is sent ``system`` and ``user`` and nothing else. Readers that are
    not language models (``extractive``, ``scripted``) may use the values. The node of rank r
    has the alias ``n{r + 1}``. ``content`` is what a reply depends on, where that is less than
    the whole of ``user``.
    """

    task: Task
    system: str
    user: str
    question: str
    nodes: tuple[PromptNode, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    neighbors: tuple[PromptNeighbor, ...] = ()
    reports: tuple[PromptReport, ...] = ()
    partition: int | None = None
    content: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What an endpoint says it would still take, and the seconds until it takes all again."""

    requests: int | None = None
    tokens: int | None = None
    requests_reset_s: float | None = None
    tokens_reset_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's whole reply. ``truncated`` when it stopped for want of room.

    ``left`` is what the endpoint said it would still take.
    """

    text: str
    usage: Usage
    model: str
    truncated: bool = False
    left: Left | None = None
