r"""Writes the statement of a shape from templates, whose tokens it replaces by names and values.

A template is a whole statement with names such as ``Asked``, ``LINK``, and ``measure``. ``write``
puts tokens in the place of these names, so that no text of a question or of a schema is ever parsed
as Cypher. The links and conditions of a shape are the middle parts of templates of their own; they
replace the pattern, the condition, and ``WITH DISTINCT`` at the start of the shape's template.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.gate.tokens import Token, read_tokens, write_tokens
from pgs_neo4j.database.queries import Query
from pgs_neo4j.pgs.querying.shapes.parts import Condition, Link, Route, Shape
from pgs_neo4j.pgs.querying.shapes.schema_words import SchemaWords

MOST_ROWS = 100
"""Rows of a list. The statement asks for one more, so that it shows whether there are more."""

MOST_PATHS = 5
Tokens = tuple[Token, ...]
_COMMA = Token("symbol", ",")
_AND = Token("word", "AND", spaced=True)


def write_statement(schema: SchemaWords, shape: Shape) -> str:
    """Return the complete statement of a shape, whose names are stored values."""
    template = read_tokens(_choose_template(schema, shape).statement)
    if shape.kind == "paths":
        return _write_paths(schema, shape, template)
    label = shape.labels[0]
    link = shape.counted or (shape.group.link if shape.group else None)
    route = link.routes[0] if link else None
    group = shape.group.property if shape.group else ""
    limit = shape.limit or (1 if shape.kind == "top" else MOST_ROWS + 1)
    names = {
        "title": _name(schema.name_property(label)),
        "shown": _name(shape.shown),
        "measure": _name(shape.measure),
        "grouped": _name(group),
    }
    if route is not None:
        template = _point(template, route)
        names["other.title"] = _name(schema.name_property(route.label))
    template = _fill(template, names, {"limit": write_value(limit)})
    if shape.group is not None and shape.group.of_year:
        template = _read_year(template, group)
    for place, name in (("shown", shape.shown), ("measure", shape.measure), ("grouped", group)):
        if name not in ("", "title", "count", "result"):
            template = _swap(template, place, name)
    tokens = _replace_start(shape, template)
    if shape.function:
        tokens = _swap(tokens, "avg", shape.function)
    return write_tokens(tokens if shape.descending else _swap(tokens, "DESC", "ASC"))


def write_value(value: float | str | bool) -> Token:
    r"""Return a value as a token.

    A text has ``\\`` before each quote and backslash, so that it ends where the token ends.
    """
    if isinstance(value, bool):
        return Token("word", "true" if value else "false", spaced=True)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return Token("string", f"'{escaped}'", spaced=True)
    return Token("number", repr(value), spaced=True)


def _choose_template(schema: SchemaWords, shape: Shape) -> Query:
    title = schema.name_property(shape.labels[0]) if shape.labels else ""
    shows_more = shape.shown not in ("", title)
    group = shape.group
    if shape.kind == "paths":
        return queries.get("pgs/querying/shapes/statements/paths")
    if shape.kind == "count" and group is None:
        return queries.get("pgs/querying/shapes/statements/count")
    if shape.kind == "count" and group is not None and group.link is None:
        return queries.get("pgs/querying/shapes/statements/count_by_property")
    if shape.kind == "count":
        return queries.get("pgs/querying/shapes/statements/count_by_link")
    if shape.kind == "aggregate" and group is None:
        return queries.get("pgs/querying/shapes/statements/aggregate")
    if shape.kind == "aggregate" and group is not None and group.link is None:
        return queries.get("pgs/querying/shapes/statements/aggregate_by_property")
    if shape.kind == "aggregate":
        return queries.get("pgs/querying/shapes/statements/aggregate_by_link")
    if shape.kind == "top" and shape.counted is not None:
        return queries.get("pgs/querying/shapes/statements/top_linked")
    if shape.kind == "top" and shows_more:
        return queries.get("pgs/querying/shapes/statements/top_shown")
    if shape.kind == "top":
        return queries.get("pgs/querying/shapes/statements/top")
    if not title:
        return queries.get("pgs/querying/shapes/statements/list_nodes")
    if shows_more:
        return queries.get("pgs/querying/shapes/statements/list_shown")
    return queries.get("pgs/querying/shapes/statements/list")


def _replace_start(shape: Shape, template: Tokens) -> Tokens:
    """Put the links and the conditions of a shape into the start of its template."""
    after = _find_word(template, "DISTINCT") + 2
    matches: list[Tokens] = []
    conditions: list[Tokens] = []
    for number, link in enumerate(shape.links, 1):
        pattern, condition = _read_link(link, number)
        matches.append(pattern)
        if link.name:
            conditions.append(condition)
    if not matches:
        matches.append(template[: _find_word(template, "WHERE")])
    if shape.measure and shape.kind == "top":
        conditions.append(_read_condition("known", {"measure": _name(shape.measure)}, {}))
    conditions += [_read_comparison(one) for one in shape.conditions]
    start = [
        replace(token, spaced=token.spaced or not at)
        for match in matches
        for at, token in enumerate(match)
    ]
    for number, condition in enumerate(conditions):
        start += [_AND if number else Token("word", "WHERE", spaced=True), *condition]
    if shape.links:
        start += template[after - 3 : after]
    return _fill_labels((*start, *template[after:]), "Asked", shape.labels)


def _read_link(link: Link, number: int) -> tuple[Tokens, Tokens]:
    """Return the pattern and the condition of a link; the number tells its variable apart."""
    route = link.routes[0]
    tokens = read_tokens(queries.get("pgs/querying/shapes/statements/link").statement)
    tokens = _point(tokens, route)
    tokens = _fill(tokens, {"title": _name(link.property)}, {"name": write_value(link.name)})
    if number > 1:
        tokens = _swap(tokens, "named", f"named{number}")
    return _divide(tokens)


def _read_comparison(condition: Condition) -> Tokens:
    (name,) = condition.properties
    tokens = _read_condition(
        "condition", {"measure": _name(name)}, {"value": write_value(condition.value)}
    )
    tokens = tuple(
        Token("symbol", condition.sign, token.spaced) if token.is_symbol("=") else token
        for token in tokens
    )
    return _read_year(tokens, name) if condition.of_year else tokens


def _read_condition(
    template: str, names: Mapping[str, Token], values: Mapping[str, Token]
) -> Tokens:
    known = queries.get("pgs/querying/shapes/statements/known")
    compared = queries.get("pgs/querying/shapes/statements/condition")
    tokens = read_tokens((known if template == "known" else compared).statement)
    return _divide(_fill(tokens, names, values))[1]


def _divide(tokens: Tokens) -> tuple[Tokens, Tokens]:
    """Return the tokens before WHERE, and those between WHERE and RETURN."""
    where, returned = _find_word(tokens, "WHERE"), _find_word(tokens, "RETURN")
    return tokens[:where], tokens[where + 1 : returned]


def _write_paths(schema: SchemaWords, shape: Shape, template: Tokens) -> str:
    first, second = shape.ends
    types = tuple(dict.fromkeys(one.type for one in schema.schema.types))
    titles = dict.fromkeys(name for label in schema.labels if (name := schema.name_property(label)))
    tokens = _fill_labels(template, "First", (first.label,))
    tokens = _fill_labels(tokens, "Second", (second.label,))
    tokens = _fill_labels(tokens, "LINK", types)
    tokens = _fill_titles(tokens, tuple(titles))
    return write_tokens(
        _fill(
            tokens,
            {"first.title": _name(first.property), "second.title": _name(second.property)},
            {
                "first": write_value(first.name),
                "second": write_value(second.name),
                "limit": write_value(MOST_PATHS),
            },
        )
    )


def _fill_titles(tokens: Tokens, titles: Sequence[str]) -> Tokens:
    """Put a list of titles into ``coalesce(node.title)``."""
    at = next(at for at, token in enumerate(tokens) if token.is_word("COALESCE")) + 2
    node, dot = tokens[at : at + 2]
    listed = [token for name in titles for token in (_COMMA, node, dot, _name(name))]
    return (*tokens[:at], *listed[1:], *tokens[at + 3 :])


def _point(tokens: Tokens, route: Route) -> Tokens:
    """Fill the type and the label of a pattern, and turn its arrow if the type leads here."""
    tokens = _fill_labels(tokens, "LINK", (route.type,))
    for label in ("Named", "Other"):
        tokens = _fill_labels(tokens, label, (route.label,))
    if route.outgoing:
        return tokens
    begin = next(
        at
        for at, token in enumerate(tokens)
        if token.is_symbol("-") and tokens[at + 1].is_symbol("[")
    )
    end = next(at for at in range(begin, len(tokens)) if tokens[at].is_symbol(">"))
    arrow = Token("symbol", "<")
    return (*tokens[:begin], arrow, *tokens[begin:end], *tokens[end + 1 :])


def _fill_labels(tokens: Tokens, place: str, names: Sequence[str]) -> Tokens:
    """Put names, divided by ``|``, into the place of a label or of a type."""
    bar = Token("symbol", "|")
    listed = [token for name in names for token in (bar, _name(name))][1:]
    filled: list[Token] = []
    for at, token in enumerate(tokens):
        is_place = at > 0 and tokens[at - 1].is_symbol(":") and token.kind == "word"
        filled += listed if is_place and token.text == place else [token]
    return tuple(filled)


def _fill(tokens: Tokens, names: Mapping[str, Token], values: Mapping[str, Token]) -> Tokens:
    """Put names into the places of properties and their columns, and values into parameters.

    ``other.title`` is for properties of the variable ``other`` only, and has priority.
    """
    filled: list[Token] = []
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else None
        if token.kind == "parameter" and token.text in values:
            filled.append(values[token.text])
        elif token.kind == "word" and before is not None and before.is_symbol("."):
            owned = f"{tokens[at - 2].text}.{token.text}"
            filled.append(names.get(owned, names.get(token.text, token)))
        else:
            filled.append(token)
    return tuple(filled)


def _read_year(tokens: Tokens, name: str) -> Tokens:
    """Read the year of a property, which is a date."""
    year = (Token("symbol", "."), Token("word", "year"))
    filled: list[Token] = []
    for at, token in enumerate(tokens):
        is_read = at > 0 and tokens[at - 1].is_symbol(".") and token.text == name
        is_read = is_read and token.kind == "name"
        filled += [token, *year] if is_read else [token]
    return tuple(filled)


def _swap(tokens: Tokens, word: str, other: str) -> Tokens:
    return tuple(
        replace(token, text=other) if token.kind == "word" and token.text == word else token
        for token in tokens
    )


def _find_word(tokens: Tokens, word: str) -> int:
    return next(at for at, token in enumerate(tokens) if token.is_word(word))


def _name(text: str) -> Token:
    return Token("name", text)
