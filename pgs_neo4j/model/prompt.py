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
    "statement",
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
    """A node in a prompt; ``text`` may be one part of a very long text."""

    alias: str
    title: str
    text: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptNeighbor:
    """The digest of a neighboring partition, whose texts are not in the prompt.

    ``titles`` are the titles of its heaviest nodes. ``reached`` are the titles of its nodes with
    the most relationships from the partition in the prompt. ``edges`` counts the relationships
    between the two partitions.
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
    """A node of another partition that may work like the node of rank ``rank`` in the prompt.

    ``name`` is the name of the other partition, and ``title`` the title of the other node.
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
    ``n{r + 1}``. ``content`` is the part of ``user`` that the reply depends on; if it is empty, the
    reply depends on all of ``user``. ``receipts`` are codes in ``user`` that the reply must repeat
    in their order; they prove that the model was given the whole prompt. ``shared`` is the number
    of characters at the beginning of ``user`` that do not depend on the question, so that a
    provider's prompt cache can hold them for the next question.
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

    ``truncated``: it stopped at the token limit. ``left`` are the endpoint's remaining rate limits.
    ``doubted``: the endpoint reported an impossible usage, so ``usage`` is estimated. ``counted``
    is the length of the prompt in tokens as the endpoint reported it, None if it reported no
    length. ``proven``: it is certain that the model was given the whole prompt.
    """

    text: str
    usage: Usage
    model: str
    truncated: bool = False
    left: Left | None = None
    doubted: bool = False
    counted: int | None = None
    proven: bool = True
