"""What a survey finds. Frozen, without I/O."""

from __future__ import annotations

from dataclasses import dataclass

OUR_LABELS = "Pgs"
OUR_TYPES = "PGS_"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProperty:
    """A property as the sampled nodes of one label hold it.

    ``nodes`` have it; ``texts`` of them as a string, ``prose`` of these in natural language.
    ``types`` are Cypher's names. ``sizes`` pairs each length of a list of numbers with the
    nodes that have it, the commonest first. ``unique`` when a constraint keeps it so.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipProperty:
    """A property as the sampled relationships of one type hold it."""

    name: str
    relationships: int
    types: tuple[str, ...]
    least: float | None = None
    greatest: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSample:
    """A label: nodes in the database, nodes in the sample, and their properties.

    The label is empty for the nodes that have none. Properties stand by falling coverage.
    """

    label: str
    count: int
    sampled: int = 0
    properties: tuple[NodeProperty, ...] = ()

    def share(self, found: NodeProperty) -> float:
        """Share of the sampled nodes that have the property, 0 to 1."""
        return found.nodes / self.sampled if self.sampled else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeSample:
    """A relationship type: relationships in the database and in the sample, and properties."""

    type: str
    count: int
    sampled: int = 0
    properties: tuple[RelationshipProperty, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a database holds; ours (Pgs labels, PGS_ types) stands apart and is not sampled.

    Labels and types stand by falling count. ``floor`` is None when every count is exact,
    else the number at which counting a label or type was stopped.
    """

    nodes: int
    relationships: int
    labels: tuple[LabelSample, ...] = ()
    relationship_types: tuple[TypeSample, ...] = ()
    our_labels: tuple[tuple[str, int], ...] = ()
    our_types: tuple[tuple[str, int], ...] = ()
    floor: int | None = None
