"""The result of a search: what was found, why, and by which paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pgs_neo4j.model.answer import Answer

SearchMode = Literal[
    "naive",
    "local",
    "global",
    "hybrid",
    "mix",
    "multipath",
    "triplets",
    "structural",
    "auto",
    "summary",
    "bypass",
]

KeywordSource = Literal["words", "model"]
RerankerName = Literal["none", "cosine", "mmr", "distance", "mentions", "model", "http"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathReport:
    """How one path of a search went: its method, hits, and seconds.

    ``error`` is a sentence if it failed; the other paths count then.
    """

    name: str
    method: str
    count: int
    seconds: float
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundItem:
    """A node that a search found, with its score, and the score that each path gave it.

    ``way`` tells how relationships lead to it, if it was found beyond a node without text, or which
    node it is an analogy of.
    ``content`` and ``metadata`` have the form of the results of neo4j-graphrag's retrievers.
    """

    id: str
    key: str
    title: str
    text: str
    labels: tuple[str, ...]
    score: float
    scores: Mapping[str, float]
    way: str = ""

    @property
    def content(self) -> str:
        """Its title and text, each once."""
        if self.text.startswith(self.title):
            return self.text
        return f"{self.title}\n{self.text}" if self.text else self.title

    @property
    def metadata(self) -> dict[str, Any]:
        """Everything else about it, as JSON data."""
        return {
            "id": self.id,
            "key": self.key,
            "title": self.title,
            "labels": list(self.labels),
            "score": self.score,
            "scores": dict(self.scores),
            "way": self.way,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFact:
    """A relationship that a search found: its two ends by element id and title, and its score.

    ``name`` is what the graph calls it, by default its type. ``text`` is the fact that it states,
    where the graph stores one. ``hops`` counts the relationships between it and the nodes that the
    search itself found, itself included. A ``score`` is from 0 to 1.
    """

    id: str
    type: str
    source: str
    target: str
    source_title: str
    target_title: str
    hops: int
    score: float
    name: str = ""
    text: str = ""

    @property
    def line(self) -> str:
        """The relationship as text, with its fact."""
        line = f"{self.source_title} --[{self.name or self.type}]--> {self.target_title}"
        return f"{line}: {self.text}" if self.text else line


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundUnit:
    """A partition, at level 0, or a unit above some, whose texts match the question.

    ``abstract`` has its most typical sentences. ``domain_state`` is what the last run that read the
    partition reported of it, and ``run`` that run; both are empty before.
    """

    level: int
    id: int
    label: str
    titles: tuple[str, ...]
    size: int
    score: float
    abstract: str = ""
    domain_state: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFinding:
    """A finding of an earlier run. A model derived it from the graph; it is not part of the graph.

    ``score`` is the share of the question's words that it holds.
    """

    id: str
    text: str
    run: str
    partition: int
    score: float


FoundThing = FoundFact | FoundUnit | FoundFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found, best first, and the paths that took part.

    ``items`` are nodes. ``reason`` says why the mode was chosen, where the search chose it.
    ``warnings`` say what could not be compared, and what would help. ``context`` is the text that a
    prompt would show of it all, empty unless it was asked for. ``answer`` is the answer of a model,
    None unless it was asked for. ``changed``: another program has written to the database since
    the graph was partitioned.
    """

    question: str
    mode: SearchMode
    items: tuple[FoundItem, ...]
    paths: tuple[PathReport, ...]
    seconds: float
    warnings: tuple[str, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    units: tuple[FoundUnit, ...] = ()
    findings: tuple[FoundFinding, ...] = ()
    reason: str = ""
    context: str = ""
    answer: Answer | None = None
    changed: bool = False
