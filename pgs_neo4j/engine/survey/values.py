"""The results of a survey, as frozen values without I/O, and how names are quoted for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgs_neo4j.engine.survey.shapes import Shape

OUR_LABELS = "Pgs"
OUR_TYPES = "PGS_"
MAX_SHOWN = 60
_JOINTS = str.maketrans("_.", "aa")  # characters that a name may have without quotation marks


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProperty:
    """A property in the sampled nodes of one label.

    ``nodes`` counts the nodes that have it, ``texts`` those where it is a string, and ``prose``
    those where it is natural language. ``types`` are Cypher's names of types. ``sizes`` pairs each
    length of a list of numbers with its number of nodes, the most frequent first. ``unique`` means
    that a constraint makes its values unique. ``shapes`` pairs each kind of content with its number
    among some of the distinct strings, the most frequent first.
    """

    name: str
    nodes: int
    types: tuple[str, ...]
    distinct: int = 0
    texts: int = 0
    mean_length: float | None = None
    longest: int | None = None
    prose: int = 0
    least: float | None = None
    greatest: float | None = None
    sizes: tuple[tuple[int, int], ...] = ()
    unique: bool = False
    shapes: tuple[tuple[Shape, int], ...] = ()

    def share_of(self, *shapes: Shape) -> float:
        """Return the share of the examined strings that have one of these shapes, 0 to 1."""
        return _sum_share(self.shapes, shapes)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipProperty:
    """A property in the sampled relationships of one type, with counts as for nodes.

    A list of strings counts as one text.
    """

    name: str
    relationships: int
    types: tuple[str, ...]
    distinct: int = 0
    texts: int = 0
    mean_length: float | None = None
    prose: int = 0
    least: float | None = None
    greatest: float | None = None
    shapes: tuple[tuple[Shape, int], ...] = ()

    def share_of(self, *shapes: Shape) -> float:
        """Return the share of the examined strings that have one of these shapes, 0 to 1."""
        return _sum_share(self.shapes, shapes)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSample:
    """A label with its nodes, its sampled nodes, and their properties.

    Nodes without labels have the empty label. Properties are in order of falling coverage.
    """

    label: str
    count: int
    sampled: int = 0
    properties: tuple[NodeProperty, ...] = ()

    def share(self, candidate: NodeProperty) -> float:
        """Return the share of the sampled nodes that have the property, 0 to 1."""
        return candidate.nodes / self.sampled if self.sampled else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeSample:
    """A relationship type with its relationships, the sampled ones, and their properties."""

    type: str
    count: int
    sampled: int = 0
    properties: tuple[RelationshipProperty, ...] = ()

    def share(self, candidate: RelationshipProperty) -> float:
        """Return the share of the sampled relationships that have the property, 0 to 1."""
        return candidate.relationships / self.sampled if self.sampled else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The content of a database.

    Labels and types are in order of falling count. Those of this package (``Pgs…``, ``PGS_…``)
    are listed apart and never sampled. ``floor`` is None if every count is exact, otherwise the
    number at which counting stopped.
    """

    nodes: int
    relationships: int
    labels: tuple[LabelSample, ...] = ()
    relationship_types: tuple[TypeSample, ...] = ()
    our_labels: tuple[tuple[str, int], ...] = ()
    our_types: tuple[tuple[str, int], ...] = ()
    floor: int | None = None


def _sum_share(counts: Sequence[tuple[Shape, int]], shapes: Sequence[Shape]) -> float:
    seen = sum(count for _, count in counts)
    return sum(count for shape, count in counts if shape in shapes) / seen if seen else 0.0


def quote_name(name: str) -> str:
    """Quote a name with special characters, and cut a long one."""
    cut = name if len(name) <= MAX_SHOWN else f"{name[: MAX_SHOWN - 1]}…"
    plain = cut.isascii() and cut.translate(_JOINTS).isalnum()
    return cut if plain else repr(cut)
