"""Finds names in a statement that the schema does not have, with the nearest names it has.

A wrong name is a label, a type, or a property that does not exist, a property that its label does
not have, a type that never connects its two labels, or an arrow that points the wrong way. Neo4j
accepts all of them and returns no rows, so neither a model nor a user would notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from pgs_neo4j.database.queries import quote_odd
from pgs_neo4j.model.graph_schema import GraphSchema
from pgs_neo4j.pgs.querying.statements.names import (
    EntityKind,
    NameUse,
    PropertyUse,
    StatementNames,
    Step,
)
from pgs_neo4j.text.node_text import shortened
from pgs_neo4j.text.similar_names import compare_names

NameKind = Literal["label", "type", "property"]
Fault = Literal["label", "type", "property", "ends", "direction"]
Ends = tuple[str, str]

NEAREST = 3  # names to suggest
LEAST_SIMILAR = 0.6  # of the most similar letters or words, below which a name is not near
# A name of another kind, such as the property Article.author for AUTHORED, is a weaker suggestion.
_OTHER_KIND = 0.85
# What a candidate gains by its place: in the same label, beside it in the statement, and so on.
_SAME_OWNER = 0.25
_BESIDE = 0.2
_NEIGHBOR = 0.15
_IN_STATEMENT = 0.1
_CONNECTED = 0.08
_LIKE_OWNER = 0.05  # the property address of the label Address
_SAME_ENDS = 0.3
_REVERSED_ENDS = 0.2
_ONE_END = 0.1

_short = partial(shortened, length=60)


@dataclass(frozen=True, slots=True)
class NearName:
    """A name that exists: a label, a type with the labels it connects, or a property.

    ``owner`` is the label or the type of a property, and ``owner_kind`` says which of them.
    """

    kind: NameKind
    name: str
    owner: str = ""
    owner_kind: EntityKind = "node"
    ends: Ends | None = None

    def __str__(self) -> str:
        if self.kind == "property":
            owner = _label((self.owner,))
            place = f"({owner})" if self.owner_kind == "node" else f"[{owner}]"
            return f"{place}.{_show(self.name)}"
        shown = _show(self.name)
        return f"{shown} {_write_ends(self)}" if self.ends is not None else shown


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name of a statement that is wrong, the index of its token, and the nearest right names.

    ``owners`` are the labels or types that lack a property. For wrong ends and a wrong arrow, they
    are the labels of the source, ``targets`` are those of the target, and ``names`` are the types
    of the relationship. Otherwise, there is one name. ``str`` is a sentence about all this.
    """

    fault: Fault
    names: tuple[str, ...]
    at: int
    owners: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    owner_kind: EntityKind = "node"
    near: tuple[NearName, ...] = ()

    def __str__(self) -> str:
        return _describe(self)


def find_unknown_names(names: StatementNames, schema: GraphSchema) -> tuple[UnknownName, ...]:
    """Return the wrong names of a statement in the order of its tokens, each once.

    A schema without labels knows nothing, so nothing is wrong by it.
    """
    if not schema.labels:
        return ()
    known = _Known(schema)
    finder = _Finder(names, known)
    found: dict[tuple[object, ...], UnknownName] = {}
    for unknown in finder.find():
        found.setdefault((unknown.fault, unknown.names, unknown.owners, unknown.targets), unknown)
    return tuple(sorted(found.values(), key=lambda one: one.at))


@dataclass(slots=True)
class _Known:
    """The names of a schema, arranged for look-ups."""

    schema: GraphSchema
    labels: dict[str, frozenset[str]] = field(init=False)
    types: dict[str, frozenset[str]] = field(init=False)
    ends: dict[str, tuple[Ends, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self.labels = {
            one.label: frozenset(item.name for item in one.properties) for one in self.schema.labels
        }
        self.types = {
            one.type: frozenset(item.name for item in one.properties) for one in self.schema.types
        }
        self.ends = {one.type: one.ends for one in self.schema.types}

    def owners(self, kind: EntityKind) -> dict[str, frozenset[str]]:
        return self.labels if kind == "node" else self.types

    def properties(self) -> Iterator[NearName]:
        for label in self.schema.labels:
            for item in label.properties:
                yield NearName("property", item.name, label.label)
        for one in self.schema.types:
            for item in one.properties:
                yield NearName("property", item.name, one.type, "relationship")

    def connected(self, label: str) -> frozenset[str]:
        """Return the types of a label, and the labels that they lead to."""
        found: set[str] = set()
        for name, ends in self.ends.items():
            for source, target in ends:
                if label in (source, target):
                    found |= {name, source, target}
        return frozenset(found - {label})


@dataclass(frozen=True, slots=True)
class _Finder:
    names: StatementNames
    known: _Known

    def find(self) -> Iterator[UnknownName]:
        for use in self.names.labels:
            if use.name not in self.known.labels:
                yield UnknownName("label", (use.name,), use.at, near=self._find_near_labels(use))
        for use in self.names.types:
            if use.name not in self.known.types:
                yield UnknownName("type", (use.name,), use.at, near=self._find_near_types(use))
        for used in self.names.properties:
            if (unknown := self._check_property(used)) is not None:
                yield unknown
        for step in self.names.steps:
            yield from self._check_step(step)

    # Labels and types that do not exist

    def _find_near_labels(self, use: NameUse) -> tuple[NearName, ...]:
        def score(near: NearName) -> float:
            similar = compare_names(use.name, near.name)
            return similar if near.kind == "label" else similar * _OTHER_KIND

        labels = [NearName("label", label) for label in self.known.labels]
        return _choose([(score(near), near) for near in (*labels, *self._other_kinds())])

    def _other_kinds(self) -> Iterator[NearName]:
        """Yield what a missing label or type may mean instead: a property or a type."""
        yield from self.known.properties()
        for name, ends in self.known.ends.items():
            yield NearName("type", name, ends=ends[0] if ends else None)

    def _find_near_types(self, use: NameUse) -> tuple[NearName, ...]:
        sides = [
            (self._known_labels(step.source), self._known_labels(step.target))
            for step in self._steps_of(use)
        ]
        around = {label for side in sides for labels in side for label in labels}
        scored: list[tuple[float, NearName]] = []
        for name, ends in self.known.ends.items():
            gain, fitting = _fit_ends(ends, sides)
            similar = max(
                compare_names(use.name, name), self._compare_with_ends(use.name, name, around)
            )
            # A type between the same labels is worth a look, whatever its name.
            if similar >= LEAST_SIMILAR or gain >= _REVERSED_ENDS:
                near = NearName("type", name, ends=fitting)
                scored.append((gain + (similar if similar >= LEAST_SIMILAR else 0.0), near))
        for near in self.known.properties():
            gain = _BESIDE if near.owner in around else 0.0
            similar = compare_names(use.name, near.name)
            if similar >= LEAST_SIMILAR:
                scored.append((similar * _OTHER_KIND + gain, near))
        for label in self.known.labels:
            similar = compare_names(use.name, label)
            # The labels of the pattern itself are no news.
            if similar >= LEAST_SIMILAR and label not in around:
                scored.append((similar * _OTHER_KIND, NearName("label", label)))
        return _take(scored)

    def _compare_with_ends(self, wrong: str, name: str, around: Set[str]) -> float:
        """Return how alike a name is to the labels of a type that also stand in the pattern.

        HAS_INDUSTRY may mean HAS_CATEGORY, if both lead to IndustryCategory.
        """
        labels = {label for pair in self.known.ends[name] for label in pair} & around
        return max((compare_names(wrong, label) for label in labels), default=0.0)

    def _steps_of(self, use: NameUse) -> list[Step]:
        return [
            step for step in self.names.steps if use.name in self.names.names_of(step.relationship)
        ]

    def _known_labels(self, entity: int) -> tuple[str, ...]:
        return tuple(name for name in self.names.names_of(entity) if name in self.known.labels)

    # Properties

    def _check_property(self, use: PropertyUse) -> UnknownName | None:
        entity = self.names.entities[use.entity]
        everywhere = self.known.owners(entity.kind)
        owners = [name for name in entity.names if name in everywhere]
        if owners:
            # A label without any property was most likely not sampled.
            if any(
                use.name in everywhere[name] or (entity.kind == "node" and not everywhere[name])
                for name in owners
            ):
                return None
        elif any(use.name in properties for properties in everywhere.values()):
            # The entity may be anything, or its label is wrong, which is reported by itself.
            return None
        near = self._find_near_properties(use, owners)
        return UnknownName(
            "property", (use.name,), use.at, entity.names, owner_kind=entity.kind, near=near
        )

    def _find_near_properties(
        self, use: PropertyUse, owners: Sequence[str]
    ) -> tuple[NearName, ...]:
        kind = self.names.entities[use.entity].kind
        beside, neighbors = self._find_neighbors(use.entity)
        present = {name for entity in self.names.entities for name in entity.names}
        connected = {name for owner in owners for name in self.known.connected(owner)}
        if kind == "relationship":
            connected = {
                label for owner in owners for pair in self.known.ends[owner] for label in pair
            }

        def gain(owner: str, owner_kind: EntityKind, name: str) -> float:
            if owner in owners and owner_kind == kind:
                return _SAME_OWNER
            gains = (
                _BESIDE * (owner in beside),
                _NEIGHBOR * (owner in neighbors),
                _IN_STATEMENT * (owner in present),
                _CONNECTED * (owner in connected),
            )
            alike = max((compare_names(owner, one) for one in (name, *owners)), default=0.0)
            return max(gains) + _LIKE_OWNER * alike

        scored: list[tuple[float, NearName]] = []
        for near in self.known.properties():
            similar = compare_names(use.name, near.name)
            if similar >= LEAST_SIMILAR:
                scored.append((similar + gain(near.owner, near.owner_kind, near.name), near))
        for name, ends in self.known.ends.items():
            similar = compare_names(use.name, name)
            if similar >= LEAST_SIMILAR:
                near = NearName("type", name, ends=ends[0] if ends else None)
                scored.append((similar * _OTHER_KIND + _BESIDE * (name in connected), near))
        for label in self.known.labels:
            similar = compare_names(use.name, label)
            if similar >= LEAST_SIMILAR:
                scored.append((similar * _OTHER_KIND, NearName("label", label)))
        return _take(scored)

    def _find_neighbors(self, entity: int) -> tuple[set[str], set[str]]:
        """Return names beside an entity in the patterns: at its relationships, and beyond them.

        Beside a relationship, these are the labels of its nodes.
        """
        beside: set[str] = set()
        neighbors: set[str] = set()
        for step in self.names.steps:
            if entity in (step.source, step.target):
                beside.update(self.names.names_of(step.relationship))
                neighbors.update(self.names.names_of(step.source))
                neighbors.update(self.names.names_of(step.target))
            elif entity == step.relationship:
                beside.update(self.names.names_of(step.source))
                beside.update(self.names.names_of(step.target))
        return beside, neighbors

    # Patterns

    def _check_step(self, step: Step) -> Iterator[UnknownName]:
        types = self.names.names_of(step.relationship)
        ends = [pair for name in types for pair in self.known.ends.get(name, ())]
        # Nothing is certain if a type is unknown, or if the schema does not say what it connects.
        if not types or not all(self.known.ends.get(name) for name in types):
            return
        sources, targets = self._known_labels(step.source), self._known_labels(step.target)
        if len(sources) != len(self.names.names_of(step.source)) or len(targets) != len(
            self.names.names_of(step.target)
        ):
            return
        forward = _connects(ends, sources, targets, step.single)
        backward = _connects(ends, targets, sources, step.single)
        if forward or (backward and not step.directed):
            return
        at = self._place_of(types[0])
        if backward:
            near = tuple(
                NearName("type", name, ends=pair)
                for name in types
                for pair in self.known.ends[name]
                if _connects((pair,), targets, sources, step.single)
            )[:1]
            yield UnknownName("direction", types, at, sources, targets, near=near)
            return
        sides = [(sources, targets)]
        scored: list[tuple[float, NearName]] = []
        for name, pairs in self.known.ends.items():
            gain, fitting = _fit_ends(pairs, sides)
            if name not in types and gain >= _REVERSED_ENDS:
                score = gain + max(compare_names(one, name) for one in types)
                scored.append((score, NearName("type", name, ends=fitting)))
        own = tuple(
            NearName("type", name, ends=pair)
            for name in types
            for pair in self.known.ends[name][:1]
        )
        near = (*_take(scored), *own)[:NEAREST]
        yield UnknownName("ends", types, at, sources, targets, near=near)

    def _place_of(self, name: str) -> int:
        """Return the index of a type's token; of several uses, the first."""
        return next((use.at for use in self.names.types if use.name == name), 0)


def _connects(
    ends: Iterable[Ends], sources: Sequence[str], targets: Sequence[str], single: bool
) -> bool:
    """Return whether relationships may lead from one of ``sources`` to one of ``targets``.

    Without labels, a side may be anything. Of several relationships in a row, the first and the
    last may connect different labels.
    """
    pairs = tuple(ends)
    if single:
        return any(
            (not sources or source in sources) and (not targets or target in targets)
            for source, target in pairs
        )
    starts = not sources or any(source in sources for source, _ in pairs)
    return starts and (not targets or any(target in targets for _, target in pairs))


def _fit_ends(
    ends: Sequence[Ends], sides: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]
) -> tuple[float, Ends | None]:
    """Return what a type gains because it connects the labels of a step, and the labels."""
    best, fitting = 0.0, ends[0] if ends else None
    for sources, targets in sides:
        for pair in ends:
            source, target = pair
            gain = 0.0
            if source in sources and target in targets:
                gain = _SAME_ENDS
            elif source in targets and target in sources:
                gain = _REVERSED_ENDS
            elif source in sources or target in targets:
                gain = _ONE_END
            elif source in targets or target in sources:
                gain = _ONE_END / 2
            if gain > best:
                best, fitting = gain, pair
    return best, fitting


def _choose(scored: Iterable[tuple[float, NearName]]) -> tuple[NearName, ...]:
    return _take([(score, near) for score, near in scored if score >= LEAST_SIMILAR])


def _take(scored: Iterable[tuple[float, NearName]]) -> tuple[NearName, ...]:
    """Return the nearest names, best first; equal scores keep the order of the schema."""
    ordered = sorted(scored, key=lambda pair: -pair[0])
    return tuple(near for _, near in ordered[:NEAREST])


def _describe(unknown: UnknownName) -> str:
    names = _join(unknown.names)
    pattern = _arrow(unknown.names, unknown.owners, unknown.targets)
    match unknown.fault:
        case "label":
            return _suggest(f"there is no label {names}", unknown.near)
        case "type":
            return _suggest(f"there is no relationship type {names}", unknown.near)
        case "property" if not unknown.owners:
            start = f"no {unknown.owner_kind} has a property {names}"
            return _suggest(start, unknown.near)
        case "property":
            owners = _join(unknown.owners)
            place = f"(:{owners})" if unknown.owner_kind == "node" else f"[:{owners}]"
            return _suggest(f"{place} has no property {names}", unknown.near)
        case "ends":
            return _suggest(f"no relationship is {pattern}", unknown.near)
        case "direction":
            right = " or ".join(map(_write_ends, unknown.near))
            return f"{pattern} points the wrong way; write {right}"


def _suggest(start: str, near: Sequence[NearName]) -> str:
    if not near:
        return f"{start}, and nothing in the schema is like it"
    if len(near) == 1:
        return f"{start}; the nearest is {near[0]}"
    *others, last = map(str, near)
    comma = "," if len(others) > 1 else ""
    return f"{start}; the nearest are {', '.join(others)}{comma} and {last}"


def _write_ends(near: NearName) -> str:
    source, target = near.ends or ("", "")
    return _arrow((near.name,), (source,), (target,))


def _arrow(types: Sequence[str], sources: Sequence[str], targets: Sequence[str]) -> str:
    return f"({_label(sources)})-[{_label(types)}]->({_label(targets)})"


def _label(names: Sequence[str]) -> str:
    return f":{_join(names)}" if any(names) else ""


def _join(names: Sequence[str]) -> str:
    return "|".join(map(_show, names))


def _show(name: str) -> str:
    return quote_odd(_short(name))
