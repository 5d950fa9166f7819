"""The result of a search: the items found, their scores, and the paths that found them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pgs_neo4j.model.statement_rows import StatementRows

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
    "cypher",
]

StatementSource = Literal["none", "words", "model"]
"""Who may write the statement of a search: no one, pgs from the question's words, or a model."""

KeywordSource = Literal["words", "model"]
RerankerName = Literal["none", "cosine", "mmr", "distance", "mentions", "model", "http"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathReport:
    """The result of one path of a search: its method, number of hits, and seconds.

    ``error`` is a sentence if the path failed; the search then uses the other paths.
    """

    name: str
    method: str
    count: int
    seconds: float
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundItem:
    """A node that a search found, with its score and its score in each path.

    ``way`` shows the relationships that lead to it through a node without text, or the node that it
    is an analogy of; otherwise it is empty. ``content`` and ``metadata`` have the form of results
    of the retrievers of neo4j-graphrag.
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
        """The title and the text; only the text if it begins with the title."""
        if self.text.startswith(self.title):
            return self.text
        return f"{self.title}\n{self.text}" if self.text else self.title

    @property
    def metadata(self) -> dict[str, Any]:
        """All other fields, as JSON data."""
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
    """A relationship that a search found, with the element ids and titles of its two ends.

    ``name`` is its name in the graph, empty if it has none besides its type. ``text`` is the fact
    that it states, empty if the graph stores none. ``hops`` counts the relationships from the nodes
    where the walk began, this one included. ``score`` is from 0 to 1.
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
    """A partition (level 0) or a unit of the hierarchy whose texts match the question.

    ``abstract`` consists of its most typical sentences. ``domain_state`` is from the last report on
    the partition, and ``run`` is the id of that report's run; both are empty without a report.
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
    """A finding of an earlier run. A model derived it from the graph, which does not contain it.

    ``score`` is the share of the question's words that the finding contains.
    """

    id: str
    text: str
    run: str
    partition: int
    score: float


FoundThing = FoundFact | FoundUnit | FoundFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The results of a search, best first, and the paths that it walked.

    ``items`` are nodes. ``reason`` says why the search chose its mode; it is empty if the caller
    chose it. ``warnings`` say what could not be compared, and what would help. ``context`` is the
    text that a prompt would show of the results, empty unless it was requested. ``answer`` is the
    answer of a model, None unless it was requested. ``changed``: another program has written to the
    database since the graph was partitioned. ``rows`` are what a Cypher statement read, in the mode
    ``cypher`` only; None if no statement was read.
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
    rows: StatementRows | None = None
