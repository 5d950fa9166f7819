"""Parses conditions on properties of nodes, as ``--where`` takes them, and evaluates them.

The language is the part of Cypher's expressions that compares properties with values::

    year >= 2020 and (type = 'report' or `peer reviewed` = true) and not title contains 'draft'

A condition is parsed and never becomes part of a statement. As in Cypher, a comparison with a
missing property, or between values that have no order, is unknown. ``not`` leaves unknown as it is,
and only nodes for which the whole condition is true meet it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from pgs_neo4j.errors import ConditionError

Scalar: TypeAlias = str | int | float | bool
Truth: TypeAlias = bool | None
"""Whether a condition holds; None if that is unknown."""
Sign = Literal[
    "=", "<>", "<", "<=", ">", ">=", "contains", "starts with", "ends with", "in", "is null"
]

MOST_SIGNS = 10_000
"""Maximum length of a condition, in characters."""
DEEPEST = 50
"""Maximum depth of parentheses and ``not``."""
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]))
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<quoted>`(?:[^`]|``)+`)
    | (?P<word>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
    | (?P<sign><=|>=|<>|!=|=|<|>|\(|\)|\[|\]|,)
    )""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t"}
_PLACES: Mapping[str, Sign] = MappingProxyType({"starts": "starts with", "ends": "ends with"})
_COMPARISONS: tuple[Sign, ...] = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A property compared with a value, or with a tuple of values for ``in``."""

    name: str
    sign: Sign
    value: Scalar | tuple[Scalar, ...] | None = None


@dataclass(frozen=True, slots=True)
class Negation:
    """The opposite of a condition."""

    of: Condition


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions of which all must hold, or any."""

    kind: Literal["and", "or"]
    parts: tuple[Condition, ...]


Condition: TypeAlias = Comparison | Negation | Junction


def parse_condition(text: str) -> Condition:
    """Parse a condition. Raises ConditionError, which says where and what is expected."""
    if len(text) > MOST_SIGNS:
        raise ConditionError(f"a condition has at most {MOST_SIGNS:,} characters")
    parser = _Parser(text, _tokenize(text))
    condition = parser.parse_or(0)
    parser.require_end()
    return condition


def list_properties(condition: Condition) -> tuple[str, ...]:
    """Return the names of the properties that a condition compares, in order, each once."""
    match condition:
        case Comparison(name):
            return (name,)
        case Negation(of):
            return list_properties(of)
        case Junction(_, parts):
            return tuple(dict.fromkeys(name for part in parts for name in list_properties(part)))


def meets(condition: Condition, properties: Mapping[str, object]) -> bool:
    """Return whether a node with these properties meets a condition."""
    return _evaluate(condition, properties) is True


def write_condition(condition: Condition) -> str:
    """Return a condition in one fixed spelling, so that equal conditions are equal texts."""
    match condition:
        case Comparison(name, "is null"):
            return f"{_write_name(name)} is null"
        case Comparison(name, sign, value):
            return f"{_write_name(name)} {sign} {_write_value(value)}"
        case Negation(of):
            return f"not ({write_condition(of)})"
        case Junction(kind, parts):
            return f" {kind} ".join(f"({write_condition(part)})" for part in parts)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: int

    @property
    def word(self) -> str:
        """The token in lower case if it can be a keyword or a sign, else an empty text."""
        return self.text.lower() if self.kind in ("word", "sign") else ""


def _tokenize(text: str) -> list[_Token]:
    tokens, place = [], 0
    end = len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            rest = text[place:].lstrip()
            raise ConditionError(f"{rest[:20]!r} cannot be read as part of a condition; {_HELP}")
        kind = str(match.lastgroup)
        tokens.append(_Token(kind, match[kind], match.start(kind)))
        place = match.end()
    return tokens


_HELP = "write it as in \"year >= 2020 and type = 'report'\""


@dataclass(slots=True)
class _Parser:
    """Reads a condition by recursive descent: ``or``, then ``and``, then ``not``."""

    text: str
    tokens: list[_Token]
    at: int = 0

    def parse_or(self, depth: int) -> Condition:
        return self._parse_parts("or", depth, self._parse_and)

    def require_end(self) -> None:
        if self.at < len(self.tokens):
            raise self._expected("'and', 'or', or the end")

    def _parse_and(self, depth: int) -> Condition:
        return self._parse_parts("and", depth, self._parse_not)

    def _parse_parts(
        self, kind: Literal["and", "or"], depth: int, parse: Callable[[int], Condition]
    ) -> Condition:
        parts = [parse(depth)]
        while self._take(kind):
            parts.append(parse(depth))
        return parts[0] if len(parts) == 1 else Junction(kind, tuple(parts))

    def _parse_not(self, depth: int) -> Condition:
        if depth > DEEPEST:
            raise ConditionError(f"a condition is nested at most {DEEPEST} deep")
        if self._take("not"):
            return Negation(self._parse_not(depth + 1))
        if self._take("("):
            condition = self.parse_or(depth + 1)
            self._require(")")
            return condition
        return self._parse_comparison()

    def _parse_comparison(self) -> Condition:
        name = self._parse_name()
        for sign in _COMPARISONS:
            if self._take(sign) or (sign == "<>" and self._take("!=")):
                return Comparison(name, sign, self._parse_value())
        if self._take("contains"):
            return Comparison(name, "contains", self._parse_text())
        for first, sign in _PLACES.items():
            if self._take(first):
                self._require("with")
                return Comparison(name, sign, self._parse_text())
        if self._take("in"):
            return Comparison(name, "in", self._parse_list())
        if self._take("is"):
            negated = self._take("not")
            self._require("null")
            missing = Comparison(name, "is null")
            return Negation(missing) if negated else missing
        raise self._expected("a comparison such as =, <, in, contains, or is null")

    def _parse_name(self) -> str:
        token = self._peek()
        if token is not None and token.kind == "quoted":
            self.at += 1
            return token.text[1:-1].replace("``", "`")
        if token is not None and token.kind == "word":
            self.at += 1
            return token.text
        raise self._expected("the name of a property")

    def _parse_value(self) -> Scalar:
        token = self._peek()
        if token is None or token.kind not in ("number", "text", "word"):
            raise self._expected("a number, a text in quotation marks, true, or false")
        if token.kind == "word" and token.word not in ("true", "false"):
            raise self._expected("a number, a text in quotation marks, true, or false")
        self.at += 1
        if token.kind == "word":
            return token.word == "true"
        return _read_text(token.text) if token.kind == "text" else _read_number(token.text)

    def _parse_text(self) -> str:
        value = self._parse_value()
        if not isinstance(value, str):
            self.at -= 1
            raise self._expected("a text in quotation marks")
        return value

    def _parse_list(self) -> tuple[Scalar, ...]:
        end = "]" if self._take("[") else ")"
        if end == ")":
            self._require("(")
        values = [self._parse_value()]
        while self._take(","):
            values.append(self._parse_value())
        self._require(end)
        return tuple(values)

    def _peek(self) -> _Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _take(self, word: str) -> bool:
        token = self._peek()
        found = token is not None and token.word == word
        self.at += found
        return found

    def _require(self, word: str) -> None:
        if not self._take(word):
            raise self._expected(repr(word))

    def _expected(self, what: str) -> ConditionError:
        token = self._peek()
        if token is None:
            return ConditionError(f"the condition ends where {what} is expected; {_HELP}")
        place = token.place + 1
        return ConditionError(
            f"{token.text[:40]!r} at character {place} of the condition is not {what}; {_HELP}"
        )


def _read_text(quoted: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), quoted[1:-1])


def _read_number(text: str) -> int | float:
    return float(text) if re.search(r"[.eE]", text) else int(text)


def _write_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _write_value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_write_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return repr(value)


def _evaluate(condition: Condition, properties: Mapping[str, object]) -> Truth:
    match condition:
        case Comparison():
            return _compare(properties.get(condition.name), condition)
        case Negation(of):
            truth = _evaluate(of, properties)
            return None if truth is None else not truth
        case Junction(kind, parts):
            decisive = kind == "or"
            truths = [_evaluate(part, properties) for part in parts]
            if decisive in truths:
                return decisive
            return None if None in truths else not decisive


def _compare(found: object, comparison: Comparison) -> Truth:
    wanted = comparison.value
    if comparison.sign == "is null":
        return found is None
    if found is None:
        return None
    if isinstance(wanted, tuple):
        truths = [_is_equal(found, one) for one in wanted]
        return True if True in truths else None if None in truths else False
    match comparison.sign:
        case "=":
            return _is_equal(found, wanted)
        case "<>":
            equal = _is_equal(found, wanted)
            return None if equal is None else not equal
        case "contains" | "starts with" | "ends with":
            return _search_text(found, comparison.sign, wanted)
        case _:
            return _order(found, comparison.sign, wanted)


def _is_equal(found: object, wanted: object) -> Truth:
    """Return whether two values are equal; values of different types are not."""
    found, wanted = _align(found, wanted)
    if isinstance(found, bool) != isinstance(wanted, bool):
        return False
    return bool(found == wanted)


def _order(found: object, sign: str, wanted: object) -> Truth:
    found, wanted = _align(found, wanted)
    numbers = _is_number(found) and _is_number(wanted)
    if not numbers and type(found) is not type(wanted):
        return None
    try:
        less, more = found < wanted, found > wanted  # type: ignore[operator]
    except TypeError:
        return None
    match sign:
        case "<":
            return bool(less)
        case ">":
            return bool(more)
        case "<=":
            return not more
        case _:
            return not less


def _search_text(found: object, sign: str, wanted: object) -> Truth:
    if not isinstance(found, str) or not isinstance(wanted, str):
        return None
    match sign:
        case "contains":
            return wanted in found
        case "starts with":
            return found.startswith(wanted)
        case _:
            return found.endswith(wanted)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _align(found: object, wanted: object) -> tuple[object, object]:
    """Turn a date or time into text in ISO format, because conditions have no dates of their own.

    Only the beginning is compared that the wanted text gives: with ``'2020'``, the year.
    """
    in_iso_format = getattr(found, "iso_format", None) or getattr(found, "isoformat", None)
    if isinstance(wanted, str) and callable(in_iso_format):
        return in_iso_format()[: len(wanted)], wanted
    return found, wanted
