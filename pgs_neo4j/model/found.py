"""The result of a search: what was found, why, and by which paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

SearchMode = Literal["naive", "hybrid", "structural"]


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

    ``way`` tells how relationships lead to it, if it was found beyond a node without text.
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
class Found:
    """What a search found, best first, and the paths that took part.

    ``warnings`` say what could not be compared, and what would help.
    """

    question: str
    mode: SearchMode
    items: tuple[FoundItem, ...]
    paths: tuple[PathReport, ...]
    seconds: float
    warnings: tuple[str, ...] = ()
