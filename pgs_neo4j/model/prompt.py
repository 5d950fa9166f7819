"""Prompts for models, and their replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgs_neo4j.model.graph import Relationship
from pgs_neo4j.model.report import Report, Usage

Task = Literal[
    "sweep",
    "reduction",
    "synthesis",
    "search",
    "skeletons",
    "answer",
    "keywords",
    "rerank",
    "extraction",
    "gleaning",
    "description",
    "judging",
    "settling",
    "embedding",
]
Effort = Literal["minimal", "low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class PromptNode:
    """A node in a prompt.

    ``text`` may be one part of a very long text.
    """

    alias: str
    title: str
    text: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptNeighbor:
    """The digest of a neighboring partition, which the reader does not read.

    ``titles`` are those of its heaviest nodes. ``reached`` are those of the nodes that most
    relationships from the partition at hand lead to.
    """

    name: str
    keywords: tuple[str, ...]
    summary: str
    edges: int = 0
    lineage: str = ""
    titles: tuple[str, ...] = ()
    reached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptAnalogy:
    """A node of another partition that may work like the node of rank ``rank``.

    ``name`` is the name of that partition.
    """

    rank: int
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class PromptReport:
    """A partition's report in the synthesis prompt; ``text`` is its Markdown."""

    name: str
    keywords: tuple[str, ...]
    report: Report
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One model call: the two messages, and the same content as values.

    A language model receives only ``system`` and ``user``. Readers that are not language models
    (``extractive``, ``scripted``) may use the values. The node of rank r has the alias
    ``n{r + 1}``. ``content`` is the part of ``user`` that a reply depends on.
    If it is empty, the reply depends on all of ``user``. ``receipts`` are codes in ``user`` that
    the reply is to repeat, in their order; they show that its reader was given all of it.
    ``shared`` is the number of characters at the beginning of ``user`` that do not depend on the
    question, so that a provider's prompt cache can hold them for the next one.
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
    receipts: tuple[str, ...] = ()
    shared: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """An endpoint's remaining rate limits, and the seconds until they reset."""

    requests: int | None = None
    tokens: int | None = None
    requests_reset_s: float | None = None
    tokens_reset_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's whole reply.

    ``truncated``: it stopped at the token limit. ``left`` are the endpoint's remaining rate
    limits. ``doubted``: the endpoint reported a usage that cannot be, so it is estimated.
    ``counted`` are the prompt's tokens as the endpoint reported them; None: not reported.
    ``proven``: the model is known to have been given all of the prompt.
    """

    text: str
    usage: Usage
    model: str
    truncated: bool = False
    left: Left | None = None
    doubted: bool = False
    counted: int | None = None
    proven: bool = True
