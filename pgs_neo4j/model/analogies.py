"""Analogies between the texts of a graph: what was found, and what finding them would cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgs_neo4j.model.report import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Analogy:
    """Two nodes whose texts use other words for the same mechanism.

    ``skeleton`` and ``raw`` are the cosines of their skeletons and of their texts.
    """

    first: str
    second: str
    skeleton: float
    raw: float

    @property
    def delta(self) -> float:
        """How much more alike the skeletons are than the texts."""
        return self.skeleton - self.raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Analogies:
    """The analogies of a graph, as they were made.

    ``texts`` have a text; ``kept`` of them had a skeleton before. ``plain`` have no mechanism, and
    ``missing`` have no skeleton yet. ``commonplace`` have a skeleton that matches too many others.
    ``links`` pairs were stored; ``best`` names some of them. ``stopped`` says which limit was
    reached, and is empty if none was.
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
    """What making the analogies of a graph would cost.

    ``kept`` of its ``texts`` have a skeleton already. The prompts show the beginning of
    ``shortened`` ones. ``output_tokens`` are likely ones; ``output_most`` is the maximum. ``low``
    and ``high`` bound the cost; both are None if the model has no price. ``embedded_tokens`` is
    the length of what the embedder reads. ``budget`` says what a limit would leave out.
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
