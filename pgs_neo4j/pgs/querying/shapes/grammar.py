"""Reads a question as one of a few shapes, in every way in which all its words have a place.

The reader goes from left to right. It takes a phrase that the shape can have at this place, and
continues behind it; where several phrases fit, it tries each of them. Only a reading that takes all
words of the question counts. So a word that no phrase has, such as "not", leaves no reading.
Nothing here reads the database: a name is a text that may turn out to name no node.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from itertools import islice

from pgs_neo4j.model.graph_schema import SchemaType
from pgs_neo4j.pgs.querying.shapes.parts import End, Kind, Link, Route, Shape
from pgs_neo4j.pgs.querying.shapes.phrases import (
    MOST_STEPS,
    is_passive,
    read_group,
    read_object,
    read_rest,
)
from pgs_neo4j.pgs.querying.shapes.question_reading import (
    Question,
    explain_choice,
    find_property,
    read_label,
    read_name,
    read_verb,
    skip_particle,
)
from pgs_neo4j.pgs.querying.shapes.schema_words import (
    is_date,
    is_number,
    split_name,
)
from pgs_neo4j.text.property_names import TITLE_WORDS, rank_name

MOST_READINGS = 200
"""A question with as many readings is refused."""


def read_shapes(question: Question) -> list[Shape]:
    """Return the readings of a question in which all its words have a place, each once."""
    readings = list(islice(_read(question), MOST_READINGS))
    if len(readings) == MOST_READINGS or question.steps > MOST_STEPS:
        # The readings that are left out could name other nodes.
        question.obstacles = {len(question.words): "its words fit together in too many ways"}
        return []
    return list(dict.fromkeys(readings))


def _read(q: Question) -> Iterator[Shape]:
    at = 0
    while (after := q.skip_any(at, q.language.politeness | {","})) > at:
        at = after
    yield from _read_paths(q, at)
    yield from _read_counts(q, at)
    yield from _read_aggregates(q, at)
    yield from _read_lists(q, at)
    yield from _read_who(q, at)


def _read_paths(q: Question, at: int) -> Iterator[Shape]:
    starts = {at, *(after for after, _ in q.skip(at, q.language.listing))}
    starts |= {q.skip_any(start, q.language.determiners) for start in starts}
    for start in starts:
        for before, middle, behind in q.language.paths:
            for first, _ in q.skip(start, before):
                yield from _read_ends(q, first, middle, behind)


def _read_ends(q: Question, at: int, middle: Set[str], behind: Set[str]) -> Iterator[Shape]:
    for after, one in _read_end(q, at):
        for second, _ in q.skip(after, middle):
            for last, other in _read_end(q, second):
                q.farthest = max(q.farthest, last)
                ends = [end for end, _ in q.skip(last, behind)] if behind else [last]
                if len(q.words) in ends:
                    yield Shape(kind="paths", ends=(one, other))


def _read_end(q: Question, at: int) -> Iterator[tuple[int, End]]:
    start = q.skip_any(at, q.language.determiners)
    for after, name in read_name(q, at):
        yield after, End(name)
    for behind, label in read_label(q, start):
        for after, name in read_name(q, q.skip_any(behind, q.language.called)):
            yield after, End(name, label)


def _read_counts(q: Question, at: int) -> Iterator[Shape]:
    for after, _ in q.skip(at, q.language.counting | q.language.numbering):
        start = q.skip_any(after, q.language.determiners)
        for behind, label in read_label(q, start):
            yield from read_rest(q, behind, Shape(kind="count", labels=(label,)))


def _read_aggregates(q: Question, at: int) -> Iterator[Shape]:
    starts = {at, *(after for after, _ in q.skip(at, q.language.listing))}
    for start in starts:
        for begun, phrase in q.skip(start, q.language.functions):
            function = q.language.functions[phrase]
            after = q.skip_any(begun, q.language.number_of)
            for of, words in q.spell(after):
                for begin, _ in q.skip(of, q.language.of):
                    head = q.skip_any(begin, q.language.determiners)
                    for behind, label in read_label(q, head):
                        measure = find_property(q, (label,), words, is_number, after)
                        if measure:
                            shape = Shape(
                                kind="aggregate",
                                labels=(label,),
                                function=function,
                                measure=measure,
                            )
                            yield from read_rest(q, behind, shape)
                yield from _read_grouped(q, of, words, function)


def _read_grouped(q: Question, at: int, words: list[str], function: str) -> Iterator[Shape]:
    """Read a group without an asked label: "average rating for each genre"."""
    owners = [
        one.label
        for one in q.schema.schema.labels
        if any(map(is_number, q.schema.find_properties(one.label, words)[0]))
    ]
    for label in owners:
        measure = find_property(q, (label,), words, is_number, at)
        shape = Shape(kind="aggregate", labels=(label,), function=function, measure=measure)
        if measure:
            for after, grouped in read_group(q, at, shape):
                # The mean of one value of each node is no mean.
                if after == len(q.words) and grouped.group and grouped.group.link:
                    yield grouped


def _read_lists(q: Question, at: int) -> Iterator[Shape]:
    for after, _ in (*q.skip(at, q.language.listing), (at, "")):
        for shape in _read_head(q, after, Shape(kind="list"), ""):
            # A label alone is no question.
            if after > at or shape != Shape(kind="list", labels=shape.labels):
                yield shape


def _read_head(q: Question, at: int, shape: Shape, shown: str) -> Iterator[Shape]:
    """Read what stands before the asked label, and then the rest of the question."""
    start = q.skip_any(at, q.language.determiners)
    for after, limit, kind in _read_limit(q, start):
        number = replace(shape, limit=limit, kind=kind)
        for begin, phrase in (*q.skip(after, q.language.adjectives), (after, "")):
            for behind, label in read_label(q, begin):
                labeled = replace(number, labels=(label,))
                if shown:
                    name = _find_shown(q, label, shown.split(), at)
                    if not name:
                        continue
                    labeled = replace(labeled, shown=name)
                if phrase:
                    yield from _read_adjective(q, behind, labeled, phrase)
                else:
                    yield from read_rest(q, behind, labeled)
    if not shown:
        for behind, words in q.spell(start):
            for after, _ in q.skip(behind, {"of"}):
                yield from _read_head(q, after, shape, " ".join(words))


def _find_shown(q: Question, label: str, words: list[str], at: int) -> str:
    """Return the property that a question wants to see: a title, or one that the words mean."""
    properties, whole = q.schema.find_properties(label, words)
    if not (properties and whole) and rank_name("_".join(words), TITLE_WORDS) is not None:
        return next(iter(q.schema.titles.get(label, ())), "")
    if properties and (linked := q.schema.find_related_type(label, words)):
        q.hinder(
            at, f"“{' '.join(words)}” may be {properties[0].name} of {label} or nodes of {linked}"
        )
        return ""
    return find_property(q, (label,), words, lambda _: True, at)


def _read_limit(q: Question, at: int) -> Iterator[tuple[int, int, Kind]]:
    """Yield the place behind a number of rows, the number, and the kind of shape."""
    yield at, 0, "list"
    number = _read_number(q, at)
    if number is not None:
        yield at + 1, number, "list"
    for after, _ in q.skip(at, q.language.best):
        number = _read_number(q, after)
        if number is not None:
            yield after + 1, number, "top"
    for after, _ in q.skip(at, q.language.first):
        number = _read_number(q, after)
        if number is not None:
            yield after + 1, number, "first"


def _read_number(q: Question, at: int) -> int | None:
    if at >= len(q.words):
        return None
    word = q.words[at]
    number = word.value if word.kind == "number" else q.language.numbers.get(word.lower)
    return number if isinstance(number, int) and 0 < number <= 1000 else None


def _read_adjective(q: Question, at: int, shape: Shape, phrase: str) -> Iterator[Shape]:
    (label,) = shape.labels
    comparisons = q.language.adjectives[phrase]
    fit = [
        (one, each.direction)
        for each in comparisons
        for one in q.schema.labels[label].properties
        if " ".join(split_name(one.name)) in each.properties
    ] or [
        (one, each.direction)
        for each in comparisons
        if not each.properties
        for one in q.schema.find_times(label)
    ]
    fit = [(one, direction) for one, direction in fit if is_number(one) or is_date(one)]
    if len(fit) == 1:
        ((measure, direction),) = fit
        descending = direction == "most"
        top = replace(shape, kind="top", measure=measure.name, descending=descending)
        yield from read_rest(q, at, top)
    else:
        q.hinder(at, explain_choice(f"“{phrase}”", label, [one for one, _ in fit]))


def _read_who(q: Question, at: int) -> Iterator[Shape]:
    """Read a question for the nodes at the other end of a type: "Who wrote Kiln Design?"."""
    for after, phrase in q.skip(at, q.language.who | q.language.what):
        for begin, named in _read_who_subjects(q, after):
            yield from _read_who_verb(q, begin, named, phrase in q.language.who)


def _read_who_subjects(q: Question, at: int) -> Iterator[tuple[int, str]]:
    yield at, ""
    for after, _ in q.skip(at, q.language.do):
        yield from read_name(q, after)


def _read_who_verb(q: Question, at: int, named: str, who: bool) -> Iterator[Shape]:
    for after, types in read_verb(q, q.skip_any(at, q.language.have) if not named else at):
        for one in types:
            sides = _list_sides(one, asked_is_subject=not named)
            labels = tuple(dict.fromkeys(own for own, _ in sides))
            routes = tuple(dict.fromkeys(route for _, route in sides))
            if not labels or (named and who):
                continue
            shape = Shape(kind="list", labels=labels)
            if named:
                linked = replace(shape, links=(Link(routes, named),))
                for behind in {after, skip_particle(q, after, one)}:
                    yield from read_rest(q, behind, linked)
                continue
            begin = skip_particle(q, after, one)
            for behind, name, label in read_object(q, begin):
                kept = tuple(route for route in routes if label in ("", route.label))
                if name and kept:
                    yield from read_rest(q, behind, replace(shape, links=(Link(kept, name),)))


def _list_sides(one: SchemaType, asked_is_subject: bool) -> list[tuple[str, Route]]:
    """Return the own label and the route of each pair of labels, if the asked node acts or not."""
    outgoing = asked_is_subject != is_passive(one.type)
    return [
        (source, Route(one.type, True, target))
        if outgoing
        else (target, Route(one.type, False, source))
        for source, target in one.ends
    ]
