"""Reads the phrases that may follow the asked label of a question, each in every way that fits.

``PHRASES`` are functions that try to read one phrase at a place. Each yields the place behind the
phrase, and the shape with what the phrase adds; it yields nothing where the phrase does not stand.
A phrase that could be about two nodes is not read, and the reason is kept for the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from pgs_neo4j.model.graph_schema import SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.shapes.parts import Condition, Group, Link, Route, Shape, Sign
from pgs_neo4j.pgs.querying.shapes.question_reading import (
    Question,
    explain_choice,
    find_property,
    read_label,
    read_name,
    read_verb,
    skip_joined,
    skip_particle,
)
from pgs_neo4j.pgs.querying.shapes.schema_words import (
    OwnRoute,
    find_verbs,
    is_date,
    is_flag,
    is_number,
    is_text,
    split_name,
)

FIRST_YEAR, LAST_YEAR = 1000, 2999
SIGNS: Mapping[str, Sign] = {"same": "=", "above": ">", "below": "<", "least": ">=", "most": "<="}
MOST_STEPS = 500
"""Phrases that are read in all readings of a question. Published questions need fewer than 100."""

Agrees = Callable[[OwnRoute], bool]
Step = tuple[int, Shape]
"""The place behind a phrase, and the shape with what the phrase adds."""


def read_rest(q: Question, at: int, shape: Shape) -> Iterator[Shape]:
    """Yield each reading of the words from a place on to the end."""
    q.farthest = max(q.farthest, at)
    q.steps += 1
    if q.steps > MOST_STEPS:
        return
    if at == len(q.words):
        if _is_complete(q, shape):
            yield replace(shape, kind="list") if shape.kind == "first" else shape
        return
    for read in (_read_fillers,) if _is_closed(shape) else PHRASES:
        for after, more in read(q, at, shape):
            if after > at:
                yield from read_rest(q, after, more)


def _is_closed(shape: Shape) -> bool:
    """Return whether the latest nodes have no name, so that more words could belong to them.

    In "users who asked questions with a high score", the score is one of the questions.
    """
    if any(not link.name for link in shape.links) or shape.counted is not None:
        return True
    return shape.group is not None and shape.group.link is not None


def _is_complete(q: Question, shape: Shape) -> bool:
    end = len(q.words)
    if shape.kind == "top" and not shape.measure and shape.counted is None:
        q.hinder(end, "it asks for the top, but does not say by which number")
        return False
    if shape.kind == "first" and q.schema.find_times(shape.labels[0]):
        q.hinder(
            end,
            f"“first” may mean the earliest or any of the nodes {shape.labels[0]}",
        )
        return False
    return True


def _read_fillers(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    for after, _ in q.skip(at, q.language.fillers):
        yield after, shape


def _read_comparison(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read "with a rating above 4", "whose rating is 4", and "with more than 4 stars"."""
    begin = skip_joined(q, at)
    for after, _ in q.skip(begin, q.language.owning):
        start = q.skip_any(after, q.language.any_one)
        for behind, words in q.spell(start):
            number = find_property(q, shape.labels, words, is_number, start, quiet=True)
            own = _leave_owners(q, shape, words, is_number)
            if number and own:
                linked = q.skip_any(behind, q.language.be)
                linked = q.skip_any(linked, {"of"})
                for end, sign, value in _read_value(q, linked):
                    yield end, _add_condition(own, number, sign, value)
        for end, sign, value in _read_value(q, after):
            for behind, words in q.spell(end):
                number = find_property(q, shape.labels, words, is_number, end, quiet=True)
                own = _leave_owners(q, shape, words, is_number)
                if number and own and not q.schema.find_labels(words):
                    yield behind, _add_condition(own, number, sign, value)


def _read_value(q: Question, at: int) -> Iterator[tuple[int, Sign, tuple[int | float, ...]]]:
    """Yield the place behind a comparison with a number, its sign, and one number or two."""
    for after, phrase in (*q.skip(at, q.language.comparisons), (at, "")):
        for behind, number in _read_amount(q, after):
            later = [(end, word) for end, word in q.skip(behind, q.language.after_number)]
            if phrase:
                yield behind, SIGNS[q.language.comparisons[phrase]], (number,)
            elif later:
                yield later[0][0], SIGNS[q.language.after_number[later[0][1]]], (number,)
            else:
                yield behind, "=", (number,)
    for after, _ in q.skip(at, q.language.between):
        for behind, low in _read_amount(q, after):
            for second, _ in q.skip(behind, q.language.and_):
                for end, high in _read_amount(q, second):
                    yield end, ">=", (low, high)


def _read_amount(q: Question, at: int) -> Iterator[tuple[int, int | float]]:
    value = q.words[at].value if at < len(q.words) else None
    if value is not None:
        scaled = next(q.skip(at + 1, q.language.multipliers), None)
        if scaled is not None:
            after, word = scaled
            yield after, value * q.language.multipliers[word]
        else:
            yield at + 1, value


def _add_condition(
    shape: Shape, name: str, sign: Sign, values: tuple[int | float, ...], of_year: bool = False
) -> Shape:
    signs: tuple[Sign, ...] = (">=", "<=") if len(values) == 2 else (sign,)
    added = tuple(
        Condition((name,), each, value, of_year) for each, value in zip(signs, values, strict=True)
    )
    return replace(shape, conditions=(*shape.conditions, *added))


def _read_time(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read "published after 2010", "born in 1980", and "of 2020"."""
    begin = skip_joined(q, at)
    for relative in {begin, q.skip_any(begin, q.language.relative)}:
        start = q.skip_any(relative, q.language.be)
        for after, named, words in _read_time_words(q, start, shape):
            for end, sign, years in _read_years(q, after):
                found = {label: named or q.schema.find_times(label) for label in shape.labels}
                fit = dict.fromkeys(one for times in found.values() for one in times)
                own = _leave_dated(q, shape, words)
                if own is None:
                    q.hinder(end, "the year may be that of the asked or of the named node")
                elif len(fit) != 1:
                    q.hinder(end, explain_choice("the year", shape.labels[0], list(fit)))
                else:
                    (one,) = fit
                    yield end, _add_condition(own, one.name, sign, years, is_date(one))


def _read_time_words(
    q: Question, at: int, shape: Shape
) -> Iterator[tuple[int, tuple[SchemaProperty, ...], str]]:
    """Yield the place behind a word such as "published", and the properties that it means.

    There are no properties if the word may mean any time.
    """
    yield at, (), ""
    for after, word in ((end, words[0]) for end, words in q.spell(at) if len(words) == 1):
        named = tuple(
            dict.fromkeys(
                one for label in shape.labels for one in _find_dated(q, label, word)
            )
        )  # fmt: skip
        if named or word in q.language.dated:
            yield after, named, word


def _find_dated(q: Question, label: str, word: str) -> list[SchemaProperty]:
    verbs = find_verbs(word, q.language)
    return [
        one
        for one in q.schema.find_times(label)
        if find_verbs((split_name(one.name) or [""])[0], q.language) & verbs
    ]


def _leave_dated(q: Question, shape: Shape, word: str) -> Shape | None:
    """Leave out the routes of the latest link to nodes that have the time as well."""
    types = {route.type for link in shape.links[-1:] for route in link.routes}
    for one in q.schema.schema.types:
        if one.type in types and any(
            is_date(own) or q.schema.is_year(own) for own in one.properties
        ):
            return None
    is_named = word and any(_find_dated(q, label, word) for label in shape.labels)

    def has_time(label: str) -> bool:
        if is_named:
            return bool(_find_dated(q, label, word))
        times = q.schema.find_times(label)
        return any(split_name(one.name)[0] not in q.language.lives for one in times)

    return _leave_routes(shape, has_time)


def _read_years(q: Question, at: int) -> Iterator[tuple[int, Sign, tuple[int, ...]]]:
    for end, phrase in q.skip(at, q.language.time_comparisons):
        after = q.skip_any(end, q.language.years)
        year = _read_year(q, after)
        if year is not None:
            yield after + 1, SIGNS[q.language.time_comparisons[phrase]], (year,)
    for after, _ in q.skip(at, q.language.between):
        low = _read_year(q, after)
        for second, _ in q.skip(after + 1, q.language.and_):
            high = _read_year(q, second)
            if low is not None and high is not None:
                yield second + 1, ">=", (low, high)


def _read_year(q: Question, at: int) -> int | None:
    if at >= len(q.words) or not q.words[at].text.isdigit():
        return None
    value = q.words[at].value
    return value if isinstance(value, int) and FIRST_YEAR <= value <= LAST_YEAR else None


def _read_text(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read "called Horror", and "whose status is 'active'"."""
    begin = skip_joined(q, at)
    titles = tuple(dict.fromkeys(t for each in shape.labels for t in q.schema.titles.get(each, ())))
    if titles and shape.shown and not shape.links and not shape.conditions:
        for behind, name in read_name(q, at):  # "the year of the paper Kiln Design"
            yield behind, _add_text(shape, titles, name)
    if titles and not shape.links:
        for after, _ in q.skip(begin, q.language.called):
            for behind, name in read_name(q, after):
                yield behind, _add_text(shape, titles, name)
    for after, _ in q.skip(begin, q.language.owning | {"in", "of"}):
        start = q.skip_any(after, q.language.any_one)
        for behind, words in q.spell(start):
            name = find_property(q, shape.labels, words, is_text, start, quiet=True)
            if not name or q.schema.find_labels(words):
                continue
            own = _leave_owners(q, shape, words, is_text)
            if own is None:
                q.hinder(start, f"“{name}” may be a property of the asked or of the named node")
                continue
            linked = q.skip_any(behind, q.language.be | {"of"} | q.language.called)
            for end, text in read_name(q, linked):
                yield end, _add_text(own, (name,), text)


def _add_text(shape: Shape, properties: tuple[str, ...], text: str) -> Shape:
    return replace(shape, conditions=(*shape.conditions, Condition(properties, "=", text)))


def _read_flag(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read "that are answered", if ``answered`` is a property that is true or false."""
    begin = q.skip_any(skip_joined(q, at), q.language.relative)
    for start, _ in q.skip(begin, q.language.be):
        for after, words in q.spell(start):
            name = find_property(q, shape.labels, words, is_flag, start, quiet=True)
            if not name or (not name.lower().startswith("is") and q.schema.find_types(words)):
                continue
            if own := _leave_owners(q, shape, words, is_flag):
                added = Condition((name,), "=", True)
                yield after, replace(own, conditions=(*own.conditions, added))


def _read_linked(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read a node that the asked nodes are connected with: "written by Ann", "of Tom Hanks"."""
    begin = skip_joined(q, at)
    for start in {begin, q.skip_any(begin, q.language.relative)}:
        acts = start > begin
        for helper in {start, q.skip_any(start, q.language.have)}:
            yield from _read_active(q, helper, shape, acts)
        for after, _ in q.skip(start, q.language.be):
            yield from _read_passive(q, after, shape, True)
            yield from _read_plain(q, after, shape)
        yield from _read_passive(q, start, shape, False)
        for after, _ in q.skip(start, q.language.have):
            yield from _read_role(q, after, shape)
        yield from _read_plain(q, start, shape)
        if acts:
            yield from _read_subject(q, start, shape)
    yield from _read_done(q, begin, shape)


def _read_active(q: Question, at: int, shape: Shape, acts: bool) -> Iterator[Step]:
    """Read "cite Kiln Design" and "acted in Jaws"; ``acts`` after "that", "which", or "who"."""
    for after, types in read_verb(q, at):
        yield from _read_objects(q, after, shape, types, _asked_acts, verb=True)
        yield from _read_prepositional(q, after, shape, types, acts)


def _read_passive(q: Question, at: int, shape: Shape, is_be: bool) -> Iterator[Step]:
    """Read "written by Ann" and "is tagged with 'kiln'"."""
    for after, types in read_verb(q, at):
        for begin, _ in q.skip(after, q.language.by):
            yield from _read_objects(q, begin, shape, types, _named_acts, verb=True)
        if is_be:
            yield from _read_prepositional(q, after, shape, types, acts=False)


def _read_prepositional(
    q: Question, at: int, shape: Shape, types: list[SchemaType], acts: bool
) -> Iterator[Step]:
    """Read a preposition behind a verb, and a node: "tagged with 'kiln'", "held in the rack R1".

    A type whose own words have the preposition leads to the node behind it. Otherwise the asked
    node has to be where the type begins, as with "tagged with"; or the preposition says a place, as
    with "held in". "Written for Ann" is neither, since Ann would be the writer. Between nodes of
    one label, only "that" or "who" shows that the asked node acts: "cited in" is not "who cite".
    """
    is_ongoing = q.words[at - 1].lower.endswith(q.language.ongoing)
    places = q.language.inside | (q.language.places if is_ongoing else frozenset())
    for begin, phrase in q.skip(at, q.language.prepositions):

        def leads(route: OwnRoute, phrase: str = phrase) -> bool:
            if phrase in split_name(route.type):
                return _asked_acts(route)
            if route.own == route.label and not acts:
                return False
            if _asked_acts(route):
                return phrase in q.language.verb_prepositions
            return phrase in places and route.own != route.label

        yield from _read_objects(q, begin, shape, types, leads, verb=True)


def _read_role(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read "have the keyword 'jealousy'", if a type has that word and no label."""
    start = q.skip_any(at, q.language.any_one)
    for after, types in read_verb(q, start):
        begin = q.skip_any(after, q.language.called)
        for end, name in read_name(q, begin):
            yield from _add_link(q, at, end, shape, types, _asked_acts, name, "")


def _read_plain(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read a preposition and a node, without a verb: "in the genre Horror", "by Ann"."""
    language = q.language
    types = list(q.schema.schema.types)
    makers = [one for one in types if _names_making(q, one.type)]
    for after, _ in q.skip(at, language.by):
        yield from _read_objects(q, after, shape, makers, _named_acts, verb=False)
    for after, _ in q.skip(at, language.neutral | language.have | {"having"}):
        yield from _read_objects(q, after, shape, types, _either_acts, verb=False)
    for after, phrase in q.skip(at, language.prepositions - language.neutral):

        def leads(route: OwnRoute, phrase: str = phrase) -> bool:
            """Return whether a preposition such as "to" or "about" can mean the route."""
            if phrase in language.about and _is_topic(q, route.label):
                return True
            words = q.schema.list_type_words(route.type)
            is_noun = len(words) == 1 and route.own in q.schema.find_labels(words)
            return route.outgoing and (phrase in split_name(route.type) or is_noun)

        yield from _read_objects(q, after, shape, types, leads, verb=False)


def _names_making(q: Question, name: str) -> bool:
    """Return whether a type says who made something, so that "papers by Ann" can mean it."""
    return any(
        find_verbs(word, q.language) & q.language.making for word in q.schema.list_type_words(name)
    )


def _is_topic(q: Question, label: str) -> bool:
    return "".join(split_name(label)[-1:]) in q.language.topics


def _read_done(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read "did Ann write", and "did each author write"."""
    for after, _ in q.skip(at, q.language.do):
        yield from _read_subject(q, after, shape)
        for behind, name, label in read_object(q, after):
            if not name:
                continue
            for end, _ in q.skip(behind, q.language.have):
                yield from _add_link(
                    q, at, end, shape, list(q.schema.schema.types), _either_acts, name, label
                )
        if shape.kind == "count" and shape.group is None:
            for begin, _ in q.skip(after, q.language.each):
                for behind, label in read_label(q, begin):
                    for end, types in read_verb(q, behind):
                        for one in types:
                            stop = skip_particle(q, end, one)
                            yield from _add_group(q, stop, shape, [one], _named_acts, label)
                    for end, _ in q.skip(behind, q.language.have):
                        types = list(q.schema.schema.types)
                        yield from _add_group(q, end, shape, types, _either_acts, label)


def _read_subject(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read "Ann wrote" and "Tom Hanks acted in", where the named node acts."""
    for behind, name, label in read_object(q, at):
        for helped in {behind, q.skip_any(behind, q.language.have)} if name else ():
            for after, types in read_verb(q, helped):
                for one in types:
                    for stop in {after, skip_particle(q, after, one)}:
                        yield from _add_link(q, at, stop, shape, [one], _named_acts, name, label)


def _add_group(
    q: Question, end: int, shape: Shape, types: list[SchemaType], agrees: Agrees, label: str
) -> Iterator[Step]:
    link = _find_link(q, end, shape.labels, types, agrees, label)
    if link is not None:
        yield end, replace(shape, group=Group(link=link))


def _read_objects(
    q: Question, at: int, shape: Shape, types: list[SchemaType], agrees: Agrees, verb: bool
) -> Iterator[Step]:
    """Read a node by its name or its label, and add the link with it."""
    for after, name, label in read_object(q, at):
        if name or verb:
            yield from _add_link(q, at, after, shape, types, agrees, name, label, not verb)


def read_object(q: Question, at: int) -> Iterator[tuple[int, str, str]]:
    """Yield the place behind a node, its name, and its label; either may be empty."""
    for after, name in read_name(q, at):
        yield after, name, ""
    start = q.skip_any(at, q.language.any_one)
    for after, label in read_label(q, start):
        if start == at or q.words[at].lower != "the":
            yield after, "", label
        for behind, name in read_name(q, q.skip_any(after, q.language.called)):
            yield behind, name, label
    for after, name in read_name(q, start):
        for behind, label in read_label(q, after):
            yield behind, name, label


def _add_link(
    q: Question,
    at: int,
    end: int,
    shape: Shape,
    types: list[SchemaType],
    agrees: Agrees,
    name: str,
    label: str,
    loose: bool = False,
) -> Iterator[Step]:
    """Add a link by one of the types. ``agrees`` accepts their routes that fit."""
    routes = _find_routes(q, shape.labels, types, agrees, label)
    if not routes:
        return
    link = Link(tuple(routes), name, is_loose=loose and not label)
    if not name and len({(route.type, route.outgoing) for route in routes}) > 1:
        q.hinder(at, _explain_routes(routes))
        return
    # "reviews of films by Ann": the reviews or the films may be by Ann.
    own = _leave_routes(shape, lambda other: bool(_find_routes(q, (other,), types, agrees, label)))
    if own is None:
        q.hinder(at, "this may belong to the asked or to the named node")
    else:
        yield end, replace(own, links=(*own.links, link))


def _leave_routes(shape: Shape, owns: Callable[[str], bool]) -> Shape | None:
    """Leave out the routes of the latest link to labels that own what follows; None if all do."""
    if not shape.links:
        return shape
    *links, last = shape.links
    kept = tuple(route for route in last.routes if not owns(route.label))
    left = tuple(route for route in last.routes if owns(route.label))
    link = replace(last, routes=kept, doubtful=(*last.doubtful, *left))
    return replace(shape, links=(*links, link)) if kept else None


def _find_routes(
    q: Question, labels: tuple[str, ...], types: list[SchemaType], agrees: Agrees, label: str
) -> list[Route]:
    """Return the routes of the types from the labels that agree with who acts."""
    found = [
        route
        for route in q.schema.find_routes(labels, types)
        if label in ("", route.label) and agrees(route)
    ]
    return list(dict.fromkeys(Route(one.type, one.outgoing, one.label) for one in found))


def _asked_acts(route: OwnRoute) -> bool:
    """Return whether the asked node is the one that does what the type says."""
    return route.outgoing != is_passive(route.type)


def _named_acts(route: OwnRoute) -> bool:
    return not _asked_acts(route)


def _either_acts(route: OwnRoute) -> bool:
    """Accept both directions, where a question does not say which node acts."""
    return bool(route.type)


def is_passive(name: str) -> bool:
    """Return whether a type leads from what is acted on, as ``WRITTEN_BY`` and ``OFFICER_OF``."""
    return split_name(name)[-1:] == ["by"]


def _explain_routes(routes: list[Route]) -> str:
    ways = sorted(
        {f"{route.type} {'to' if route.outgoing else 'from'} {route.label}" for route in routes}
    )
    return f"the nodes may be connected by {' or by '.join(ways[:4])}"


def _find_link(
    q: Question,
    at: int,
    labels: tuple[str, ...],
    types: list[SchemaType],
    agrees: Agrees,
    label: str,
) -> Link | None:
    """Return the only link to nodes of a label, without a name."""
    routes = _find_routes(q, labels, types, agrees, label)
    if len(routes) == 1:
        return Link(tuple(routes))
    if routes:
        q.hinder(at, _explain_routes(routes))
    return None


def _read_ranking(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read "by revenue", "with the highest rating", and "wrote the most papers"."""
    if shape.kind not in ("list", "top", "first") or shape.measure or shape.counted:
        return
    if shape.kind == "top":
        for after, _ in q.skip(at, q.language.ranked_by | q.language.ordered_by):
            yield from _read_measure(q, after, shape, "most")
    begin = q.skip_any(at, q.language.relative)
    for start, _ in q.skip(begin, q.language.owning):
        for after, phrase in q.skip(start, q.language.superlatives):
            if shape.kind == "top" and q.language.superlatives[phrase] == "least":
                q.hinder(at, "“top” and “lowest” contradict each other")
                continue
            yield from _read_measure(q, after, shape, q.language.superlatives[phrase])
    for start in {begin, q.skip_any(begin, q.language.have)}:
        for after, verbs in read_verb(q, start):
            for one in verbs:
                stop = skip_particle(q, after, one)
                for behind, phrase in q.skip(stop, q.language.superlatives):
                    if q.language.superlatives[phrase] == "most":
                        yield from _read_counted(q, behind, shape, [one], _asked_acts)


def _read_measure(q: Question, at: int, shape: Shape, direction: str) -> Iterator[Step]:
    start = q.skip_any(at, q.language.any_one)
    start = q.skip_any(start, {"highest", "most", "largest"}) if direction == "most" else start
    for after, words in q.spell(q.skip_any(start, q.language.number_of)):

        def can_order(one: SchemaProperty) -> bool:
            return is_number(one) or is_date(one)

        name = find_property(q, shape.labels, words, can_order, start)
        own = _leave_owners(q, shape, words, can_order)
        if name and own and not q.schema.find_labels(words):
            yield after, replace(own, kind="top", measure=name, descending=direction == "most")
    if direction == "most":
        types = list(q.schema.schema.types)
        for counted in {start, q.skip_any(start, q.language.number_of)}:
            yield from _read_counted(q, counted, shape, types, _either_acts)
    else:
        for after, _ in read_label(q, q.skip_any(start, q.language.number_of)):
            q.hinder(after, "“fewest” may or may not mean the nodes that have none")


def _read_counted(
    q: Question, at: int, shape: Shape, types: list[SchemaType], agrees: Agrees
) -> Iterator[Step]:
    for after, label in read_label(q, at):
        if q.schema.has_number_of(shape.labels[0], label):
            q.hinder(at, f"a property of {shape.labels[0]} may hold the number of {label} as well")
            return
        link = _find_link(q, at, shape.labels, types, agrees, label)
        if link is not None and not shape.links:
            yield after, replace(shape, kind="top", counted=link)


def read_group(q: Question, at: int, shape: Shape) -> Iterator[Step]:
    """Read "per year" and "by genre" at the end of a question."""
    if shape.kind not in ("count", "aggregate") or shape.group is not None:
        return
    for after, _ in q.skip(at, q.language.per):
        for behind, words in q.spell(after):
            labels = q.schema.find_labels(words)
            name = find_property(q, shape.labels, words, lambda _: True, after, quiet=True)
            if labels and name:
                q.hinder(at, f"“{words[-1]}” may be the label {labels[0]} or the property {name}")
                continue
            for label in labels:
                types = list(q.schema.schema.types)
                link = _find_link(q, at, shape.labels, types, _either_acts, label)
                if link is not None:
                    yield behind, replace(shape, group=Group(link=link))
            if name:
                yield behind, replace(shape, group=Group(name))
            elif not labels and len(words) == 1 and words[0] in q.language.years:
                times = [one for label in shape.labels for one in q.schema.find_times(label)]
                if len(times) == 1:
                    group = Group(times[0].name, is_date(times[0]))
                    yield behind, replace(shape, group=group)
                else:
                    q.hinder(after, explain_choice("the year", shape.labels[0], times))


def _leave_owners(
    q: Question, shape: Shape, words: list[str], fits: Callable[[SchemaProperty], bool]
) -> Shape | None:
    """Leave out the routes of the latest link to nodes that have the property as well."""

    def owns(label: str) -> bool:
        return any(map(fits, q.schema.find_properties(label, words)[0]))

    return _leave_routes(shape, owns)


PHRASES: tuple[Callable[[Question, int, Shape], Iterator[Step]], ...] = (
    _read_fillers,
    _read_comparison,
    _read_time,
    _read_text,
    _read_flag,
    _read_linked,
    _read_ranking,
    read_group,
)
