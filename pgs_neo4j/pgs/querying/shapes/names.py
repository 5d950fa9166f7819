"""Decides which nodes and values the names of a reading are, from what the database contains.

A name counts only if it is the whole text of a property. Letters may differ in case if no text has
them as the question does. A name of several nodes is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.pgs.querying.shapes.parts import Condition, End, Group, Link, Shape
from pgs_neo4j.pgs.querying.shapes.schema_words import SchemaWords, is_text


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name may stand: a label and one of its properties."""

    label: str
    property: str


@dataclass(frozen=True, slots=True)
class Found:
    """A text of a place: how many nodes have it, and the element id of the first of them."""

    text: str
    nodes: int
    element_id: str


Texts = Mapping[tuple[Place, str], Sequence[Found]]
"""The texts that were found, by their place and by the name in lower case."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Why a reading has no shape: ``name`` is not found, or ``reason`` says what else."""

    name: str = ""
    reason: str = ""


def list_sought(schema: SchemaWords, shapes: Iterable[Shape]) -> dict[Place, set[str]]:
    """Return the names to look for, in lower case, by the places where they may stand."""
    sought: dict[Place, set[str]] = {}

    def seek(labels: Iterable[str], name: str, properties: Sequence[str] = ()) -> None:
        for label in labels:
            for one in properties or schema.titles.get(label, ()):
                sought.setdefault(Place(label, one), set()).add(name.lower())

    for shape in shapes:
        for link in shape.links:
            if link.name:
                seek((route.label for route in (*link.routes, *link.doubtful)), link.name)
            if link.is_loose:
                for label in shape.labels:
                    seek([label], link.name, _list_values(schema, label))
        for condition in shape.conditions:
            if isinstance(condition.value, str):
                seek(shape.labels, condition.value, condition.properties)
        for end in shape.ends:
            seek([end.label] if end.label else schema.labels, end.name)
    return sought


def resolve_names(schema: SchemaWords, shape: Shape, texts: Texts) -> Shape | Unresolved:
    """Return a shape whose names are stored values, or why it has none."""
    links: list[Link] = []
    for link in shape.links:
        found = _resolve_link(schema, shape.labels, link, texts) if link.name else link
        if isinstance(found, Unresolved):
            return found
        links.append(found)
    conditions: list[Condition] = []
    for condition in shape.conditions:
        kept = _resolve_condition(shape.labels, condition, texts)
        if isinstance(kept, Unresolved):
            return kept
        conditions.append(kept)
    ends: list[End] = []
    for end in shape.ends:
        one = _resolve_end(schema, end, texts)
        if isinstance(one, Unresolved):
            return one
        ends.append(one)
    return replace(
        shape,
        links=tuple(links),
        conditions=tuple(conditions),
        ends=tuple(ends),
        counted=_keep_route(shape.counted),
        group=_keep_group(shape.group),
    )


def _keep_route(link: Link | None) -> Link | None:
    return link and replace(link, routes=link.routes[:1])


def _keep_group(group: Group | None) -> Group | None:
    return group and replace(group, link=_keep_route(group.link))


def _list_values(schema: SchemaWords, label: str) -> tuple[str, ...]:
    """Return the properties of a label with texts that are no titles."""
    titles = schema.titles.get(label, ())
    own = schema.labels[label].properties if label in schema.labels else ()
    return tuple(one.name for one in own if is_text(one) and one.name not in titles)


def _resolve_link(
    schema: SchemaWords, labels: Sequence[str], link: Link, texts: Texts
) -> Link | Unresolved:
    found = [
        (route, place, one)
        for route in link.routes
        for name in schema.titles.get(route.label, ())
        for place in [Place(route.label, name)]
        for one in _pick(place, link.name, texts)
    ]
    if not found:
        return Unresolved(name=link.name)
    for route in link.doubtful:
        for name in schema.titles.get(route.label, ()):
            if _pick(Place(route.label, name), link.name, texts):
                return Unresolved(reason=f"what follows “{link.name}” may be about that node")
    doubt = _check_nodes([(place, one) for _, place, one in found], link.name)
    if doubt is not None:
        return doubt
    if link.is_loose:
        for label in labels:
            for name in _list_values(schema, label):
                if _pick(Place(label, name), link.name, texts):
                    return Unresolved(
                        reason=f"“{link.name}” is a node and a value of {label}.{name}"
                    )
    ways = {(route.type, route.outgoing) for route, _, _ in found}
    if len(ways) > 1:
        named = " or by ".join(sorted({f"{route.type} ({route.label})" for route, _, _ in found}))
        return Unresolved(reason=f"“{link.name}” may be connected by {named}")
    route, place, one = found[0]
    return Link((route,), one.text, place.property)


def _resolve_end(schema: SchemaWords, end: End, texts: Texts) -> End | Unresolved:
    found = [
        (place, one)
        for label in ([end.label] if end.label else schema.labels)
        for name in schema.titles.get(label, ())
        for place in [Place(label, name)]
        for one in _pick(place, end.name, texts)
    ]
    if not found:
        return Unresolved(name=end.name)
    doubt = _check_nodes(found, end.name)
    if doubt is not None:
        return doubt
    place, one = found[0]
    return End(one.text, place.label, place.property)


def _resolve_condition(
    labels: Sequence[str], condition: Condition, texts: Texts
) -> Condition | Unresolved:
    if not isinstance(condition.value, str):
        return condition
    found = {
        (name, one.text)
        for name in condition.properties
        for label in labels
        for one in _pick(Place(label, name), condition.value, texts)
    }
    if not found:
        return Unresolved(name=condition.value)
    if len(found) > 1:
        listed = " or ".join(sorted(f"{name} “{text}”" for name, text in found))
        return Unresolved(reason=f"“{condition.value}” may be {listed}")
    ((name, text),) = found
    return replace(condition, properties=(name,), value=text)


def _pick(place: Place, name: str, texts: Texts) -> Sequence[Found]:
    """Return the texts that are spelled like the name, else those that differ in case."""
    found = texts.get((place, name.lower()), ())
    return [one for one in found if one.text == name] or found


def _check_nodes(found: Sequence[tuple[Place, Found]], name: str) -> Unresolved | None:
    """Return why the name does not stand for exactly one node, None if it does."""
    several = next(((place, one) for place, one in found if one.nodes > 1), None)
    if several is not None:
        place, one = several
        return Unresolved(reason=f"several nodes {place.label} are called “{one.text}”")
    if len({one.element_id for _, one in found}) > 1:
        listed = " or ".join(sorted({f"{place.label} “{one.text}”" for place, one in found})[:4])
        return Unresolved(reason=f"“{name}” may be {listed}")
    return None
