"""Analogies between the texts of a graph, and the cost of finding them."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgs_neo4j.model.report import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Analogy:
    """Two nodes whose texts describe the same mechanism in different words.

    ``skeleton`` is the cosine of their skeletons, and ``raw`` the cosine of their texts.
    """

    first: str
    second: str
    skeleton: float
    raw: float

    @property
    def delta(self) -> float:
        """How much more similar the skeletons are than the texts."""
        return self.skeleton - self.raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Analogies:
    """The result of finding the analogies of a graph.

    ``texts`` counts the nodes with text. Of these, ``kept`` already had a skeleton, ``plain``
    describe no mechanism, ``missing`` have no skeleton yet, and ``commonplace`` have a skeleton
    that matches too many others. ``links`` counts the pairs that were stored, and ``best`` are some
    of them. ``stopped`` says which limit was reached; it is empty if none was.
    """

    graph: str
    model: str
    embedder: str
    texts: int
    kept: int
    plain: int
    missing: int
    commonplace: int
    links: int
    best: tuple[Analogy, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    seconds: float = 0.0
    stopped: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalogyPlan:
    """The cost of finding the analogies of a graph.

    ``texts`` counts the nodes with text. Of these, ``kept`` already have a skeleton, and
    ``shortened`` are so long that prompts show only their beginning. ``output_tokens`` is a likely
    number; ``output_most`` is the maximum. ``low`` and ``high`` bound the cost; both are None if
    the model has no price. ``embedded_tokens`` is the input of the embedder. ``budget`` says what a
    limit would leave out; it is empty if nothing is left out.
    """

    graph: str
    model: str
    embedder: str
    texts: int
    kept: int
    shortened: int
    calls: int
    input_tokens: int
    output_tokens: int
    output_most: int
    embedded_tokens: int
    low: float | None
    high: float | None
    budget: str = ""
