"""Finds what a Cypher statement names: labels, types, properties, patterns, and string values.

The tokens are read once, from left to right, without a full grammar. A parenthesis is a node of a
pattern if it looks like one and a relationship stands beside it, or if it stands in ``MATCH``. All
variables of one node share one entity. A ``WITH``, an ``UNWIND``, and a subquery pass entities on.
What is not understood is left out, so that no name is reported that the statement does not use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pgs_neo4j.database.gate.tokens import Token

EntityKind = Literal["node", "relationship"]
Comparison = Literal["equals", "contains", "starts with", "ends with"]
Folding = Literal["lower", "upper"]

DEEPEST = 100
"""Brackets inside of each other that are read; a statement that anybody needs has fewer."""
CLAUSES = frozenset((
    "MATCH", "OPTIONAL", "WITH", "WHERE", "RETURN", "UNWIND", "CALL", "ORDER", "SKIP", "OFFSET",
    "LIMIT", "UNION", "YIELD",
))  # fmt: skip
# These clauses belong to the projection before them, and still know the variables before it.
_OF_PROJECTION = frozenset(("WHERE", "ORDER", "SKIP", "OFFSET", "LIMIT"))
_SUBQUERIES = frozenset(("EXISTS", "COUNT", "COLLECT", "CALL"))
_LIST_FUNCTIONS = ("ALL", "ANY", "NONE", "SINGLE")
# Functions that return one of the entities that they are given, or a list of them.
_SAME_ENTITY = ("COLLECT", "HEAD", "LAST", "TAIL", "REVERSE")
_FOLDINGS: dict[str, Folding | None] = {
    "TOLOWER": "lower", "LOWER": "lower", "TOUPPER": "upper", "UPPER": "upper",
    "TRIM": None, "LTRIM": None, "RTRIM": None, "BTRIM": None, "TOSTRING": None,
}  # fmt: skip
_NOT_LABELS = ("NOT", "NULL", "TYPED", "NORMALIZED", "NFC", "NFD", "NFKC", "NFKD")
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class NameUse:
    """A label or a relationship type, and the index of its token."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Entity:
    """A node or a relationship of the statement.

    ``names`` are the labels or the types that it may have; empty if the statement names none.
    ``variable`` is its first variable; empty if it has none.
    """

    kind: EntityKind
    names: tuple[str, ...] = ()
    variable: str = ""


@dataclass(frozen=True, slots=True)
class PropertyUse:
    """A property, the index of its token, and the index of its entity in the statement's."""

    name: str
    at: int
    entity: int


@dataclass(frozen=True, slots=True)
class Step:
    """One relationship of a pattern between two nodes, as indexes of entities.

    ``source`` and ``target`` follow the arrow; without an arrow, ``directed`` is false and they
    follow the text. ``single`` is false if the pattern allows several relationships in a row.
    """

    source: int
    relationship: int
    target: int
    directed: bool = True
    single: bool = True


@dataclass(frozen=True, slots=True)
class LiteralUse:
    """A string that is compared with a property, and the index of its token.

    ``value`` is the string without quotes and escapes. ``equals`` includes ``IN`` and ``<>``.
    ``folding`` is the case into which the statement turns the property before it compares.
    """

    property: PropertyUse
    at: int
    value: str
    comparison: Comparison = "equals"
    folding: Folding | None = None


@dataclass(frozen=True, slots=True)
class StatementNames:
    """What a statement names, in the order of its tokens."""

    labels: tuple[NameUse, ...] = ()
    types: tuple[NameUse, ...] = ()
    properties: tuple[PropertyUse, ...] = ()
    entities: tuple[Entity, ...] = ()
    steps: tuple[Step, ...] = ()
    literals: tuple[LiteralUse, ...] = ()

    def names_of(self, entity: int) -> tuple[str, ...]:
        """Return the labels or types that an entity may have."""
        return self.entities[entity].names


def find_names(tokens: Sequence[Token]) -> StatementNames:
    """Return what the tokens of a statement name."""
    return _Reader(tuple(tokens)).read()


def read_string(token: Token) -> str:
    """Return the text of a string token, without its quotes and escapes."""
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), token.text[1:-1])


def write_string(text: str) -> str:
    """Return a text as a string of Cypher, in single quotes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


@dataclass(slots=True)
class _Entity:
    """An entity while the statement is read: later tokens may name more labels of it."""

    index: int
    kind: EntityKind
    variable: str = ""
    names: list[str] = field(default_factory=list)
    # Labels of WHERE count only for a node whose pattern names none.
    predicates: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Value:
    """A variable whose value is a property."""

    use: PropertyUse


_Variables = dict[str, "_Entity | _Value | None"]
"""What each variable in scope stands for; None for anything that is not an entity."""


@dataclass(slots=True)
class _Scope:
    """The variables of a query or a subquery, and its current clause."""

    variables: _Variables
    clause: str = ""
    # The first token of the projection that is being read, and the variables that it leaves.
    projection: int | None = None
    projected: _Variables | None = None


@dataclass(slots=True)
class _Reader:
    tokens: tuple[Token, ...]
    entities: list[_Entity] = field(default_factory=list)
    labels: list[NameUse] = field(default_factory=list)
    types: list[NameUse] = field(default_factory=list)
    properties: list[PropertyUse] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    # Places of values: the tokens from the first to the last are the property, or a variable of it.
    values: list[tuple[int, int, PropertyUse]] = field(default_factory=list)
    literals: list[LiteralUse] = field(default_factory=list)
    scope: _Scope = field(default_factory=lambda: _Scope({}))
    depth: int = 0
    # The indexes of brackets: of the closing one by the opening one, and the reverse.
    ends: dict[int, int] = field(init=False)
    starts: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.ends = _pair_brackets(self.tokens)
        self.starts = {end: start for start, end in self.ends.items()}

    def read(self) -> StatementNames:
        self._walk(0, len(self.tokens))
        self._compare()
        return StatementNames(
            labels=tuple(sorted(self.labels, key=lambda use: use.at)),
            types=tuple(sorted(self.types, key=lambda use: use.at)),
            properties=tuple(sorted(self.properties, key=lambda use: use.at)),
            entities=tuple(
                Entity(one.kind, tuple(dict.fromkeys(one.names or one.predicates)), one.variable)
                for one in self.entities
            ),
            steps=tuple(self.steps),
            literals=tuple(sorted(self.literals, key=lambda use: use.at)),
        )

    def _token(self, at: int) -> Token | None:
        return self.tokens[at] if 0 <= at < len(self.tokens) else None

    def _is_symbol(self, at: int, *symbols: str) -> bool:
        token = self._token(at)
        return token is not None and token.is_symbol(*symbols)

    def _is_word(self, at: int, *keywords: str) -> bool:
        token = self._token(at)
        return token is not None and token.is_word(*keywords)

    def _is_named(self, at: int) -> bool:
        token = self._token(at)
        return token is not None and token.is_named

    def _find_end(self, at: int) -> int:
        """Return the index of the bracket that closes the one at ``at``."""
        return self.ends.get(at, len(self.tokens))

    # Expressions and clauses

    def _walk(self, at: int, end: int, brackets: str = "") -> None:
        """Read the tokens from ``at`` to before ``end``; ``brackets`` holds the open brackets."""
        if self.depth > DEEPEST:
            return
        self.depth += 1
        while at < end:
            token = self.tokens[at]
            if token.is_symbol("(", "[", "{"):
                at = self._read_bracket(at, end, brackets)
            elif token.is_named:
                at = self._read_word(at, brackets)
            else:
                at += 1
        if not brackets:
            self._end_projection(end)
            self._leave_projection()
        self.depth -= 1

    def _read_bracket(self, at: int, end: int, brackets: str) -> int:
        """Read what a bracket encloses, and return the index after it."""
        symbol = self.tokens[at].text
        if symbol == "(" and self._is_pattern(at):
            return self._read_path(at)
        close = min(self._find_end(at), end)
        if symbol == "{":
            if self._opens_subquery(at):
                self._read_subquery(at, close)
            elif self._is_named(at - 1) and self._is_symbol(at + 1, ".", "}"):
                self._read_map_projection(at, close)
            else:
                self._read_map(at, close, None)
            return close + 1
        local = self._find_local(at)
        kept = dict(self.scope.variables)
        if local is not None:
            self.scope.variables[self.tokens[local].text] = self._resolve(local + 2)
        self._walk(at + 1, close, brackets + symbol)
        if local is not None:
            self.scope.variables = kept
        return close + 1

    def _find_local(self, at: int) -> int | None:
        """Return the index of the variable that a list expression binds, as in ``[x IN y | …]``."""
        of_function = self._is_word(at - 1, *_LIST_FUNCTIONS)
        if self._is_symbol(at, "(") and self._is_word(at - 1, "REDUCE"):
            close = self._find_end(at)
            found = (one for one in range(at + 1, close) if self._is_symbol(one, ","))
            comma = next(found, None)
            return comma + 1 if comma is not None and self._is_word(comma + 2, "IN") else None
        if not of_function and not (self._is_symbol(at, "[") and not self._is_indexed(at)):
            return None
        return at + 1 if self._is_named(at + 1) and self._is_word(at + 2, "IN") else None

    def _is_indexed(self, at: int) -> bool:
        before = self._token(at - 1)
        return before is not None and (
            before.is_symbol(")", "]")
            or (before.kind == "name")
            or (before.kind == "word" and before.text in self.scope.variables)
        )

    def _read_word(self, at: int, brackets: str) -> int:
        """Read a keyword, a variable, or a function, and return the index after it."""
        if self._is_clause(at, brackets):
            self._begin_clause(at)
            return at + 1
        if self._is_symbol(at - 1, "."):
            return at + 1
        if self._is_symbol(at + 1, ".") and self._is_named(at + 2):
            return self._read_access(at)
        if self._is_symbol(at + 1, ":") and self._is_named_or_negated(at + 2):
            return self._read_predicate(at, "[" in brackets)
        found = self.scope.variables.get(self.tokens[at].text)
        if isinstance(found, _Value) and not self._is_symbol(at + 1, "(", "."):
            self.values.append((at, at, found.use))
        return at + 1

    def _is_named_or_negated(self, at: int) -> bool:
        return self._is_named(at) or self._is_symbol(at, "!", "(", "%")

    def _read_access(self, at: int) -> int:
        """Read ``variable.property``, or the name of a function with a namespace."""
        use_at, last = at + 2, at + 2
        while self._is_symbol(last + 1, ".") and self._is_named(last + 2):
            last += 2
        found = self.scope.variables.get(self.tokens[at].text)
        if self._is_symbol(last + 1, "(") or not isinstance(found, _Entity):
            return last + 1
        use = PropertyUse(self.tokens[use_at].text, use_at, found.index)
        self.properties.append(use)
        if last == use_at:
            self.values.append((at, use_at, use))
        return last + 1

    def _read_predicate(self, at: int, in_list: bool) -> int:
        """Read ``variable:Label`` of an expression, and return the index after it."""
        found = self.scope.variables.get(self.tokens[at].text)
        uses, end = self._read_label_expression(at + 1, in_list)
        if not isinstance(found, _Entity):
            return at + 2
        self._add_names(found.kind, [use for use, _ in uses])
        if self._is_certain(at, end):
            found.predicates += [use.name for use, negated in uses if not negated]
        return end

    def _is_certain(self, at: int, end: int) -> bool:
        """Return whether a label predicate must hold: nothing negates it, and it has no OR."""
        before, after = at - 1, end
        while self._is_symbol(before, "(") and self._is_symbol(after, ")"):
            before, after = before - 1, after + 1
        return self._is_word(before, "WHERE", "AND") and not self._is_word(after, "OR", "XOR")

    def _is_clause(self, at: int, brackets: str) -> bool:
        token = self.tokens[at]
        if token.kind != "word" or brackets or token.text.upper() not in CLAUSES:
            return False
        before, after = self._token(at - 1), self._token(at + 1)
        if before is not None and (before.is_symbol(".", ":") or before.is_word("AS")):
            return False
        if after is not None and (after.is_symbol(".", ",", ")", ":", "=")):
            return False
        if token.is_word("WITH"):
            return before is None or not before.is_word("STARTS", "ENDS")
        if token.is_word("ORDER"):
            return after is not None and after.is_word("BY")
        return True

    def _begin_clause(self, at: int) -> None:
        scope = self.scope
        word = self.tokens[at].text.upper()
        self._end_projection(at)
        if word not in _OF_PROJECTION:
            self._leave_projection()
        if word == "UNION":
            scope.variables = {}
        if word in ("WITH", "RETURN", "UNWIND"):
            scope.projection = at + 1
        scope.clause = word

    def _end_projection(self, end: int) -> None:
        """Let the variables of a projection begin, whose last token is before ``end``."""
        scope = self.scope
        if scope.projection is None:
            return
        at, unwinds = scope.projection, scope.clause == "UNWIND"
        scope.projection = None
        projected = dict(scope.variables) if unwinds else {}
        for start, last in self._divide(at, end):
            first = start + self._is_word(start, "DISTINCT")
            if self._is_symbol(first, "*") and last == first + 1:
                projected |= scope.variables
            elif self._is_named(last - 1) and self._is_word(last - 2, "AS"):
                projected[self.tokens[last - 1].text] = self._resolve(first, last - 2)
            elif last == first + 1 and self._is_named(first):
                name = self.tokens[first].text
                projected[name] = scope.variables.get(name)
        scope.projected = projected
        scope.variables = {**scope.variables, **projected}

    def _leave_projection(self) -> None:
        """Forget the variables that the last projection did not pass on."""
        if self.scope.projected is not None:
            self.scope.variables, self.scope.projected = self.scope.projected, None

    def _divide(self, at: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the items of a list between commas, each as its first index and the one after."""
        first, depth = at, 0
        for place in range(at, end):
            if self._is_symbol(place, *_OPENING):
                depth += 1
            elif self._is_symbol(place, *_CLOSING):
                depth -= 1
            elif not depth and self._is_symbol(place, ","):
                yield first, place
                first = place + 1
        if first < end:
            yield first, end

    def _resolve(self, first: int, last: int | None = None) -> _Entity | _Value | None:
        """Return what an expression stands for, if it is a variable, a property, or a list of one.

        Without ``last``, the expression ends where it must.
        """
        while self._is_word(first, *_SAME_ENTITY) and self._is_symbol(first + 1, "("):
            close = self._find_end(first + 1)
            if last is not None and close != last - 1:
                return None
            first = first + 2 + self._is_word(first + 2, "DISTINCT")
            last = close
        if not self._is_named(first):
            return None
        found = self.scope.variables.get(self.tokens[first].text)
        if self._is_symbol(first + 1, ".") and self._is_named(first + 2):
            if not isinstance(found, _Entity) or last not in (first + 3, None):
                return None
            return _Value(PropertyUse(self.tokens[first + 2].text, first + 2, found.index))
        ends = not self._is_symbol(first + 1, "(", "[", ".")
        return found if last == first + 1 or (last is None and ends) else None

    # Maps and subqueries

    def _opens_subquery(self, at: int) -> bool:
        if self._is_word(at - 1, *_SUBQUERIES):
            return True
        start = self.starts.get(at - 1)
        return start is not None and self._is_word(start - 1, "CALL")

    def _read_subquery(self, at: int, close: int) -> None:
        """Read a subquery; a ``CALL`` adds the variables that it returns."""
        outer = self.scope
        self.scope = _Scope(dict(outer.variables), "MATCH")
        self._walk(at + 1, close)
        returned = self.scope.variables if self.scope.clause != "MATCH" else {}
        self.scope = outer
        is_call = not self._is_word(at - 1, "EXISTS", "COUNT", "COLLECT")
        if is_call:
            outer.variables.update(
                {name: one for name, one in returned.items() if name not in outer.variables}
            )

    def _read_map_projection(self, at: int, close: int) -> None:
        """Read ``variable {.property, key: value}``."""
        found = self.scope.variables.get(self.tokens[at - 1].text)
        for first, last in self._divide(at + 1, close):
            if self._is_symbol(first, ".") and self._is_named(first + 1):
                if isinstance(found, _Entity):
                    use = PropertyUse(self.tokens[first + 1].text, first + 1, found.index)
                    self.properties.append(use)
            elif self._is_symbol(first + 1, ":"):
                self._walk(first + 2, last, "{")

    def _read_map(self, at: int, close: int, owner: _Entity | None) -> None:
        """Read a map; its keys are properties if it belongs to a node or a relationship."""
        for first, last in self._divide(at + 1, close):
            if not (self._is_named(first) and self._is_symbol(first + 1, ":")):
                self._walk(first, last, "{")
                continue
            if owner is not None:
                use = PropertyUse(self.tokens[first].text, first, owner.index)
                self.properties.append(use)
                found = self._find_string(first + 2)
                if found is not None and last in (first + 3, found + 2):
                    self._add_literal(use, found, "equals", None)
            self._walk(first + 2, last, "{")

    # Patterns

    def _is_pattern(self, at: int) -> bool:
        """Return whether a parenthesis is a node of a pattern."""
        close = self._find_node_end(at)
        if close is None:
            return False
        if self._begins_relationship(close + 1):
            return True
        in_match = self.scope.clause in ("MATCH", "OPTIONAL")
        before = self._token(at - 1)
        # A word before a parenthesis is a function, but for the keyword itself.
        return in_match and (
            before is None
            or before.is_symbol(",", "=", "{", ")", "}", "+", "*")
            or before.is_word("MATCH")
        )

    def _find_node_end(self, at: int) -> int | None:
        """Return the index of the parenthesis that closes a node, or None if it is not a node."""
        place = at + 1
        if self._is_variable(place):
            place += 1
        if self._begins_labels(place):
            _, place = self._read_label_expression(place)
        if self._is_symbol(place, "{"):
            place = self._find_end(place) + 1
        elif (token := self._token(place)) is not None and token.kind == "parameter":
            place += 1
        if self._is_word(place, "WHERE"):
            place = self._find_end(at)
        return place if self._is_symbol(place, ")") else None

    def _is_variable(self, at: int) -> bool:
        """Return whether the variable of a node or a relationship stands here."""
        is_keyword = self._is_word(at, "IS") and self._is_named(at + 1)
        return self._is_named(at) and not self._is_word(at, "WHERE") and not is_keyword

    def _begins_labels(self, at: int) -> bool:
        is_word = self._is_word(at, "IS") and not self._is_word(at + 1, *_NOT_LABELS)
        return self._is_symbol(at, ":") or is_word

    def _begins_relationship(self, at: int) -> bool:
        """Return whether ``-[``, ``--``, ``->``, ``<-[``, or ``<--`` stands here."""
        if self._is_symbol(at, "<"):
            return self._is_symbol(at + 1, "-") and self._is_symbol(at + 2, "[", "-")
        return self._is_symbol(at, "-") and self._is_symbol(at + 1, "[", "-")

    def _read_path(self, at: int) -> int:
        """Read a node and the relationships and nodes after it; return the index after them."""
        source, at = self._read_node(at)
        while self._begins_relationship(at):
            leftward = self._is_symbol(at, "<")
            at += 1 + leftward
            bracket = at if self._is_symbol(at, "[") else None
            relationship, single = self._read_relationship(bracket)
            at = at if bracket is None else self._find_end(bracket) + 1
            at += self._is_symbol(at, "-")
            rightward = self._is_symbol(at, ">")
            at += rightward
            # A quantifier of the relationship: {1,3}, +, or *.
            if self._is_symbol(at, "{"):
                at, single = self._find_end(at) + 1, False
            elif self._is_symbol(at, "+", "*"):
                at, single = at + 1, False
            if not self._is_symbol(at, "(") or self._find_node_end(at) is None:
                return at
            target, at = self._read_node(at)
            ends = (target, source) if leftward and not rightward else (source, target)
            directed = leftward != rightward
            self.steps.append(
                Step(ends[0].index, relationship.index, ends[1].index, directed, single)
            )
            source = target
        return at

    def _read_node(self, at: int) -> tuple[_Entity, int]:
        """Read a node, and return it with the index after its parenthesis."""
        return self._read_entity("node", at), self._find_end(at) + 1

    def _read_relationship(self, at: int | None) -> tuple[_Entity, bool]:
        """Read the bracket of a relationship, and return it, and whether it is only one."""
        if at is None:
            return self._make("relationship", ""), True
        entity = self._read_entity("relationship", at)
        inside = range(at + 1, self._find_end(at))
        # A star with a range stands before the properties: [:TYPE*1..3 {since: 1}].
        before = next((one for one in inside if self._is_symbol(one, "{")), inside.stop)
        return entity, not any(self._is_symbol(one, "*") for one in range(at + 1, before))

    def _read_entity(self, kind: EntityKind, at: int) -> _Entity:
        """Read what the bracket of a node or a relationship encloses."""
        close, place, variable = self._find_end(at), at + 1, ""
        if self._is_variable(place):
            variable, place = self.tokens[place].text, place + 1
        bound = self.scope.variables.get(variable) if variable else None
        entity = bound if isinstance(bound, _Entity) else self._make(kind, variable)
        if variable:
            self.scope.variables[variable] = entity
        if self._begins_labels(place):
            uses, place = self._read_label_expression(place)
            self._add_names(kind, [use for use, _ in uses])
            entity.names += [use.name for use, negated in uses if not negated]
        while (
            place < close and not self._is_symbol(place, "{") and not self._is_word(place, "WHERE")
        ):
            place += 1
        if self._is_symbol(place, "{"):
            end = self._find_end(place)
            self._read_map(place, min(end, close), entity)
            place = end + 1
        if self._is_word(place, "WHERE"):
            self._walk(place, close, "(")
        return entity

    def _read_label_expression(
        self, at: int, in_list: bool = False
    ) -> tuple[list[tuple[NameUse, bool]], int]:
        """Read labels or types from their colon on.

        Returns each with whether it is negated, and the index after the last. In a list, a bar ends
        the expression.
        """
        uses: list[tuple[NameUse, bool]] = []
        negated, depth, place, operand = [False], 0, at + 1, True
        negate = False
        while place < len(self.tokens):
            token = self.tokens[place]
            if operand and token.is_symbol("!"):
                negate = not negate
            elif operand and token.is_symbol("("):
                depth += 1
                negated.append(negated[-1] != negate)
                negate = False
            elif operand and token.is_symbol(":"):
                pass
            elif operand and token.is_symbol("%"):
                operand, negate = False, False
            elif operand and token.is_named:
                uses.append((NameUse(token.text, place), negated[-1] != negate))
                operand, negate = False, False
            elif not operand and token.is_symbol(")") and depth:
                depth -= 1
                negated.pop()
            elif not operand and token.is_symbol("|") and in_list:
                break
            elif not operand and token.is_symbol("|", "&", ":"):
                operand = True
            else:
                break
            place += 1
        return uses, place

    def _make(self, kind: EntityKind, variable: str) -> _Entity:
        entity = _Entity(len(self.entities), kind, variable)
        self.entities.append(entity)
        return entity

    def _add_names(self, kind: EntityKind, uses: Iterable[NameUse]) -> None:
        (self.labels if kind == "node" else self.types).extend(uses)

    # Comparisons

    def _compare(self) -> None:
        """Find the strings that are compared with each value that was found."""
        for start, end, use in self.values:
            first, last, folding = self._widen(start, end)
            for at, comparison in self._find_right(last + 1):
                self._add_literal(use, at, comparison, folding)
            for at in self._find_left(first - 1):
                self._add_literal(use, at, "equals", folding)

    def _widen(self, first: int, last: int) -> tuple[int, int, Folding | None]:
        """Return the place of a value with the functions around it, as in ``toLower(n.name)``."""
        folding: Folding | None = None
        while (
            self._is_symbol(first - 1, "(")
            and self._is_symbol(last + 1, ")")
            and (name := self._token(first - 2)) is not None
            and name.kind == "word"
            and name.text.upper() in _FOLDINGS
        ):
            # The outermost function decides.
            folding = _FOLDINGS[name.text.upper()] or folding
            first, last = first - 2, last + 1
        return first, last, folding

    def _find_right(self, at: int) -> Iterator[tuple[int, Comparison]]:
        """Yield the strings after a value, from its operator on."""
        if self._is_symbol(at, "=", "<>"):
            yield from self._yield_string(at + 1, "equals")
        elif self._is_word(at, "IN") and self._is_symbol(at + 1, "["):
            for first, last in self._divide(at + 2, self._find_end(at + 1)):
                if last == first + 1 and self.tokens[first].kind == "string":
                    yield first, "equals"
        elif self._is_word(at, "CONTAINS"):
            yield from self._yield_string(at + 1, "contains")
        elif self._is_word(at, "STARTS", "ENDS") and self._is_word(at + 1, "WITH"):
            starts = self._is_word(at, "STARTS")
            yield from self._yield_string(at + 2, "starts with" if starts else "ends with")

    def _yield_string(self, at: int, comparison: Comparison) -> Iterator[tuple[int, Comparison]]:
        found = self._find_string(at)
        if found is not None:
            yield found, comparison

    def _find_left(self, at: int) -> Iterator[int]:
        """Yield the string before a value: ``'x' = n.name``, or ``'x' IN n.names``."""
        if not self._is_symbol(at, "=", "<>") and not self._is_word(at, "IN"):
            return
        place = at - 1
        while self._is_symbol(place, ")"):
            place -= 1
        token = self._token(place)
        if token is None or token.kind != "string":
            return
        before = self._token(place - 1)
        # The string must not be the end of a longer expression, such as n.name + 'x' = n.title.
        if before is None or not before.is_symbol("+", "-", "*", "/", "%", "^", "||"):
            yield place

    def _find_string(self, at: int) -> int | None:
        """Return the index of the string that an operand is, also inside of ``toLower(…)``."""
        opened = 0
        while (
            (token := self._token(at)) is not None
            and token.kind == "word"
            and token.text.upper() in _FOLDINGS
            and self._is_symbol(at + 1, "(")
        ):
            at, opened = at + 2, opened + 1
        token = self._token(at)
        if token is None or token.kind != "string":
            return None
        closed = all(self._is_symbol(at + 1 + one, ")") for one in range(opened))
        after = at + 1 + opened
        whole = closed and not self._is_symbol(after, "+", "-", "*", "/", "%", "^", "||", "[")
        return at if whole else None

    def _add_literal(
        self, use: PropertyUse, at: int, comparison: Comparison, folding: Folding | None
    ) -> None:
        value = read_string(self.tokens[at])
        self.literals.append(LiteralUse(use, at, value, comparison, folding))


def _pair_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """Return the index of the closing bracket for each opening bracket that is closed."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.is_symbol(*_OPENING):
            opened.append(at)
        elif token.is_symbol(*_CLOSING) and opened:
            pairs[opened.pop()] = at
    return pairs


def replace_strings(tokens: Sequence[Token], values: Mapping[int, str]) -> tuple[Token, ...]:
    """Return tokens whose strings at the given indexes have other values."""
    return tuple(
        Token("string", write_string(values[at]), token.spaced) if at in values else token
        for at, token in enumerate(tokens)
    )
